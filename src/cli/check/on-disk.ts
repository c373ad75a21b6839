import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';

/** A file of no more bytes may hold white space alone, as many `__init__.py` do. */
const MAX_BLANK_BYTES = 64;

/** What a listed file turned out to be. Of one that cannot be read, somebody has to say so: it is not blank. */
type FileState = 'gone' | 'blank' | { readonly version: string };

/** Whether an error only says that a name is not there any more: it was removed, or the folder above it was. */
export function isGone(thrown: unknown): boolean {
  const code = (thrown as NodeJS.ErrnoException | undefined)?.code;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** The version is other after the file was written or replaced, or after its permissions were changed. */
export async function lookAtFile(path: string): Promise<FileState> {
  // Its name is not UTF-8: it is there, and by this name nothing is.
  if (path.includes('\uFFFD')) return { version: 'another name' };
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    if (size === 0n) return 'blank';
    const version = `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
    return (await isBlank(path, size)) ? 'blank' : { version };
  } catch (thrown) {
    return isGone(thrown) ? 'gone' : { version: String((thrown as NodeJS.ErrnoException).code) };
  }
}

/** The version of a folder is other after another one has taken its name, whatever is in either. */
export async function lookAtFolder(path: string): Promise<string> {
  const { dev, ino } = await stat(path, { bigint: true });
  return `${dev} ${ino}`;
}

async function isBlank(path: string, size: bigint): Promise<boolean> {
  if (size > MAX_BLANK_BYTES || !basename(path).endsWith('.py')) return false;
  return readFile(path, 'utf8').then(
    (text) => text.trim() === '',
    (thrown: unknown) => {
      if (isGone(thrown)) throw thrown;
      return false;
    },
  );
}
