import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** A shipped script. */
export function readPython(name: string): Promise<string> {
  return readFile(fileURLToPath(new URL(`./python/${name}`, import.meta.url)), 'utf8');
}
