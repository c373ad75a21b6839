import { FleetClient } from '../../src/producers/fleet-client.js';
import { startBenchFleet, untilCompleted } from './bench-fleet.js';
import { fill } from './fill.js';
import { CLEAN, instantRunner } from './instant-runner.js';
import type { RowContext, Sample } from './row.js';
import { median, timed } from './statistics.js';

/** How many jobs are added and finished for one measurement. */
const PROBE = 1_000;

/** A fleet whose queue always has many jobs. */
export interface FilledFleet {
  readonly prefix: string;
  readonly kind: 'solution-check' | 'contamination';
  readonly fleet: FleetClient;
}

export async function openFilled(
  context: RowContext,
  kind: FilledFleet['kind'],
  waiting: number,
): Promise<FilledFleet> {
  const prefix = context.prefix();
  const fleet = await FleetClient.open({ redisUrl: context.redis.url, prefix });
  await fill(fleet, kind, waiting);
  return { prefix, kind, fleet };
}

/** Milliseconds of a job: some are added and as many finished, so that the depth does not change. */
async function costOfJob(context: RowContext, filled: FilledFleet): Promise<number> {
  const { prefix, kind, fleet } = filled;
  const queue = fleet.queue(kind);
  const before = await queue.getCompletedCount();
  const addMs = await timed(() => fill(fleet, kind, PROBE));
  const bench = await startBenchFleet(context, {
    runner: instantRunner({ structured: CLEAN, text: '' }),
    kinds: [kind],
    concurrency: 10,
    prefix,
  });
  // The first jobs of a worker are slower, whatever the depth.
  await untilCompleted(fleet, kind, before + PROBE / 5);
  const counted = await queue.getCompletedCount();
  const workMs = await timed(() => untilCompleted(fleet, kind, before + PROBE));
  const done = (await queue.getCompletedCount()) - counted;
  await bench.close();
  if (done < PROBE / 4) throw new Error(`only ${done} of ${PROBE} jobs could be timed`);
  return addMs / PROBE + workMs / done;
}

/** The median cost at each depth, smallest first: each is measured several times, one depth after the other. */
export async function compareCosts(
  context: RowContext,
  depths: readonly { readonly label: string; readonly filled: FilledFleet }[],
  runs: number,
): Promise<readonly (readonly Sample[])[]> {
  const [shallow] = depths;
  if (shallow === undefined) throw new RangeError('no depth to compare');
  await costOfJob(context, shallow.filled);
  const rounds: number[][] = [];
  for (let run = 0; run < runs; run += 1) {
    const costs: number[] = [];
    for (const { filled } of depths) costs.push(await costOfJob(context, filled));
    rounds.push(costs);
  }
  return depths.slice(1).map(({ label }, position) =>
    rounds.map((costs) => {
      const [base = Number.NaN] = costs;
      const cost = costs[position + 1] ?? Number.NaN;
      return {
        ratio: cost / base,
        details: {
          [`at ${shallow.label}`]: `${base.toFixed(3)} ms`,
          [`at ${label}`]: `${cost.toFixed(3)} ms`,
        },
        numbers: { base: median(rounds.map(([first = Number.NaN]) => first)), cost },
      };
    }),
  );
}
