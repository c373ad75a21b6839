import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commandsByName, createProgram } from '../../src/cli/program.js';
import { SETTINGS } from '../../src/config/settings.js';
import { packagePath } from '../../src/package-root.js';

const text = readFileSync(packagePath('docs', 'configuration.md'), 'utf8');

/** Cells of the rows between the markers of a table. */
function documented(table: string): string[][] {
  const from = text.indexOf(`<!-- table: ${table} -->`);
  const to = text.indexOf(`<!-- end of table: ${table} -->`);
  return text
    .slice(from, to)
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) =>
          cell
            .trim()
            .replaceAll('\\|', '|')
            .replace(/^`([^`]+)`$/, '$1'),
        ),
    );
}

describe('docs/configuration.md', () => {
  it('lists every variable with its default, and no other', () => {
    const inCode = Object.values(SETTINGS).map(({ variable, default: value, description }) => [
      variable,
      value,
      description,
    ]);
    expect(documented('environment')).toEqual(inCode);
  });

  it('lists every flag of every command with its default, and no other', async () => {
    const inCode = [...commandsByName(await createProgram())].flatMap(([name, { options }]) =>
      options.map(({ flags, defaultValue, description }) => [
        `fleet ${name}`,
        flags,
        defaultValue === undefined ? '' : String(defaultValue),
        description,
      ]),
    );
    expect(documented('flags')).toEqual(inCode);
  });

  it('is about commands that are found by their names, without loading the others', async () => {
    const all = (await createProgram()).commands.map((command) => command.name());
    for (const name of all) {
      const loaded = (await createProgram([name])).commands.map((command) => command.name());
      expect(loaded).toContain(name);
      expect(loaded.length).toBeLessThan(all.length);
    }
  });

  it('names no variable outside of its table that the code does not know', () => {
    const known: string[] = Object.values(SETTINGS).map(({ variable }) => variable);
    for (const [variable] of text.matchAll(/FLEET_[A-Z_]+/g)) expect(known).toContain(variable);
  });
});
