import type { Config } from '../config/settings.js';
import { messageOf, UsageError } from '../errors.js';
import { collect, type ReadLimit, readRegularFile } from './read-file.js';

/** JSON writes a character with up to six, and a notebook holds its outputs besides its code. */
const ROOM_OF_A_FORMAT = 6;

/** What files may hold that end as one text of a payload. */
export function textLimit(config: Config): ReadLimit {
  return { bytes: config.textBytes, setting: 'FLEET_MAX_TEXT_BYTES' };
}

/** The same for what programs printed. */
export function outputLimit(config: Config): ReadLimit {
  return { bytes: config.largeTextBytes, setting: 'FLEET_MAX_OUTPUT_BYTES' };
}

/** The same for files in a format that holds such texts. */
export function formatLimit(config: Config): ReadLimit {
  const largest = Math.max(config.textBytes, config.largeTextBytes);
  return { bytes: ROOM_OF_A_FORMAT * largest, setting: `${ROOM_OF_A_FORMAT} times FLEET_MAX_OUTPUT_BYTES` };
}

/**
 * Reads a text file, or standard input for `-`. A byte order mark stays, so that writing the text back changes
 * nothing else.
 * @throws UsageError `unreadable-input`: missing, no regular file, empty, binary, or not UTF-8; PayloadError
 *   `payload-too-large`.
 */
export async function readText(file: string, limit: ReadLimit): Promise<string> {
  const text = await readUtf8(file, limit);
  if (text === '') throw new UsageError('unreadable-input', `${nameOf(file)} is empty`);
  return text;
}

/**
 * Reads what a program printed, which may be nothing.
 * @throws As `readText`, except for an empty one.
 */
export function readOutput(file: string, limit: ReadLimit): Promise<string> {
  return readUtf8(file, limit);
}

/** A file as messages name it. */
export function nameOf(file: string): string {
  return file === '-' ? 'standard input' : file;
}

async function readUtf8(file: string, limit: ReadLimit): Promise<string> {
  const name = nameOf(file);
  const bytes = file === '-' ? await collect(name, process.stdin, limit) : await readRegularFile(file, limit);
  if (bytes.includes(0))
    throw new UsageError('unreadable-input', `${name} is not a text file (it holds a zero byte)`);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new UsageError('unreadable-input', `${name} is not UTF-8 text`, { cause });
  }
}

/**
 * Reads JSON from a file, or from standard input for `-`.
 * @param option The option that names the file, for messages.
 * @throws UsageError `usage` if it is not JSON; as `readText`.
 */
export async function readJson(file: string, limit: ReadLimit, option?: string): Promise<unknown> {
  const text = await readText(file, limit);
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    const where = option === undefined ? '' : `${option}: `;
    throw new UsageError('usage', `${where}${nameOf(file)} is not JSON: ${messageOf(cause)}`, { cause });
  }
}
