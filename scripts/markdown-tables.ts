import { readFileSync, writeFileSync } from 'node:fs';
import { packagePath } from '../src/package-root.js';

/** Rows of a table in Markdown; a bar inside a cell would end it. */
export function markdownRows(cells: readonly (readonly string[])[]): string {
  return cells.map((row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`).join('\n');
}

/** A table in Markdown with its head. */
export function markdownTable(head: readonly string[], cells: readonly (readonly string[])[]): string {
  return [markdownRows([head]), `|${'---|'.repeat(head.length)}`, markdownRows(cells)].join('\n');
}

/** Puts content between the two markers of a table in a document of `docs/`, and leaves the rest of it. */
export function writeTable(file: string, table: string, content: string): void {
  const path = packagePath('docs', file);
  const text = readFileSync(path, 'utf8');
  const start = `<!-- table: ${table} -->\n`;
  const end = `\n<!-- end of table: ${table} -->`;
  const from = text.indexOf(start);
  const to = text.indexOf(end);
  if (from === -1 || to === -1) throw new Error(`${file} has no markers for the table "${table}"`);
  writeFileSync(path, `${text.slice(0, from + start.length)}${content}${text.slice(to)}`);
}
