import type { Colours } from './colours.js';
import { visible } from './visible.js';

/** Lines of code with their numbers before them, from a first number on. */
export function numberedLines(code: string, first: number, colours: Colours): string[] {
  const lines = visible(code.replace(/\r?\n$/, '')).split('\n');
  const width = String(first + lines.length - 1).length;
  return lines.map((line, index) => `${colours.dim(`${String(first + index).padStart(width)} |`)} ${line}`);
}
