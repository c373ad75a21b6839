import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { packagePath } from '../../src/package-root.js';

const read = (...path: string[]) => readFileSync(packagePath(...path), 'utf8');

describe('docs/decisions.md', () => {
  it('has every decision that a comment of the source cites', () => {
    const source = readdirSync(packagePath('src'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => read('src', file))
      .join('\n');
    const cited = new Set([...source.matchAll(/\bdecision (\d+)/gi)].map(([, number]) => number));
    const page = read('docs', 'decisions.md');
    expect(cited.size).toBeGreaterThan(0);
    expect([...cited].filter((number) => !page.includes(`\n**${number}. `))).toEqual([]);
  });

  it('names only files that exist', () => {
    const files = [...read('docs', 'decisions.md').matchAll(/`(src\/[^`]+)`/g)].map(([, file = '']) => file);
    expect(files.filter((file) => !existsSync(packagePath(file)))).toEqual([]);
  });
});

describe('docs/glossary.md', () => {
  it('explains at most 40 terms, each in one sentence and with its source', () => {
    const rows = read('docs', 'glossary.md')
      .split('\n')
      .filter((line) => line.startsWith('| ') && !line.startsWith('| term |'))
      .map((line) => line.slice(2, -2).split(' | '));
    expect(rows.length).toBeLessThanOrEqual(40);
    for (const [term, meaning = '', source = ''] of rows) {
      expect(meaning, term).toMatch(/^[^.]+\.$|^.*`tags\.run`\.$/);
      expect(source, term).not.toBe('');
    }
  });
});

describe('CHANGELOG.md', () => {
  it('has a section for the version of the package', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string };
    expect(read('CHANGELOG.md')).toContain(`\n## ${version}`);
  });
});
