import { type Job, Queue, WaitingChildrenError, Worker } from 'bullmq';
import { pino } from 'pino';
import { z } from 'zod';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { FleetWorker } from '../../src/fleet/worker.js';
import { defineKind } from '../../src/processors/define-kind.js';
import { addJob } from '../../src/producers/add-job.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { workerConnection } from '../../src/queues/connection.js';
import { redisOptionsFrom } from '../../src/queues/redis-address.js';
import { TcpProxy } from '../../test/support/tcp-proxy.js';
import { BareBullmq } from '../harness/bare-bullmq.js';
import type { BenchRow, RowContext } from '../harness/row.js';
import { median, timed } from '../harness/statistics.js';

/** Delay of the workers' connections in each direction, in milliseconds: all else takes next to no time. */
const DELAY_MS = 25;
const ROUND_TRIP_MS = 2 * DELAY_MS;

/** How long the child takes: longer than its parent needs to wait for it. */
const CHILD_MS = 5 * ROUND_TRIP_MS;
/** A pipeline queue: the child is the same bare job on both sides. */
const CHILD_QUEUE = 'leaf';

const step = defineKind({
  name: 'step',
  payload: z.object({ child: z.boolean() }),
  result: z.object({}),
  process: async ({ child }, work) => {
    if (child) await work.jobs.childIn(CHILD_QUEUE, {}, { name: 'leaf' });
    return {};
  },
});

function childWorker(proxy: TcpProxy, prefix: string): Worker {
  return new Worker(CHILD_QUEUE, () => new Promise((resolve) => setTimeout(resolve, CHILD_MS, 'done')), {
    connection: workerConnection(proxy.url),
    prefix,
  });
}

/** Runs one job to its end, with a child or without one. */
type RunJob = (child: boolean) => Promise<unknown>;

/** What a child adds to a job: waits for Redis, one after the other, and commands, those inside scripts included. */
interface ChildCost {
  readonly roundTrips: number;
  readonly commands: number;
}

async function costOfChild(context: RowContext, proxy: TcpProxy, run: RunJob): Promise<ChildCost> {
  const count = context.short ? 4 : 8;
  const repeated = async (child: boolean, each: (job: () => Promise<unknown>) => Promise<void>) => {
    for (let index = 0; index < count; index += 1) await each(() => run(child));
  };
  const commands = async (child: boolean) => {
    const before = await context.redis.commands();
    await repeated(child, async (job) => void (await job()));
    return ((await context.redis.commands()) - before) / count;
  };
  const ms = async (child: boolean) => {
    const times: number[] = [];
    await repeated(child, async (job) => void times.push(await timed(job)));
    return median(times);
  };
  proxy.delayMs = 0;
  await run(true);
  const sent = (await commands(true)) - (await commands(false));
  proxy.delayMs = DELAY_MS;
  await run(true);
  const roundTrips = ((await ms(true)) - (await ms(false))) / ROUND_TRIP_MS;
  proxy.delayMs = 0;
  return { roundTrips, commands: sent };
}

async function ofFleet(context: RowContext, proxy: TcpProxy): Promise<ChildCost> {
  const prefix = context.prefix();
  const worker = await FleetWorker.start({
    redisUrl: proxy.url,
    prefix,
    runner: createOfflineRunner(),
    logger: pino({ level: 'silent' }),
    kinds: [step],
    concurrency: 1,
    lockMs: 20_000,
  });
  const ofChild = childWorker(proxy, prefix);
  const fleet = await FleetClient.open({ redisUrl: context.redis.url, prefix, kinds: [step] });
  try {
    return await costOfChild(context, proxy, async (child) =>
      (await addJob(fleet, step, { child })).result(),
    );
  } finally {
    await worker.stop(5_000);
    await ofChild.close();
    await fleet.close();
  }
}

/** BullMQ's pattern for a job that adds a child and waits for it: it stores its step, and reads what the child returned. */
async function ofBullmq(context: RowContext, proxy: TcpProxy): Promise<ChildCost> {
  const prefix = context.prefix();
  const bare = new BareBullmq(context.redis.url, prefix, 'step');
  const children = new Queue(CHILD_QUEUE, { connection: workerConnection(proxy.url), prefix });
  const ofChild = childWorker(proxy, prefix);
  const worker = new Worker(
    'step',
    async (job: Job, token = '') => {
      if (!job.data.child) return 'done';
      if (job.data.waited) return job.getChildrenValues();
      await children.add('leaf', {}, { parent: { id: job.id ?? '', queue: job.queueQualifiedName } });
      await job.updateData({ ...job.data, waited: true });
      if (await job.moveToWaitingChildren(token)) throw new WaitingChildrenError();
      return job.getChildrenValues();
    },
    { connection: workerConnection(proxy.url), prefix, concurrency: 1 },
  );
  const events = await bare.events();
  try {
    return await costOfChild(context, proxy, async (child) =>
      (await bare.queue.add('step', { child })).waitUntilFinished(events),
    );
  } finally {
    await worker.close();
    await ofChild.close();
    await children.close();
    await bare.close();
  }
}

/** What a child costs beyond what BullMQ needs for it, in waits for Redis. */
export const childStep: BenchRow = {
  name: 'child step',
  work: 'round trips to Redis, one after the other, that waiting for a child adds to a job',
  against: 'a bare BullMQ job that adds a child, stores its step and waits (moveToWaitingChildren)',
  target: { atMost: 2 },
  unit: 'more round trips',
  runs: 3,
  shortSeconds: 12,
  run: async (context) => {
    const { path, host, port } = redisOptionsFrom(context.redis.url);
    const target = path === undefined ? { host, port: port ?? 6379 } : { path };
    const proxy = await TcpProxy.start(target as Parameters<typeof TcpProxy.start>[0]);
    try {
      const fleet = await ofFleet(context, proxy);
      const bare = await ofBullmq(context, proxy);
      return {
        // Processor time is a fraction of a round trip.
        ratio: Math.round(fleet.roundTrips - bare.roundTrips),
        details: {
          'round trips': `${fleet.roundTrips.toFixed(1)} (bare ${bare.roundTrips.toFixed(1)}, ratio ${(fleet.roundTrips / bare.roundTrips).toFixed(2)})`,
          'commands, with those in scripts': `${fleet.commands.toFixed(1)} (bare ${bare.commands.toFixed(1)}, ratio ${(fleet.commands / bare.commands).toFixed(2)})`,
        },
      };
    } finally {
      await proxy.stop();
    }
  },
};
