import { delimiter, isAbsolute } from 'node:path';

/** npm puts these folders of every parent of the working directory on the PATH: their content is the checkout's. */
const PACKAGE_PROGRAMS = /\/node_modules\/\.bin\/?$/;

/**
 * The folders of the PATH in which programs are looked for. Relative and empty entries mean the working directory,
 * which may be a checkout of somebody else; so do the programs of its packages.
 */
export function programFolders(path = process.env.PATH ?? ''): string[] {
  return path.split(delimiter).filter((folder) => isAbsolute(folder) && !PACKAGE_PROGRAMS.test(folder));
}
