/**
 * Writes the tables of `docs/errors.md`, `docs/configuration.md` and `docs/entry-points.md`, and the types of the HTTP client, from
 * the code, and copies the files of Swagger UI. The tests compare them both ways, so
 * a change of the code that forgets the documents fails; this puts it right: `npm run docs`.
 */
import { writeFileSync } from 'node:fs';
import { commandsByName, createProgram } from '../src/cli/program.js';
import { SETTINGS } from '../src/config/settings.js';
import { ERROR_TABLE } from '../src/errors.js';
import { entryPointTable } from './entry-points.js';
import { markdownRows, markdownTable, writeTable } from './markdown-tables.js';
import { CLIENT_TYPES, clientTypes } from './openapi/client-types.js';
import { copyViewer } from './openapi/swagger-ui.js';

async function flagRows(): Promise<string[][]> {
  return [...commandsByName(await createProgram())].flatMap(([name, { options }]) =>
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
    markdownRows(
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
    markdownRows(
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
  ['| command | flag | default | meaning |\n|---|---|---|---|', markdownRows(await flagRows())].join('\n'),
);
const { head, rows } = await entryPointTable();
writeTable('entry-points.md', 'entry-points', markdownTable(head, rows));
writeFileSync(CLIENT_TYPES, await clientTypes());
copyViewer();
