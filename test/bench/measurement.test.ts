import { describe, expect, it } from 'vitest';
import type { BenchRedis } from '../../bench/harness/bench-redis.js';
import { measuredRow, measureGroup, middleSample } from '../../bench/harness/measurement.js';
import type { RowContext, RowGroup, RowHead } from '../../bench/harness/row.js';
import { groupsOf, matches, runRows } from '../../bench/harness/run-rows.js';
import { renderTable } from '../../bench/harness/table.js';
import { ROWS } from '../../bench/rows/all.js';

const HEAD: RowHead = { name: 'a row', work: 'work', against: 'a peer', target: { atLeast: 0.6 } };
const samples = (...ratios: number[]) => ratios.map((ratio) => ({ ratio, details: { is: String(ratio) } }));

/** Groups that need no Redis get one that only counts how often it is emptied. */
function contextWith(short: boolean): RowContext & { flushes: number } {
  const context = {
    flushes: 0,
    short,
    prefix: () => 'bench',
    redis: {
      flush: async () => {
        context.flushes += 1;
      },
    } as unknown as BenchRedis,
  };
  return context;
}

describe('a measured row', () => {
  it('is the median with its spread, in the shape that tools are promised', () => {
    expect(measuredRow(HEAD, samples(0.9, 0.5, 0.7)).measurement).toEqual({
      name: 'a row',
      ratio: 0.7,
      min: 0.5,
      max: 0.9,
      runs: 3,
      target: '>= 0.6',
      meets: true,
    });
  });

  it.each([
    [{ atLeast: 0.6 }, 0.6, true],
    [{ atLeast: 0.6 }, 0.59, false],
    [{ atMost: 1.5 }, 1.5, true],
    [{ atMost: 1.5 }, 1.51, false],
    [null, 7, null],
  ] as const)('meets %j with %d: %s', (target, ratio, meets) => {
    expect(measuredRow({ ...HEAD, target }, samples(ratio)).measurement.meets).toBe(meets);
  });

  it('names its unit where it has one', () => {
    expect(measuredRow({ ...HEAD, unit: 'ms' }, samples(1)).measurement.unit).toBe('ms');
  });

  it('that could not be measured has no numbers, and the table says why', () => {
    const row = measuredRow(HEAD, { notMeasured: 'the peer could not be installed' });
    expect(row.measurement).toMatchObject({ ratio: null, min: null, max: null, runs: 0, meets: null });
    expect(JSON.parse(JSON.stringify(row.measurement))).toEqual(row.measurement);
    expect(renderTable([row])).toContain('not measured: the peer could not be installed');
  });

  it('shows the numbers of the run nearest to its median', () => {
    expect(middleSample(measuredRow(HEAD, samples(1, 5, 2)))?.details).toEqual({ is: '2' });
  });
});

describe('measuring', () => {
  it('takes the runs of a row one after the other on an empty Redis, and one in the short form', async () => {
    let runs = 0;
    const run = async () => {
      runs += 1;
      return { ratio: runs };
    };
    const [group] = groupsOf([{ ...HEAD, runs: 3, run }]);
    const full = contextWith(false);
    const [measured] = await measureGroup(group as RowGroup, () => true, full);
    expect(measured?.measurement).toMatchObject({ ratio: 2, runs: 3 });
    expect(full.flushes).toBeGreaterThanOrEqual(3);
    const [short] = await measureGroup(group as RowGroup, () => true, contextWith(true));
    expect(short?.measurement).toMatchObject({ ratio: 4, runs: 1 });
  });

  it('continues when a row fails, and reports the failure', async () => {
    const failing: RowGroup = {
      rows: [{ ...HEAD, name: 'fails' }],
      measure: async () => {
        throw new Error('the gateway is gone');
      },
    };
    const fine: RowGroup = { rows: [HEAD], measure: async () => ({ [HEAD.name]: samples(1) }) };
    const options = { wanted: () => true, bounded: false, announce: () => undefined };
    const rows = await runRows([failing, fine], contextWith(false), options);
    expect(rows.map(({ notMeasured }) => notMeasured)).toEqual(['failed: the gateway is gone', undefined]);
  });

  it('leaves out in the short form what is only in the full one, and what no time is left for', async () => {
    const group = (name: string, shortSeconds: number | null): RowGroup => ({
      rows: [{ ...HEAD, name }],
      shortSeconds,
      measure: async () => ({ [name]: samples(1) }),
    });
    const groups = [group('quick', 1), group('for hours', 3_600), group('full only', null)];
    const options = { wanted: () => true, announce: () => undefined };
    const short = await runRows(groups, contextWith(true), { ...options, bounded: true });
    expect(short.map(({ row, notMeasured }) => [row.name, notMeasured !== undefined])).toEqual([
      ['quick', false],
      ['for hours', true],
    ]);
    const full = await runRows(groups, contextWith(false), { ...options, bounded: false });
    expect(full.map(({ measurement }) => measurement.ratio)).toEqual([1, 1, 1]);
  });
});

describe('names of rows', () => {
  const names = groupsOf(ROWS).flatMap(({ rows }) => rows.map(({ name }) => name));

  it('are all different', () => {
    expect(new Set(names).size).toBe(names.length);
  });

  it.each([
    ['rate-limit', ['rate limit', 'rate limit refused', 'rate limit vs retry']],
    ['Depth 1M', ['depth 1M']],
    ['memory-idle', ['memory idle']],
  ])('%s asks for %j', (asked, expected) => {
    expect(names.filter((name) => matches(name, asked))).toEqual(expected);
  });
});
