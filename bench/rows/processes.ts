import { Worker } from 'bullmq';
import { addJobs } from '../../src/producers/add-jobs.js';
import { FleetConnection } from '../../src/producers/fleet-connection.js';
import { workerConnection } from '../../src/queues/connection.js';
import { leaks } from '../../test/support/agent-answers.js';
import { type MessagesApi, type Script, startMessagesApi } from '../../test/support/messages-api.js';
import { untilCompleted } from '../harness/bench-fleet.js';
import type { BenchRow, RowContext } from '../harness/row.js';
import { percentile, timed } from '../harness/statistics.js';
import { startWorkerProcesses } from '../harness/worker-processes.js';

const payload = (index: number) => ({ solution: { content: `print(${index})\n` } });

interface Bench {
  readonly fleet: FleetConnection;
  readonly api: MessagesApi;
  readonly prefix: string;
}

async function withBench<T>(
  context: RowContext,
  reply: Script,
  action: (bench: Bench) => Promise<T>,
): Promise<T> {
  const prefix = context.prefix();
  const api = await startMessagesApi({ reply });
  const fleet = await FleetConnection.open({ redisUrl: context.redis.url, prefix });
  try {
    return await action({ fleet, api, prefix });
  } finally {
    await fleet.close();
    await api.close();
  }
}

async function submit(fleet: FleetConnection, count: number): Promise<void> {
  const items = Array.from({ length: count }, (_, index) => ({
    kind: 'solution-check' as const,
    payload: payload(index),
  }));
  await addJobs(fleet, items);
}

/** Jobs a second of so many worker processes, each call waiting half a second. */
async function rateOf(context: RowContext, processes: number): Promise<number> {
  const concurrency = 50;
  const count = processes * concurrency * (context.short ? 2 : 6);
  return withBench(
    context,
    () => ({ ...leaks(), delayMs: 500 }),
    async ({ fleet, api, prefix }) => {
      const workers = await startWorkerProcesses(context, processes, { prefix, api, concurrency });
      const ms = await timed(async () => {
        await submit(fleet, count);
        await untilCompleted(fleet, 'solution-check', count);
      });
      await Promise.all(workers.map((worker) => worker.end('SIGKILL')));
      return (count / ms) * 1_000;
    },
  );
}

export const scaling: BenchRow = {
  name: 'scaling',
  work: '4 worker processes, agent calls that wait 500 ms, concurrency 50 each',
  against: 'four times one worker process',
  target: { atLeast: 0.95 },
  runs: 3,
  run: async (context) => {
    const one = await rateOf(context, 1);
    const four = await rateOf(context, 4);
    return {
      ratio: four / (4 * one),
      figures: { one: `${one.toFixed(0)} jobs/s`, four: `${four.toFixed(0)} jobs/s` },
    };
  },
};

export const crash: BenchRow = {
  name: 'crash',
  work: 'answered calls paid again after a worker dies with 50 jobs in mid-flight',
  against: 'none, counted by the provider',
  target: { atMost: 0 },
  unit: 'calls paid again',
  runs: 3,
  run: async (context) => {
    const jobs = 50;
    // Two calls a job: the first is answered, the second hangs until the worker is dead.
    let dead = false;
    const detected = new Map<string, number>();
    const reply: Script = ({ text }) => {
      const job = /print\((\d+)\)/.exec(text)?.[1] ?? '';
      if (text.includes('<block-')) return dead ? leaksCorrection(job) : { kind: 'hang' };
      detected.set(job, (detected.get(job) ?? 0) + 1);
      return leaks(`print(${job})`);
    };
    return withBench(context, reply, async ({ fleet, api, prefix }) => {
      const options = { prefix, api, concurrency: jobs, lockMs: 2_000 };
      const [doomed] = await startWorkerProcesses(context, 1, options);
      await submit(fleet, jobs);
      await api.arrived(2 * jobs);
      await doomed?.end('SIGKILL');
      dead = true;
      const [heir] = await startWorkerProcesses(context, 1, options);
      await untilCompleted(fleet, 'solution-check', jobs);
      await heir?.end('SIGKILL');
      const again = [...detected.values()].reduce((sum, times) => sum + times - 1, 0);
      return { ratio: again, figures: { 'calls in all': String(api.requests.length) } };
    });
  },
};

function leaksCorrection(job: string) {
  const text = `\`\`\`python\nprint(${job}, 1)\n\`\`\``;
  return { ...leaks(), content: [{ type: 'text', text }] };
}

/** Milliseconds from the kill of a fleet worker in mid-call to its jobs running elsewhere, at BullMQ's default lease. */
async function fleetRecovery(context: RowContext, jobs: number): Promise<number[]> {
  const arrivals: number[] = [];
  const reply: Script = () => {
    arrivals.push(performance.now());
    return arrivals.length <= jobs ? { kind: 'hang' } : leaks();
  };
  return withBench(context, reply, async ({ fleet, api, prefix }) => {
    const options = { prefix, api, concurrency: jobs };
    const [doomed, heir] = await startWorkerProcesses(context, 2, { ...options, concurrency: jobs });
    await submit(fleet, jobs);
    await api.arrived(jobs);
    await doomed?.end('SIGKILL');
    const killed = performance.now();
    await heir?.end('SIGKILL');
    const [next] = await startWorkerProcesses(context, 1, options);
    await untilCompleted(fleet, 'solution-check', jobs);
    await next?.end('SIGKILL');
    return arrivals.slice(jobs).map((at) => at - killed);
  });
}

/** The same of a bare worker at its defaults: a lease of 30 s, stalled jobs looked for every 30 s. */
async function bareRecovery(context: RowContext, jobs: number): Promise<number[]> {
  const prefix = context.prefix();
  const connection = workerConnection(context.redis.url);
  const { Queue } = await import('bullmq');
  const queue = new Queue('bare', { connection, prefix });
  const started: number[] = [];
  const doomed = new Worker('bare', () => new Promise(() => undefined), {
    connection,
    prefix,
    concurrency: jobs,
  });
  await queue.addBulk(Array.from({ length: jobs }, () => ({ name: 'job', data: {} })));
  while ((await queue.getActiveCount()) < jobs) await new Promise((resolve) => setTimeout(resolve, 10));
  // Closing by force leaves the jobs active, as the death of the process does.
  await doomed.close(true);
  const killed = performance.now();
  const heir = new Worker(
    'bare',
    async () => {
      started.push(performance.now() - killed);
    },
    { connection, prefix, concurrency: jobs },
  );
  while (started.length < jobs) await new Promise((resolve) => setTimeout(resolve, 20));
  await heir.close();
  await queue.close();
  return started;
}

export const recovery: BenchRow = {
  name: 'recovery',
  work: 'SIGKILL of a worker in mid-call to its jobs running elsewhere, p99',
  against: "BullMQ's defaults",
  target: { atMost: 0.5 },
  runs: 3,
  run: async (context) => {
    const jobs = 10;
    const fleet = percentile(await fleetRecovery(context, jobs), 0.99);
    const bare = percentile(await bareRecovery(context, jobs), 0.99);
    return {
      ratio: fleet / bare,
      figures: { fleet: `${(fleet / 1_000).toFixed(1)} s`, bare: `${(bare / 1_000).toFixed(1)} s` },
    };
  },
};
