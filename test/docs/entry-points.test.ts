import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { entryPointTable } from '../../scripts/entry-points.js';
import { markdownTable } from '../../scripts/markdown-tables.js';
import { packagePath } from '../../src/package-root.js';

const page = readFileSync(packagePath('docs', 'entry-points.md'), 'utf8');

describe('docs/entry-points.md', () => {
  it('has the table that the option lists and schemas give', async () => {
    const { head, rows } = await entryPointTable();
    expect(page).toContain(`<!-- table: entry-points -->\n${markdownTable(head, rows)}\n<!-- end of table`);
  });

  it('shows every option at every entry point, except at commands that wait for what they submit', async () => {
    const { head, rows } = await entryPointTable();
    const waiting = ['`fleet check`', '`fleet refine`'];
    const incomplete = rows.filter((row) => row.includes('–')).map(([, name]) => name);
    expect(incomplete).toEqual(waiting);
    const column = head.indexOf('`budgetUsd`');
    const budgets = rows.filter(([, name = '']) => waiting.includes(name)).map((row) => row[column]);
    expect(budgets).toEqual(['`--budget`', '`--budget`']);
    for (const through of ['TypeScript', 'TypeScript over HTTP', 'HTTP', 'Python']) {
      expect(rows.filter(([group]) => group === through).length).toBeGreaterThanOrEqual(5);
    }
  });
});
