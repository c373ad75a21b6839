import { fileURLToPath } from 'node:url';

/**
 * Absolute path of a file or folder that ships with the package (prompts, grammar, examples).
 * `src/` and `dist/` are siblings, so one level up from this module is the package root in both.
 */
export function packagePath(...parts: string[]): string {
  return fileURLToPath(new URL(`../${parts.join('/')}`, import.meta.url));
}
