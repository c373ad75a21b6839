import { constants, type ReadStream } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { completeKnownSolution } from '../contamination/index.js';
import type { KnownSolution } from '../contamination/types.js';
import { messageOf, UsageError } from '../errors.js';
import { boundaryLeft, leadsOutOf } from '../link-boundary.js';
import { namedDescriptor, readDescriptor } from '../open-descriptor.js';
import { type KnownInput, parseKnownInput } from './known-entry.js';

/** The largest text with every character escaped. */
const MAX_LINE_LENGTH = 100 * 1024 * 1024;
/** Of a read. Such files may be large: the 64 KiB of a stream take twice the processor time. */
const CHUNK_BYTES = 256 * 1024;

/** One line that could not be read. */
export interface BrokenLine {
  /** Counted from 1. */
  readonly line: number;
  readonly reason: string;
}

export type KnownLine = { readonly line: number } & (
  | { readonly input: KnownInput }
  | { readonly reason: string }
);

/**
 * The lines of a JSONL file of known solutions, read one by one: the file may be larger than memory. Empty lines are skipped.
 * @param onRead called with the bytes of the file that were read so far.
 * @throws UsageError `unreadable-input` if the file cannot be read, or has a line that is too long.
 */
export async function* knownLines(
  file: string,
  onRead: (bytes: number) => void = () => undefined,
): AsyncGenerator<KnownLine> {
  const stream = await openLines(file);
  let line = 0;
  for await (const text of linesOf(file, stream)) {
    line += 1;
    onRead(stream.bytesRead);
    if (text.trim() === '') continue;
    try {
      yield { line, input: parseKnownInput(JSON.parse(text)) };
    } catch (thrown) {
      yield { line, reason: messageOf(thrown) };
    }
  }
}

/** Splits a stream into lines of limited length. */
async function* linesOf(file: string, stream: AsyncIterable<unknown>): AsyncGenerator<string> {
  let parts: string[] = [];
  let length = 0;
  for await (const chunk of stream) {
    const [rest, ...next] = String(chunk).split('\n');
    let part = rest ?? '';
    for (const following of next) {
      yield parts.join('') + part;
      parts = [];
      length = 0;
      part = following;
    }
    parts.push(part);
    length += part.length;
    if (length > MAX_LINE_LENGTH) {
      throw new UsageError(
        'unreadable-input',
        `${file} cannot be read: it has a line of more than ${MAX_LINE_LENGTH} characters`,
      );
    }
  }
  if (length > 0) yield parts.join('');
}

/** The file as a stream, or the pipe that the shell made for this command. */
async function openLines(file: string): Promise<ReadStream | Socket> {
  const descriptor = namedDescriptor(file);
  if (descriptor !== undefined) return readDescriptor(descriptor).setEncoding('utf8');
  return (await openRegularFile(file)).createReadStream({ encoding: 'utf8', highWaterMark: CHUNK_BYTES });
}

/**
 * A pipe may never end, and a device has no lines: both are rejected before they are opened. So is a link that leads out of
 * the working directory, because messages about invalid lines quote them.
 */
async function openRegularFile(file: string): Promise<FileHandle> {
  let problem = 'it is not a regular file';
  try {
    const found = await stat(file);
    if (found.isFile()) {
      const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
      const boundary = await boundaryLeft(file, handle).catch(async (thrown: unknown) => {
        await handle.close();
        throw thrown;
      });
      if (boundary === undefined) return handle;
      await handle.close();
      problem = leadsOutOf(boundary);
    }
  } catch (cause) {
    throw new UsageError('unreadable-input', `${file} cannot be read: ${messageOf(cause)}`, { cause });
  }
  throw new UsageError('unreadable-input', `${file} cannot be read: ${problem}`);
}

/** A file of known solutions in memory: those that could be read, and the lines that could not. */
export async function readKnownFile(
  file: string,
): Promise<{ solutions: KnownSolution[]; broken: BrokenLine[] }> {
  const solutions: KnownSolution[] = [];
  const broken: BrokenLine[] = [];
  for await (const entry of knownLines(file)) {
    if ('reason' in entry) broken.push(entry);
    else solutions.push(completeKnownSolution(entry.input));
  }
  return { solutions, broken };
}
