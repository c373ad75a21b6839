import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { messageOf, PayloadError, UsageError } from '../errors.js';
import { boundaryLeft, leadsOutOf } from '../link-boundary.js';
import { namedDescriptor, readDescriptor } from '../open-descriptor.js';

const CHUNK_BYTES = 64 * 1024;

const PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'may not be read',
  ELOOP: 'leads through too many symbolic links',
  ENAMETOOLONG: 'has too long a name',
  ENOTDIR: 'lies below something that is not a folder',
};

/** Why a file or a folder cannot be read, as the end of a sentence that begins with its name. */
export function whyUnreadable(thrown: unknown): string {
  return PROBLEMS[(thrown as NodeJS.ErrnoException).code ?? ''] ?? `cannot be read: ${messageOf(thrown)}`;
}

/** How much is read at most, and what raises the limit. */
export interface ReadLimit {
  readonly bytes: number;
  readonly setting: string;
  /** The real path of a folder that the file must be in, whatever links lead to it; default: that of `linkBoundary`. */
  readonly within?: string;
}

/**
 * Reads a regular file whole, up to a limit. What is not a regular file is refused before it is opened: a pipe may never
 * end, and opening a device can do something. A pipe that the shell made for this command (`<(…)`) is read. A link that
 * leads out of the working directory is not followed: what is read may be printed, and sent to a provider.
 * @throws UsageError `unreadable-input`; PayloadError `payload-too-large`, before more than the limit is read.
 */
export async function readRegularFile(file: string, limit: ReadLimit): Promise<Buffer> {
  assertUnambiguousName(file);
  let handle: FileHandle | undefined;
  try {
    const descriptor = namedDescriptor(file);
    if (descriptor !== undefined) return await collect(file, readDescriptor(descriptor), limit);
    assertRegularFile(file, await stat(file));
    // If something else has replaced it by now, opening it must not block.
    handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const found = await handle.stat();
    assertRegularFile(file, found);
    await assertLinkStaysInside(file, handle, limit);
    if (found.size > limit.bytes) throw tooLarge(file, limit);
    // A file may grow meanwhile, and some of the kernel's say that they are empty.
    return await collect(
      file,
      handle.createReadStream({ highWaterMark: CHUNK_BYTES, autoClose: false }),
      limit,
    );
  } catch (thrown) {
    if (thrown instanceof UsageError || thrown instanceof PayloadError) throw thrown;
    throw new UsageError('unreadable-input', `${file} ${whyUnreadable(thrown)}`, { cause: thrown });
  } finally {
    await handle?.close();
  }
}

/**
 * Refuses a name with the character that replaces bytes that are not UTF-8: Node.js passes arguments with it instead of them,
 * and a file whose name really has it would be read, and written, instead of the one that was named.
 * @throws UsageError `unreadable-input`.
 */
export function assertUnambiguousName(file: string): void {
  if (!file.includes('\uFFFD')) return;
  throw new UsageError(
    'unreadable-input',
    `${file}: the name is not UTF-8, or holds U+FFFD; rename the file`,
  );
}

/**
 * Everything that a stream gives, up to a limit.
 * @throws PayloadError `payload-too-large`.
 */
export async function collect(
  name: string,
  stream: AsyncIterable<Uint8Array | string>,
  limit: ReadLimit,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk as Uint8Array);
    size += bytes.length;
    if (size > limit.bytes) throw tooLarge(name, limit);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

async function assertLinkStaysInside(file: string, handle: FileHandle, { within }: ReadLimit): Promise<void> {
  const boundary = await boundaryLeft(file, handle, within);
  if (boundary === undefined) return;
  throw new UsageError('unreadable-input', `${file} is not read: ${leadsOutOf(boundary)}`);
}

function tooLarge(name: string, { bytes, setting }: ReadLimit): PayloadError {
  return new PayloadError('payload-too-large', `${name} is larger than ${bytes} bytes (${setting})`);
}

function assertRegularFile(file: string, found: Stats): void {
  if (found.isFile()) return;
  const what = found.isDirectory()
    ? 'is a folder'
    : found.isFIFO()
      ? 'is a pipe; read it from standard input with -'
      : found.isSocket()
        ? 'is a socket'
        : 'is a device';
  throw new UsageError('unreadable-input', `${file} ${what}`);
}
