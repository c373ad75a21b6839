import type { Colors } from './colors.js';
import { escapeControlChars } from './escape-control-chars.js';

/** Lines of code with their numbers before them, from a first number on. */
export function numberedLines(code: string, first: number, colors: Colors): string[] {
  const lines = escapeControlChars(code.replace(/\r?\n$/, '')).split('\n');
  const width = String(first + lines.length - 1).length;
  return lines.map((line, index) => `${colors.dim(`${String(first + index).padStart(width)} |`)} ${line}`);
}
