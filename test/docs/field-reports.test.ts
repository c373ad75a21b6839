import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SOAK_CASES } from '../../chaos/soak/cases/all.js';
import { packagePath } from '../../src/package-root.js';

const [PAGE = '', AT_FULL_LENGTH = ''] = readFileSync(packagePath('docs', 'field-reports.md'), 'utf8').split(
  '## At full length',
);

/** Rows of the tables: a link, three texts, and the tests, each as a file and a part of a title. */
const ROWS = PAGE.split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| report |'))
  .map((line) => {
    const cells = line.split(' | ');
    return {
      report: cells[0]?.slice(2) ?? '',
      cells: cells.length,
      tests: (cells.at(-1) ?? '').replace(/ \|$/, '').split('<br>'),
    };
  });
const TESTS = ROWS.flatMap(({ tests }) => tests).map((text) => {
  const [, file = '', title = ''] = /^`([^`]+)`: (.+)$/.exec(text) ?? [];
  return { file, title };
});

/** Titles of tests in a source file, and the texts of tables from which titles are made. */
function textsOf(file: string): string[] {
  const source = readFileSync(packagePath(file), 'utf8');
  return [...source.matchAll(/(['"`])((?:(?!\1).)+)\1/g)].map(([, , text]) => text ?? '');
}

describe('docs/field-reports.md', () => {
  it('has a public link and a test in every row', () => {
    expect(ROWS.length).toBeGreaterThan(50);
    for (const { report, cells, tests } of ROWS) {
      expect(report).toMatch(/\]\(https:\/\//);
      expect(cells, report).toBe(4);
      expect(tests.length, report).toBeGreaterThan(0);
    }
    expect(TESTS.filter(({ title }) => title === '')).toEqual([]);
  });

  it.each(TESTS)('$file has “$title”', ({ file, title }) => {
    expect(existsSync(packagePath(file)), file).toBe(true);
    expect(textsOf(file).some((text) => text.includes(title))).toBe(true);
  });

  it('lists the cases of npm run soak with what must come out, and no other', () => {
    const rows = [...AT_FULL_LENGTH.matchAll(/^\| `([^`]+)` \| (.+) \|$/gm)].map(([, name, about]) => [
      name,
      about,
    ]);
    expect(rows).toEqual(SOAK_CASES.map(({ name, about }) => [name, about]));
    for (const { limitSeconds } of SOAK_CASES) expect(limitSeconds).toBeGreaterThan(0);
  });

  it('names every file of test/field-reports', () => {
    const named = new Set(TESTS.map(({ file }) => file));
    const files = readdirSync(packagePath('test', 'field-reports')).filter((name) =>
      name.endsWith('.test.ts'),
    );
    expect(files.filter((name) => !named.has(`test/field-reports/${name}`))).toEqual([]);
  });
});
