import { expect, it } from 'vitest';
import { measuredRow } from '../../bench/harness/measurement.js';
import type { RowHead } from '../../bench/harness/row.js';
import { compareRuns } from '../../bench/report/compare-runs.js';

const head = (name: string): RowHead => ({ name, work: 'work', against: 'a peer', target: null });
const measured = (name: string, ...ratios: number[]) =>
  measuredRow(
    head(name),
    ratios.map((ratio) => ({ ratio, details: {} })),
  ).measurement;

it('names the rows whose ratio lies outside the spread of the earlier run, and by how much', () => {
  const earlier = [
    measured('inside', 1, 2, 3),
    measured('below', 1, 2),
    measured('above', 0, 0),
    measured('gone', 1),
  ];
  const now = [
    measured('inside', 3, 1, 3),
    measured('below', 0.5),
    measured('above', 0.1),
    measured('new', 1),
  ];
  expect(compareRuns(now, earlier)).toEqual([
    'below: 0.500, before 1.00 – 2.00: outside by 50.0 %',
    'above: 0.100, before 0.00 – 0.00: outside by 100.0 %',
    '1 of 3 rows lie within the spread of the earlier run',
  ]);
});

it('leaves out rows that were not measured in one of the runs', () => {
  const missing = measuredRow(head('a row'), { notMeasured: 'no peer' }).measurement;
  expect(compareRuns([missing], [measured('a row', 1)])).toEqual([
    '0 of 0 rows lie within the spread of the earlier run',
  ]);
  expect(compareRuns([measured('a row', 1)], [missing])).toEqual([
    '0 of 0 rows lie within the spread of the earlier run',
  ]);
});
