import { isAbsolute, relative, sep } from 'node:path';

/**
 * Whether a path is a folder or lies below it, by their names alone: where links matter, pass real paths.
 * On Windows a path on another drive is absolute from the folder.
 */
export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
