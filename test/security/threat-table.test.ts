import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { packagePath } from '../../src/package-root.js';

const LINES = readdirSync(packagePath('docs', 'security')).flatMap((page) =>
  readFileSync(packagePath('docs', 'security', page), 'utf8').split('\n'),
);

/** Rows of the threat tables: the file and the beginning or a part of the title of the test that each names. */
const ROWS = LINES.flatMap((line) => {
  const [, file = '', title = ''] = /\| `(test\/[^`]+)`: (.+) \|$/.exec(line) ?? [];
  return file === '' ? [] : [{ file, title }];
});

describe('the threat tables of docs/security', () => {
  it('has a test for every row', () => {
    const rows = LINES.filter((line) => line.startsWith('|') && !/^\| could |^\|-/.test(line));
    expect(rows.length).toBeGreaterThan(15);
    expect(ROWS).toHaveLength(rows.length);
  });

  it('has three cells in every row: the heading of each table names its subject', () => {
    const rows = LINES.filter((line) => line.startsWith('|'));
    expect(rows.filter((line) => line.split(/(?<!\\)\|/).length !== 5)).toEqual([]);
  });

  it.each(ROWS)('$file has “$title”', ({ file, title }) => {
    expect(existsSync(packagePath(file))).toBe(true);
    const titles = [...readFileSync(packagePath(file), 'utf8').matchAll(/(['"`])((?:(?!\1).)*)\1/g)].map(
      ([, , text]) => text ?? '',
    );
    expect(titles.some((text) => text.includes(title))).toBe(true);
  });

  it('names every file of test/security', () => {
    const named = new Set(ROWS.map(({ file }) => file));
    const files = readdirSync(packagePath('test', 'security')).filter(
      (name) => name.endsWith('.test.ts') && name !== 'threat-table.test.ts',
    );
    expect(files.filter((name) => !named.has(`test/security/${name}`))).toEqual([]);
  });
});
