import { addJobs } from '../../src/producers/add-jobs.js';
import { BareBullmq, completed } from '../harness/bare-bullmq.js';
import { startBenchFleet, untilCompleted } from '../harness/bench-fleet.js';
import { CLEAN, instantRunner } from '../harness/instant-runner.js';
import type { BenchRow, RowContext } from '../harness/row.js';
import { timed } from '../harness/statistics.js';

const CONCURRENCY = 50;
const TEST_CASE = { id: 'none', name: 'none', difficulty: 'easy' as const };

interface Drain {
  readonly ms: number;
  /** Processor time of this process, in microseconds a job. */
  readonly cpuUs: number;
}

async function measured(count: number, action: () => Promise<unknown>): Promise<Drain> {
  const before = process.cpuUsage();
  const ms = await timed(action);
  const { user, system } = process.cpuUsage(before);
  return { ms, cpuUs: (user + system) / count };
}

/** A bare worker empties a queue of so many jobs. */
async function bareDrain(context: RowContext, count: number): Promise<Drain> {
  const bare = new BareBullmq(context.redis.url, context.prefix());
  await bare.queue.addBulk(Array.from({ length: count }, () => ({ name: 'job', data: {} })));
  const drain = await measured(count, () => completed(bare.worker(CONCURRENCY), count));
  await bare.close();
  return drain;
}

async function fleetDrain(
  context: RowContext,
  kind: 'contamination' | 'solution-check',
  count: number,
): Promise<Drain & { commands: number }> {
  const prefix = context.prefix();
  const start = () =>
    startBenchFleet(context, {
      runner: instantRunner({ structured: CLEAN, text: '' }),
      kinds: [kind],
      concurrency: CONCURRENCY,
      prefix,
    });
  const payload =
    kind === 'contamination'
      ? { output: 'print(1)', testCase: TEST_CASE }
      : { solution: { content: 'print(1)\n' } };
  // A first job loads the modules of its kind: the start of a worker is a separate row.
  const loader = await start();
  await addJobs(loader.fleet, [{ kind, payload }]);
  await untilCompleted(loader.fleet, kind, 1);
  await loader.worker.stop(5_000);
  for (let added = 0; added < count; added += 1_000) {
    await addJobs(
      loader.fleet,
      Array.from({ length: Math.min(1_000, count - added) }, () => ({ kind, payload })),
    );
  }
  const before = await context.redis.commands();
  let started: Awaited<ReturnType<typeof start>> | undefined;
  const drain = await measured(count, async () => {
    started = await start();
    await untilCompleted(loader.fleet, kind, count + 1);
  });
  const commands = ((await context.redis.commands()) - before) / count;
  await started?.close();
  await loader.close();
  return { ...drain, commands };
}

function row(
  name: string,
  work: string,
  kind: 'contamination' | 'solution-check',
  atLeast: number,
): BenchRow {
  return {
    name,
    work,
    against: 'bare BullMQ worker, same concurrency, no-op',
    target: { atLeast },
    runs: 5,
    run: async (context) => {
      const count = context.short ? 1_000 : 20_000;
      const fleet = await fleetDrain(context, kind, count);
      const bare = await bareDrain(context, count);
      return {
        ratio: bare.ms / fleet.ms,
        details: {
          fleet: `${Math.round((count / fleet.ms) * 1_000)} jobs/s`,
          bare: `${Math.round((count / bare.ms) * 1_000)} jobs/s`,
          'processor time a job': `${Math.round(fleet.cpuUs)} µs, bare ${Math.round(bare.cpuUs)} µs`,
          'Redis commands a job': fleet.commands.toFixed(1),
        },
        numbers: { rate: (count / fleet.ms) * 1_000 },
      };
    },
  };
}

export const throughput = row(
  'throughput',
  '20,000 jobs without agent calls through the whole worker',
  'contamination',
  0.6,
);
export const throughputWithCalls = row(
  'throughput with calls',
  '20,000 jobs with one call each, answered at once in the process',
  'solution-check',
  0.45,
);
