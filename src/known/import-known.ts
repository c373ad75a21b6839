import { stat } from 'node:fs/promises';
import { completeKnownSolution, fingerprintsOf, PreparedText } from '../contamination/index.js';
import { messageOf, UsageError } from '../errors.js';
import type { KnownEntry, KnownInput } from './known-entry.js';
import type { FingerprintedEntry, KnownStore } from './known-store.js';
import { type BrokenLine, knownLines } from './read-known-file.js';

/** Entries that are written together: few enough to limit memory, many enough that round trips do not matter. */
const BATCH = 500;

export interface ImportReport {
  /** Solutions in the file, broken ones included. */
  readonly lines: number;
  /** New in the set; the others were already there, so an interrupted import can be repeated. */
  readonly added: number;
  readonly broken: readonly BrokenLine[];
}

/** An input as the set stores it, with its fingerprints. */
export function fingerprinted({ language, ...input }: KnownInput): FingerprintedEntry {
  const entry: KnownEntry = {
    ...completeKnownSolution(input),
    ...(language === undefined ? {} : { language }),
  };
  return { entry, fingerprints: fingerprintsOf(new PreparedText(entry.solution)) };
}

/**
 * Imports known solutions from a JSONL file (`{testCaseId, solution, language?, addedToTraining?}` a line), a batch at
 * a time. A line that cannot be read is reported, and the rest is imported.
 *
 * @param onProgress fraction of the file that was read, 0 to 1.
 * @param admit throws if there is no room for so many solutions.
 * @throws UsageError `unreadable-input` if the file cannot be read; RedisError if Redis is away.
 */
export async function importKnown(
  store: KnownStore,
  file: string,
  onProgress: (fraction: number) => void = () => undefined,
  admit: (solutions: readonly string[]) => Promise<void> = async () => undefined,
): Promise<ImportReport> {
  const { size } = await stat(file).catch((cause: unknown) => {
    throw new UsageError('unreadable-input', `${file} cannot be read: ${messageOf(cause)}`, { cause });
  });
  const broken: BrokenLine[] = [];
  let lines = 0;
  let read = 0;
  let added = 0;
  let batch: FingerprintedEntry[] = [];
  const flush = async () => {
    await admit(batch.map(({ entry }) => entry.solution));
    added += await store.add(batch);
    batch = [];
    onProgress(Math.min(1, read / Math.max(1, size)));
  };
  const onRead = (bytes: number) => {
    read = bytes;
  };
  for await (const entry of knownLines(file, onRead)) {
    lines += 1;
    if ('reason' in entry) broken.push(entry);
    else batch.push(fingerprinted(entry.input));
    if (batch.length >= BATCH) await flush();
  }
  await flush();
  return { lines, added, broken };
}
