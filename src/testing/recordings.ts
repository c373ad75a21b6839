import { AssertionError } from 'node:assert';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../errors.js';
import { type Replay, readRecording, replay } from '../recordings/replay.js';
import type { RunOptions } from '../recordings/run-recording.js';

export interface ExpectReplayOptions extends RunOptions {
  /** Whether a changed prompt, or any other request than the recorded one, fails as well. Default: no. */
  readonly sameRequests?: boolean;
}

/**
 * Runs a recorded job again (`fleet record ID > FILE`).
 * @throws AssertionError with a diff if the result, or the failure, is not the recorded one to the byte; UsageError if the
 *   file is no recording that fits this version.
 */
export async function expectReplay(file: string, options: ExpectReplayOptions = {}): Promise<Replay> {
  const { sameRequests = false, ...run } = options;
  const replayed = await replay(await readRecording(file), run);
  if (!replayed.same) {
    throw new AssertionError({
      message: `${file}: another result than recorded: ${replayed.difference}\n${replayed.diff}`,
    });
  }
  if (sameRequests && replayed.changedRequests.length > 0) {
    const changed = replayed.changedRequests.join(', ');
    throw new AssertionError({ message: `${file}: other requests than recorded: ${changed}` });
  }
  return replayed;
}

/** Declares one test: `it` of vitest, or `test` of Node.js. */
type DeclareTest = (name: string, run: () => Promise<void>) => unknown;

/**
 * Declares a test for each recording in a folder (files that end in `.json`).
 * @throws UsageError if there is none: a test run without tests would pass.
 *
 * @example
 * import { it } from 'vitest';
 * testRecordings(it, 'recordings');
 */
export function testRecordings(it: DeclareTest, folder: string, options: ExpectReplayOptions = {}): void {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  if (files.length === 0) throw new UsageError('usage', `${folder}: there is no recording in it`);
  for (const file of files.sort()) {
    it(`${file} has the recorded result`, async () => {
      await expectReplay(join(folder, file), options);
    });
  }
}
