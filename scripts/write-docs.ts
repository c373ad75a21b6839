/**
 * Writes the tables of `docs/errors.md` and `docs/configuration.md` from the code. The tests compare them both ways, so
 * a change of the code that forgets the documents fails; this puts it right: `npm run docs`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { commandsByName, createProgram } from '../src/cli/program.js';
import { SETTINGS } from '../src/config/settings.js';
import { ERROR_TABLE } from '../src/errors.js';
import { packagePath } from '../src/package-root.js';

/** Rows of a table in Markdown; a bar inside a cell would end it. */
function rows(cells: readonly (readonly string[])[]): string {
  return cells.map((row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`).join('\n');
}

/** Puts the rows between the two marks of a table, and leaves the rest of the document. */
function writeTable(file: string, table: string, content: string): void {
  const path = packagePath('docs', file);
  const text = readFileSync(path, 'utf8');
  const start = `<!-- table: ${table} -->\n`;
  const end = `\n<!-- end of table: ${table} -->`;
  const from = text.indexOf(start);
  const to = text.indexOf(end);
  if (from === -1 || to === -1) throw new Error(`${file} has no marks for the table "${table}"`);
  writeFileSync(path, `${text.slice(0, from + start.length)}${content}${text.slice(to)}`);
}

function flagRows(): string[][] {
  return [...commandsByName(createProgram())].flatMap(([name, { options }]) =>
    options.map(({ flags, defaultValue, description }) => [
      `\`fleet ${name}\``,
      `\`${flags}\``,
      defaultValue === undefined ? '' : String(defaultValue),
      description,
    ]),
  );
}

writeTable(
  'errors.md',
  'errors',
  [
    '| code | class | try again | HTTP | exit | what to do |\n|---|---|---|---|---|---|',
    rows(
      Object.entries(ERROR_TABLE).map(([code, entry]) => [
        `\`${code}\``,
        `\`${entry.class}\``,
        entry.retryable ? 'yes' : 'no',
        String(entry.httpStatus),
        String(entry.exitCode),
        entry.whatToDo,
      ]),
    ),
  ].join('\n'),
);
writeTable(
  'configuration.md',
  'environment',
  [
    '| variable | default | meaning |\n|---|---|---|',
    rows(
      Object.values(SETTINGS).map(({ variable, default: value, description }) => [
        `\`${variable}\``,
        value,
        description,
      ]),
    ),
  ].join('\n'),
);
writeTable(
  'configuration.md',
  'flags',
  ['| command | flag | default | meaning |\n|---|---|---|---|', rows(flagRows())].join('\n'),
);
