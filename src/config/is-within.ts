import { isAbsolute, relative, sep } from 'node:path';

/**
 * Whether a path is a folder or is below it, by names alone: pass real paths if links matter. On Windows a path on another
 * drive is absolute from the folder.
 */
export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
