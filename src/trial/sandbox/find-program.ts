import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { programFolders } from '../../config/paths.js';

/** Where a program is, searched on the PATH without its relative folders; its name where it is nowhere. */
export function findProgram(name: string): string {
  const found = programFolders()
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
  return found ?? name;
}
