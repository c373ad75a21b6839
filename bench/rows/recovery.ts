import { Queue, Worker } from 'bullmq';
import { workerConnection } from '../../src/queues/connection.js';
import { leaks } from '../../test/support/agent-answers.js';
import type { Script } from '../../test/support/messages-api.js';
import { untilCompleted } from '../harness/bench-fleet.js';
import type { RowContext, RowGroup, Sample } from '../harness/row.js';
import { percentile } from '../harness/statistics.js';
import {
  killAll,
  startWorkerProcesses,
  submitChecks,
  withProcessBench,
} from '../harness/worker-processes.js';

const JOBS = 10;

/** Milliseconds from the kill of a fleet worker during calls to its jobs' calls by another one that was already running. */
async function fleetRecovery(context: RowContext): Promise<number[]> {
  const arrivals: number[] = [];
  const reply: Script = () => {
    arrivals.push(performance.now());
    return arrivals.length <= JOBS ? { kind: 'hang' } : leaks();
  };
  return withProcessBench(context, reply, async ({ fleet, api, prefix }) => {
    // All calls are to hang, and not one of them while the others wait for the prompt cache.
    const settings = { FLEET_CACHE_WAIT_MS: '0' };
    const options = { prefix, apiUrl: api.url, concurrency: JOBS, settings };
    const doomed = await startWorkerProcesses(context, 1, options);
    await submitChecks(fleet, JOBS);
    await api.arrived(JOBS);
    const heirs = await startWorkerProcesses(context, 1, options);
    const killed = performance.now();
    await killAll(doomed);
    await untilCompleted(fleet, 'solution-check', JOBS);
    await killAll(heirs);
    return arrivals.slice(JOBS).map((at) => at - killed);
  });
}

/** The same for bare workers with their defaults: a lock of 30 s, a check for stalled jobs every 30 s. */
async function bareRecovery(context: RowContext): Promise<number[]> {
  const prefix = context.prefix();
  const connection = workerConnection(context.redis.url);
  const queue = new Queue('bare', { connection, prefix });
  const started: number[] = [];
  const doomed = new Worker('bare', () => new Promise(() => undefined), {
    connection,
    prefix,
    concurrency: JOBS,
  });
  await queue.addBulk(Array.from({ length: JOBS }, () => ({ name: 'job', data: {} })));
  while ((await queue.getActiveCount()) < JOBS) await new Promise((resolve) => setTimeout(resolve, 10));
  let killed = Number.NaN;
  const heir = new Worker(
    'bare',
    async () => {
      started.push(performance.now() - killed);
    },
    { connection, prefix, concurrency: JOBS },
  );
  await heir.waitUntilReady();
  // Closing by force leaves the jobs active, like the crash of the process.
  await doomed.close(true);
  killed = performance.now();
  while (started.length < JOBS) await new Promise((resolve) => setTimeout(resolve, 20));
  await heir.close();
  await queue.close();
  return started;
}

async function sample(context: RowContext): Promise<Sample> {
  const [ours, theirs] = await Promise.all([fleetRecovery(context), bareRecovery(context)]);
  const [fleet, bare] = [percentile(ours, 0.99), percentile(theirs, 0.99)];
  return {
    ratio: fleet / bare,
    details: { fleet: `${(fleet / 1_000).toFixed(1)} s`, bare: `${(bare / 1_000).toFixed(1)} s` },
  };
}

/** Everything waits for locks to expire, so all runs and both sides wait at the same time. */
export const recovery: RowGroup = {
  rows: [
    {
      name: 'recovery',
      work: 'SIGKILL of a worker in mid-call to its jobs running elsewhere, p99',
      against: "BullMQ's defaults",
      target: { atMost: 0.5 },
    },
  ],
  shortSeconds: null,
  measure: async (context) => {
    const runs = Array.from({ length: context.short ? 1 : 3 }, () => sample(context));
    return { recovery: await Promise.all(runs) };
  },
};
