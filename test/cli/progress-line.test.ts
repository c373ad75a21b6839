import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { print } from '../../src/cli/terminal/print.js';
import { ProgressLine } from '../../src/cli/terminal/progress-line.js';

/** A terminal, and what was written to it. */
function terminal() {
  const written: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      written.push(chunk.toString());
      done();
    },
  }) as unknown as NodeJS.WriteStream;
  return { stream: Object.assign(stream, { isTTY: true as const }), written };
}

const CLEAR = '\r\u001b[2K';

it('lines are printed above the progress, never after it in its line', () => {
  const { stream, written } = terminal();
  const progress = new ProgressLine(stream);
  progress.show('checked 0 of 1');
  print('agents: offline', stream);
  progress.clear();
  print('done', stream);
  expect(written.join('')).toBe(
    `${CLEAR}checked 0 of 1${CLEAR}agents: offline\n${CLEAR}checked 0 of 1${CLEAR}done\n`,
  );
});

it('nothing is shown where there is no terminal', () => {
  const { stream, written } = terminal();
  stream.isTTY = false as never;
  const progress = new ProgressLine(stream);
  progress.show('checked 0 of 1');
  print('agents: offline', stream);
  progress.clear();
  expect(written).toEqual(['agents: offline\n']);
});
