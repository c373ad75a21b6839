import { randomUUID } from 'node:crypto';
import { jobOptions } from '../../src/producers/add-job.js';
import { addJobs } from '../../src/producers/add-jobs.js';
import { FleetConnection } from '../../src/producers/fleet-connection.js';
import { BareBullmq } from '../harness/bare-bullmq.js';
import { startBenchFleet } from '../harness/bench-fleet.js';
import { CLEAN, instantRunner } from '../harness/instant-runner.js';
import type { BenchRow, RowContext } from '../harness/row.js';
import { timed } from '../harness/statistics.js';

const PAYLOAD = { solution: { content: 'print(1)\n' } };
const PROBE = 500;

async function fill(fleet: FleetConnection, count: number): Promise<void> {
  for (let added = 0; added < count; added += 5_000) {
    const batch = Math.min(5_000, count - added);
    await addJobs(
      fleet,
      Array.from({ length: batch }, () => ({ kind: 'solution-check' as const, payload: PAYLOAD })),
    );
  }
}

/** Milliseconds a job: adding and finishing some jobs, with so many others waiting behind them. */
async function costAt(context: RowContext, waiting: number): Promise<number> {
  const prefix = context.prefix();
  const fleet = await FleetConnection.open({ redisUrl: context.redis.url, prefix });
  await fill(fleet, waiting);
  const worker = await startBenchFleet(context, {
    runner: instantRunner({ structured: CLEAN, text: '' }),
    kinds: ['solution-check'],
    concurrency: 10,
    prefix,
  });
  const ms = await timed(async () => {
    const done = (await fleet.queue('solution-check').getCompletedCount()) + PROBE;
    while ((await fleet.queue('solution-check').getCompletedCount()) < done) {
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  });
  await worker.close();
  await fleet.close();
  await context.redis.flush();
  return ms / PROBE;
}

export const depth: BenchRow = {
  name: 'depth',
  work: 'cost of a job with 100,000 others waiting',
  against: 'the same with 1,000 waiting',
  target: { atMost: 1.15 },
  runs: 3,
  run: async (context) => {
    const deep = context.short ? 5_000 : 100_000;
    const shallow = await costAt(context, 1_000);
    const full = await costAt(context, deep);
    return {
      ratio: full / shallow,
      figures: {
        'at 1,000': `${shallow.toFixed(3)} ms`,
        [`at ${deep.toLocaleString('en')}`]: `${full.toFixed(3)} ms`,
      },
    };
  },
};

export const memory: BenchRow = {
  name: 'memory waiting',
  work: 'Redis memory of a waiting job',
  against: 'a raw BullMQ job with the same data and options',
  target: { atMost: 1.3 },
  runs: 3,
  run: async (context) => {
    const count = context.short ? 2_000 : 20_000;
    const fleet = await FleetConnection.open({ redisUrl: context.redis.url, prefix: context.prefix() });
    const bare = new BareBullmq(context.redis.url, context.prefix());
    await bare.queue.waitUntilReady();
    const empty = await context.redis.memory();
    await fill(fleet, count);
    const withFleet = await context.redis.memory();
    for (let added = 0; added < count; added += 5_000) {
      await bare.queue.addBulk(
        Array.from({ length: 5_000 }, () => ({
          name: 'solution-check',
          data: PAYLOAD,
          opts: { ...jobOptions(fleet, 'solution-check', ''), jobId: randomUUID() },
        })),
      );
    }
    const withBoth = await context.redis.memory();
    const bareCount = Math.ceil(count / 5_000) * 5_000;
    await fleet.close();
    await bare.close();
    const ours = (withFleet - empty) / count;
    const theirs = (withBoth - withFleet) / bareCount;
    return {
      ratio: ours / theirs,
      figures: { fleet: `${Math.round(ours)} bytes`, bare: `${Math.round(theirs)} bytes` },
    };
  },
};
