import { compareCosts, type FilledFleet, openFilled } from '../harness/probe-cost.js';
import type { RowContext, RowGroup, RowHead } from '../harness/row.js';
import { timed } from '../harness/statistics.js';

const SHALLOW = 1_000;
const DEEP = [100_000, 1_000_000] as const;
const RUNS = 5;

const words = (count: number) => count.toLocaleString('en');

const rowOf = (waiting: number): RowHead => ({
  name: `depth ${waiting >= 1_000_000 ? `${waiting / 1_000_000}M` : `${waiting / 1_000}k`}`,
  work: `cost of adding and finishing a job with ${words(waiting)} others waiting`,
  against: `the same with ${words(SHALLOW)} waiting`,
  target: { atMost: 1.15 },
});

/** Queues of three depths exist at the same time, are filled once, and are measured one after the other. */
export const depth: RowGroup = {
  rows: DEEP.map(rowOf),
  shortSeconds: null,
  measure: async (context: RowContext) => {
    const depths: { label: string; filled: FilledFleet }[] = [];
    for (const [index, waiting] of [SHALLOW, ...DEEP].entries()) {
      // The short form only shows that the row works.
      const count = context.short ? SHALLOW * (1 + 4 * index) : waiting;
      let filled: FilledFleet | undefined;
      const ms = await timed(async () => {
        filled = await openFilled(context, 'solution-check', count);
      });
      process.stderr.write(`  ${words(count)} waiting after ${(ms / 1_000).toFixed(0)} s\n`);
      if (filled !== undefined) depths.push({ label: words(count), filled });
    }
    const samples = await compareCosts(context, depths, context.short ? 1 : RUNS);
    await Promise.all(depths.map(({ filled }) => filled.fleet.close()));
    await context.redis.flush();
    return Object.fromEntries(depth.rows.map(({ name }, index) => [name, samples[index] ?? []]));
  },
};
