import { delimiter, isAbsolute, relative, sep } from 'node:path';

/** npm puts these folders of every parent of the working directory on the PATH: their content belongs to the checkout. */
const PACKAGE_PROGRAMS = /\/node_modules\/\.bin\/?$/;

/**
 * The folders of the PATH in which programs may be searched. Not among them are relative and empty entries, which mean the
 * working directory, and the folders of its packages: the checkout may be somebody else's.
 */
export function programFolders(path = process.env.PATH ?? ''): string[] {
  return path.split(delimiter).filter((folder) => isAbsolute(folder) && !PACKAGE_PROGRAMS.test(folder));
}

/**
 * Whether a path is a folder or is below it, by names alone: pass real paths if links matter. On Windows a path on another
 * drive is absolute from the folder.
 */
export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
