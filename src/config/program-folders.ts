import { delimiter, isAbsolute } from 'node:path';

/** npm puts these folders of every parent of the working directory on the PATH: their content belongs to the checkout. */
const PACKAGE_PROGRAMS = /\/node_modules\/\.bin\/?$/;

/**
 * The folders of the PATH in which programs may be searched. Not among them are relative and empty entries, which mean the
 * working directory, and the folders of its packages: the checkout may be somebody else's.
 */
export function programFolders(path = process.env.PATH ?? ''): string[] {
  return path.split(delimiter).filter((folder) => isAbsolute(folder) && !PACKAGE_PROGRAMS.test(folder));
}
