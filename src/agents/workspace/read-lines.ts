import type { FileHandle } from 'node:fs/promises';
import { WorkspaceRefusal } from './workspace-refusal.js';

/** Most bytes of a file that one read looks at: lines after them cannot be read. */
export const MAX_SCAN_BYTES = 4 * 1024 * 1024;
/** Most bytes that one read hands out; data files are far longer, and an agent pays for each of them. */
export const MAX_READ_BYTES = 64 * 1024;
export const DEFAULT_LINES = 2_000;

const CHUNK_BYTES = 64 * 1024;
const LINE_BREAK = 0x0a;

export interface LinesWanted {
  /** Number of the first line, from 1. */
  readonly offset?: number | null | undefined;
  readonly limit?: number | null | undefined;
}

/**
 * Reads some lines of a file, piece by piece, and stops after the last one. No piece of what was passed over stays in
 * memory.
 *
 * @throws {WorkspaceRefusal} A binary file; no such line.
 */
export async function readLines(file: FileHandle, { offset, limit }: LinesWanted): Promise<string> {
  const { size } = await file.stat();
  const from = (offset ?? 1) - 1;
  const to = from + (limit ?? DEFAULT_LINES);
  const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, Math.max(size, 1)));
  const wanted: Buffer[] = [];
  let taken = 0;
  let line = 0;
  let scanned = 0;
  let ended = false;
  while (!ended && line < to && taken < MAX_READ_BYTES && scanned < MAX_SCAN_BYTES) {
    const { bytesRead } = await file.read(
      chunk,
      0,
      Math.min(chunk.length, MAX_SCAN_BYTES - scanned),
      scanned,
    );
    const piece = chunk.subarray(0, bytesRead);
    if (piece.includes(0)) throw new WorkspaceRefusal('it is a binary file');
    ended = bytesRead === 0;
    let at = 0;
    while (at < piece.length && line < to && taken < MAX_READ_BYTES) {
      const found = piece.indexOf(LINE_BREAK, at);
      const end = found === -1 ? piece.length : found + 1;
      if (line >= from) {
        const part = Buffer.from(piece.subarray(at, Math.min(end, at + MAX_READ_BYTES - taken)));
        wanted.push(part);
        taken += part.length;
      }
      if (found !== -1 && taken < MAX_READ_BYTES) line += 1;
      at = end;
    }
    scanned += at;
  }
  if (line < from || (from > 0 && taken === 0)) {
    throw new WorkspaceRefusal(`it has no line ${from + 1} in what can be read of it`);
  }
  return textOf(Buffer.concat(wanted), ended || scanned >= size, size);
}

function textOf(bytes: Buffer, whole: boolean, size: number): string {
  if (whole && bytes.length < MAX_READ_BYTES) return bytes.toString('utf8');
  // As a piece of a stream, so that a character that was cut in two is left out.
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true });
  return `${text.replace(/\n$/, '')}\n(cut here; the file has ${size} bytes)`;
}
