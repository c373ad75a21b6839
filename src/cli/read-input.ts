import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { messageOf, UsageError } from '../errors.js';

/**
 * Reads a text file, or standard input for `-`. A byte order mark stays, so that writing the text back changes
 * nothing else.
 * @throws UsageError `unreadable-input`: missing, empty, binary, or not UTF-8.
 */
export async function readText(file: string): Promise<string> {
  const text = await readUtf8(file);
  if (text === '') throw new UsageError('unreadable-input', `${nameOf(file)} is empty`);
  return text;
}

/**
 * Reads what a program printed, which may be nothing.
 * @throws UsageError `unreadable-input`: missing, binary, or not UTF-8.
 */
export function readOutput(file: string): Promise<string> {
  return readUtf8(file);
}

function nameOf(file: string): string {
  return file === '-' ? 'standard input' : file;
}

async function readUtf8(file: string): Promise<string> {
  const bytes = file === '-' ? await buffer(process.stdin) : await readBytes(file);
  const name = nameOf(file);
  if (bytes.includes(0))
    throw new UsageError('unreadable-input', `${name} is not a text file (it holds a zero byte)`);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new UsageError('unreadable-input', `${name} is not UTF-8 text`, { cause });
  }
}

async function readBytes(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    const problem = { ENOENT: 'does not exist', EISDIR: 'is a folder', EACCES: 'may not be read' }[
      code ?? ''
    ];
    throw new UsageError('unreadable-input', `${file} ${problem ?? `cannot be read: ${messageOf(cause)}`}`, {
      cause,
    });
  }
}

/**
 * Reads JSON from a file, or from standard input for `-`.
 * @throws UsageError `unreadable-input`.
 */
export async function readJson(file: string): Promise<unknown> {
  const text = await readText(file);
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    throw new UsageError('unreadable-input', `${nameOf(file)} is not JSON: ${messageOf(cause)}`, {
      cause,
    });
  }
}
