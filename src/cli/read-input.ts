import { isUtf8 } from 'node:buffer';
import type { Config } from '../config/settings.js';
import { messageOf, UsageError } from '../errors.js';
import { declaredEncoding, misleadingEncoding } from '../solution/declared-encoding.js';
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

/** Names by which the library knows what is no encoding of Python scripts. */
const NO_TEXT = /^(?:base64|hex|binary|ucs|utf.?7)/i;

/** A script, and the encoding of its file if that is not UTF-8. */
export interface ScriptText {
  readonly text: string;
  readonly encoding?: string;
}

/**
 * Reads a Python script in UTF-8, or in the encoding that it declares (PEP 263).
 * @throws As `readText`; `unreadable-input` if the bytes are not of the declared encoding.
 */
export async function readScript(file: string, limit: ReadLimit): Promise<ScriptText> {
  const bytes = await readBytes(file, limit);
  if (bytes.length === 0) throw new UsageError('unreadable-input', `${nameOf(file)} is empty`);
  if (isUtf8(bytes)) return { text: decodedUtf8(file, bytes) };
  const head = bytes.subarray(0, 4_096).toString('latin1');
  const declared = misleadingEncoding(head) === undefined ? declaredEncoding(head) : undefined;
  const encoding = declared !== undefined && NO_TEXT.test(declared) ? undefined : declared;
  // Few scripts need it.
  const iconv = encoding === undefined ? undefined : (await import('iconv-lite')).default;
  if (iconv === undefined || encoding === undefined || !iconv.encodingExists(encoding)) {
    return { text: decodedUtf8(file, bytes) };
  }
  const text = iconv.decode(bytes, encoding, { stripBOM: false });
  if (!iconv.encode(text, encoding).equals(bytes)) {
    const problem = `${nameOf(file)} is not text in the encoding that it declares (${encoding})`;
    throw new UsageError('unreadable-input', problem);
  }
  return { text, encoding };
}

/**
 * The bytes of a script in the encoding of its file.
 * @throws UsageError `unwritable-output` if the encoding lacks a character.
 */
export async function encodedScript(
  file: string,
  text: string,
  encoding: string | undefined,
): Promise<string | Buffer> {
  if (encoding === undefined) return text;
  const { default: iconv } = await import('iconv-lite');
  const bytes = iconv.encode(text, encoding);
  if (iconv.decode(bytes, encoding, { stripBOM: false }) === text) return bytes;
  const problem = `${file} is not written: the correction has characters that its encoding (${encoding}) lacks`;
  throw new UsageError('unwritable-output', problem);
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
  return decodedUtf8(file, await readBytes(file, limit));
}

async function readBytes(file: string, limit: ReadLimit): Promise<Buffer> {
  const name = nameOf(file);
  const bytes = file === '-' ? await collect(name, process.stdin, limit) : await readRegularFile(file, limit);
  if (bytes.includes(0))
    throw new UsageError('unreadable-input', `${name} is not a text file (it holds a zero byte)`);
  return bytes;
}

function decodedUtf8(file: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new UsageError('unreadable-input', `${nameOf(file)} is not UTF-8 text`, { cause });
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
