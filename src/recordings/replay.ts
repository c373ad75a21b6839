import { readFile } from 'node:fs/promises';
import { messageOf, UsageError } from '../errors.js';
import { changedRequests, diffOfEnds, firstDifference } from './differences.js';
import { plain, withoutSecrets } from './recorded-data.js';
import { parseRecording, type RecordedEnd, type RecordedRequest, type Recording } from './recording.js';
import { type RunOptions, runRecording } from './run-recording.js';

/** What a recorded job does now, compared with what it did. */
export interface Replay {
  /** Whether the JSON of the result, or the failure, is the recorded one to the byte. */
  readonly same: boolean;
  readonly end: RecordedEnd;
  /** The first field that differs; absent if none does. */
  readonly difference?: string;
  /** A unified diff of both ends; absent if there is none. */
  readonly diff?: string;
  /** Requests that are not the recorded ones, as `step turn`: a prompt has changed, or the processor. */
  readonly changedRequests: readonly string[];
}

/**
 * Runs a recorded job again in this process, with the recorded answers of the model: no Redis, no model and no network.
 * @throws UsageError if the recording cannot be read, or does not fit this version.
 *
 * @example
 * const { same, diff } = await replay(await readRecording('recordings/leaky.json'));
 */
export async function replay(recording: Recording, options: RunOptions = {}): Promise<Replay> {
  const { end, requests } = await runRecording(recording, options);
  const difference = firstDifference(recording.end, end);
  const changed = changedRequests(recording.requests, requests.map(asRecorded));
  if (difference === undefined) return { same: true, end, changedRequests: changed };
  return { same: false, end, difference, diff: diffOfEnds(recording.end, end), changedRequests: changed };
}

/** Prompts may have secrets, which no recording has. */
function asRecorded(request: RecordedRequest): RecordedRequest {
  return withoutSecrets(plain(request)) as RecordedRequest;
}

/** @throws UsageError if the file cannot be read, or is no recording. */
export async function readRecording(path: string): Promise<Recording> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    throw new UsageError('usage', `${path}: cannot be read: ${messageOf(cause)}`, { cause });
  }
  return parseRecording(text, path);
}
