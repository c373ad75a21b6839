import { accessSync, constants, statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { programFolders } from './paths.js';

/** Where a program is, searched in folders; relative ones are left out. Undefined where it is nowhere. */
export function findProgram(name: string, folders: readonly string[] = programFolders()): string | undefined {
  return folders
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, name))
    .find(isExecutableFile);
}

/** Whether a command can be started: a name that is on the PATH, or the path of an executable file. */
export function isProgram(command: string): boolean {
  return /[\\/]/.test(command) ? isExecutableFile(resolve(command)) : findProgram(command) !== undefined;
}

function isExecutableFile(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // It does not exist or is not executable.
    return false;
  }
}
