import { FleetClient } from '../../src/producers/fleet-client.js';
import { fill } from '../harness/fill.js';
import { compareCosts, type FilledFleet, openFilled } from '../harness/probe-cost.js';
import { megabytes, residentSize } from '../harness/resident-size.js';
import type { RowContext, RowGroup, Sample } from '../harness/row.js';
import { killAll, startWorkerProcesses } from '../harness/worker-processes.js';

const JOBS = 100_000;
/** After so many jobs a worker's memory no longer grows from warming up. */
const GROWN = 20_000;
const BACKLOG = 5_000;
const KIND = 'contamination';
const RUNS = 3;
/** How often the cost of a job is compared in each run. */
const PROBES = 3;
/** A retention that ends at once, in days. */
const AT_ONCE_DAYS = 1 / 86_400;

const words = (count: number) => count.toLocaleString('en');

/** Memory of a worker and its Redis after so many jobs. */
interface MemoryUse {
  readonly resident: number;
  readonly redis: number;
}

type CompletedSamples = Record<'memory completed' | 'retained' | 'retention', Sample[]>;

/** Adds jobs at the rate at which they complete, so that few wait, until so many have completed. */
async function complete(filled: FilledFleet, from: number, to: number): Promise<void> {
  const queue = filled.fleet.queue(KIND);
  let added = from;
  for (;;) {
    const [done, failed] = [await queue.getCompletedCount(), await queue.getFailedCount()];
    if (failed > 0) throw new Error(`${failed} jobs failed`);
    if (done >= to) return;
    const batch = Math.min(BACKLOG - (added - done), to - added);
    if (batch >= 1_000 || (batch > 0 && added + batch === to)) {
      await fill(filled.fleet, KIND, batch);
      added += batch;
    } else await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Ends the retention of completed jobs: a finished job with a shorter one removes the older ones. */
async function forgetCompleted(context: RowContext, { prefix, fleet }: FilledFleet): Promise<void> {
  const brief = await FleetClient.open({
    redisUrl: context.redis.url,
    prefix,
    retentionDays: AT_ONCE_DAYS,
  });
  const queue = fleet.queue(KIND);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  for (let round = 0; round < 60 && (await queue.getCompletedCount()) > 1_000; round += 1) {
    await fill(brief, KIND, 50);
    while ((await queue.getJobCountByTypes('waiting', 'prioritized', 'active')) > 0) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  await brief.close();
}

/** One worker process completes a hundred thousand jobs, all of which Redis keeps, until their retention is over. */
export const completed: RowGroup = {
  rows: [
    {
      name: 'memory completed',
      work: `resident size of a worker after ${words(JOBS)} completed jobs`,
      against: `after ${words(GROWN)}`,
      target: { atMost: 1.1 },
    },
    {
      name: 'retained',
      work: `cost of adding and finishing a job with ${words(JOBS)} completed ones kept`,
      against: 'the same with 1,000 kept',
      target: { atMost: 1.15 },
    },
    {
      name: 'retention',
      work: `Redis memory left of ${words(JOBS)} completed jobs when their retention is over`,
      against: 'their memory while they are kept',
      target: null,
    },
  ],
  shortSeconds: null,
  measure: async (context) => {
    const samples: CompletedSamples = { 'memory completed': [], retained: [], retention: [] };
    for (let run = 0; run < (context.short ? 1 : RUNS); run += 1) {
      await context.redis.flush();
      await sample(context, samples);
    }
    return samples;
  },
};

async function sample(context: RowContext, samples: CompletedSamples): Promise<void> {
  const scale = context.short ? 0.02 : 1;
  const filled = await openFilled(context, KIND, 0);
  const start = (prefix: string) =>
    startWorkerProcesses(context, 1, { prefix, kinds: [KIND], concurrency: 50 });
  const workers = await start(filled.prefix);
  const [worker] = workers;
  const hold = async (): Promise<MemoryUse> => ({
    resident: await residentSize(worker?.child.pid),
    redis: await context.redis.memory(),
  });
  const empty = await hold();
  await complete(filled, 0, GROWN * scale);
  const grown = await hold();
  await complete(filled, GROWN * scale, JOBS * scale);
  const full = await hold();
  await killAll(workers);

  const few = await openFilled(context, KIND, 0);
  const fewWorkers = await start(few.prefix);
  await complete(few, 0, 1_000);
  await killAll(fewWorkers);
  // The memory of the shallow queue does not count for the deep one.
  const base = empty.redis + (await context.redis.memory()) - full.redis;
  const depths = [
    { label: '1,000', filled: few },
    { label: words(JOBS * scale), filled },
  ];
  const [retained = []] = await compareCosts(context, depths, context.short ? 1 : PROBES);
  samples.retained.push(...retained);

  const last = await start(filled.prefix);
  const kept = await context.redis.memory();
  await forgetCompleted(context, filled);
  const left = await context.redis.memory();
  const jobsLeft = await filled.fleet.queue(KIND).getCompletedCount();
  await killAll(last);
  await Promise.all([filled.fleet.close(), few.fleet.close()]);
  samples['memory completed'].push({
    ratio: full.resident / grown.resident,
    details: {
      idle: megabytes(empty.resident),
      [`at ${words(GROWN * scale)}`]: megabytes(grown.resident),
      [`at ${words(JOBS * scale)}`]: megabytes(full.resident),
    },
  });
  samples.retention.push({
    ratio: (left - base) / (kept - base),
    details: {
      kept: `${megabytes(kept - base)}, ${Math.round((full.redis - empty.redis) / (JOBS * scale))} bytes a job`,
      left: `${megabytes(left - base)}, ${words(jobsLeft)} jobs`,
    },
    numbers: { bytes: (full.redis - empty.redis) / (JOBS * scale) },
  });
}
