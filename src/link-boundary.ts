import { type FileHandle, readlink, realpath } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { isWithin } from './config/paths.js';

/** Linux alone has names for open files and for what lies in open folders. */
export const BY_DESCRIPTOR = process.platform === 'linux';

/** Names that the system itself makes: for the streams of this process, all of which are links, and for nothing at all. */
const STREAM = /^\/(?:dev\/(?:null|std(?:in|out|err)|fd\/\d+)|proc\/self\/fd\/\d+)$/;

/** Whether an argument literally names a stream of this process. */
export function namesStream(file: string): boolean {
  return STREAM.test(file);
}

/**
 * The real path of the folder that symbolic links may not lead out of: the working directory for a file that is named below
 * it, else the file's own folder. Links may come with a checkout, and nobody has named the file that they lead to.
 */
export function linkBoundary(file: string): Promise<string> {
  const path = resolve(file);
  return realpath(isWithin(path, process.cwd()) ? process.cwd() : dirname(path));
}

/** The path of what is open; undefined where the system does not tell, as in a container without `/proc`. */
export async function locationOf(handle: FileHandle): Promise<string | undefined> {
  return BY_DESCRIPTOR ? readlink(`/proc/self/fd/${handle.fd}`).catch(() => undefined) : undefined;
}

/**
 * The folder that a file should be in, where it is in another one: `within`, or that of `linkBoundary`. It is the open file that counts and not its name, which may
 * lead elsewhere by now.
 */
export async function boundaryLeft(
  file: string,
  handle: FileHandle,
  within?: string,
): Promise<string | undefined> {
  if (within === undefined && namesStream(file)) return undefined;
  const location = (await locationOf(handle)) ?? (await realpath(file));
  const boundary = within ?? (await linkBoundary(file));
  return isWithin(location, boundary) ? undefined : boundary;
}

/** What is wrong with a file that a link leads to out of its boundary. */
export function leadsOutOf(boundary: string): string {
  return `a symbolic link leads from it to a file outside of ${boundary}; name that file itself`;
}
