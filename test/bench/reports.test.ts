import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type MeasuredRow, measuredRow } from '../../bench/harness/measurement.js';
import { groupsOf } from '../../bench/harness/run-rows.js';
import { ON_DEMAND } from '../../bench/peers/on-demand-packages.js';
import { commandsTable } from '../../bench/report/commands-table.js';
import { sizingTable } from '../../bench/report/sizing-table.js';
import { ROWS } from '../../bench/rows/all.js';
import { packagePath } from '../../src/package-root.js';

const heads = groupsOf(ROWS).flatMap(({ rows }) => rows);

function row(name: string, numbers: Readonly<Record<string, number>>): MeasuredRow {
  const head = heads.find((each) => each.name === name);
  if (head === undefined) throw new Error(`there is no row ${name}`);
  return measuredRow(head, [{ ratio: 1, numbers }]);
}

const TRAFFIC = { calls: 1, sent: 8.12, commands: 100, bytesIn: 5_000, bytesOut: 1_000, cpuUs: 500 };
const BARE = { bareSent: 3, bareCommands: 30, bareBytesIn: 2_000, bareBytesOut: 300, bareCpuUs: 100 };
const NAME = 'commands solution-check, clean';

describe('the table of Redis commands', () => {
  it('has a line for each kind that was counted, and one for a bare job', () => {
    const lines = commandsTable([row(NAME, { ...TRAFFIC, ...BARE })]).split('\n');
    expect(lines.slice(2)).toEqual([
      '| solution-check, clean | 1 | 8.1 | 100 | 5,000 | 1,000 | 500 |',
      '| a bare BullMQ job | 0 | 3.0 | 30 | 2,000 | 300 | 100 |',
    ]);
  });
});

describe('the sizing table', () => {
  const line = (text: string, start: string) =>
    text.split('\n').find((each) => each.startsWith(`| ${start}`));

  it('computes from what was measured, and says which is which', () => {
    const text = sizingTable([row(NAME, { ...TRAFFIC, ...BARE }), row('memory waiting', { bytes: 1_000 })]);
    expect(line(text, 'such jobs a second of one Redis core')).toContain('| 2,000 | computed:');
    expect(line(text, 'Redis memory of a waiting job')).toContain('| 1,000 bytes | measured:');
    expect(line(text, 'Redis memory of 1 M waiting jobs')).toContain('| 1 GB | computed:');
  });

  it('gives no number for what could not be measured, nor for what would follow from it', () => {
    const text = sizingTable([]);
    expect(line(text, 'such jobs a second of one Redis core')).toContain('| not measured |');
    expect(line(text, 'Redis memory of 1 M waiting jobs')).toContain('| not measured |');
  });
});

describe('docs/dependencies.md', () => {
  it('lists what benchmarks fetch, in the versions that they fetch', () => {
    const document = readFileSync(packagePath('docs', 'dependencies.md'), 'utf8');
    const section = document.split(/^## /m).find((part) => part.startsWith('Fetched by benchmarks')) ?? '';
    const listed = [...section.matchAll(/^\| `([^`]+)` \| ([^ |]+) \|/gm)].map(([, name, version]) => [
      name,
      version,
    ]);
    const fetched = Object.values(ON_DEMAND).flatMap((each) => [
      [each.name, each.version],
      ...('with' in each ? Object.entries(each.with) : []),
    ]);
    expect(listed).toEqual(fetched);
  });
});
