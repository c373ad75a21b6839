import { randomUUID } from 'node:crypto';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { jobOptions } from '../../src/producers/job-options.js';
import { workerConnection } from '../../src/queues/connection.js';
import { BareBullmq } from '../harness/bare-bullmq.js';
import { startBenchProcess } from '../harness/child-process.js';
import { CHECK_PAYLOAD, fill } from '../harness/fill.js';
import { megabytes, residentSize } from '../harness/resident-size.js';
import type { BenchRow } from '../harness/row.js';
import { killAll, startWorkerProcesses } from '../harness/worker-processes.js';

/** A process frees its start-up allocations after a while. */
const SETTLE_MS = 3_000;
const settled = () => new Promise((resolve) => setTimeout(resolve, SETTLE_MS));

export const memoryIdle: BenchRow = {
  name: 'memory idle',
  work: 'resident size of an idle worker process, all kinds',
  against: 'a bare BullMQ worker process',
  target: { atMost: 1.5 },
  runs: 5,
  shortSeconds: 5,
  run: async (context) => {
    const [fleet] = await startWorkerProcesses(context, 1, {
      prefix: context.prefix(),
      apiUrl: 'http://127.0.0.1:9',
      kinds: ['solution-check', 'summarize', 'extract', 'contamination'],
      concurrency: 10,
    });
    const { path } = workerConnection(context.redis.url);
    const bare = await startBenchProcess('idle-worker.mjs', {
      REDIS_SOCKET: path ?? '',
      PREFIX: context.prefix(),
    });
    await settled();
    const ours = await residentSize(fleet?.child.pid);
    const theirs = await residentSize(bare.child.pid);
    await bare.kill();
    if (fleet !== undefined) await killAll([fleet]);
    return { ratio: ours / theirs, details: { fleet: megabytes(ours), bare: megabytes(theirs) } };
  },
};

export const memoryWaiting: BenchRow = {
  name: 'memory waiting',
  work: 'Redis memory of a waiting job',
  against: 'a raw BullMQ job with the same data and options',
  target: { atMost: 1.3 },
  runs: 3,
  run: async (context) => {
    const count = context.short ? 2_000 : 20_000;
    const fleet = await FleetClient.open({ redisUrl: context.redis.url, prefix: context.prefix() });
    const bare = new BareBullmq(context.redis.url, context.prefix());
    await bare.queue.waitUntilReady();
    const empty = await context.redis.memory();
    await fill(fleet, 'solution-check', count);
    const withFleet = await context.redis.memory();
    for (let added = 0; added < count; added += 1_000) {
      await bare.queue.addBulk(
        Array.from({ length: 1_000 }, () => ({
          name: 'solution-check',
          data: CHECK_PAYLOAD,
          opts: { ...jobOptions(fleet, 'solution-check', ''), jobId: randomUUID() },
        })),
      );
    }
    const withBoth = await context.redis.memory();
    await fleet.close();
    await bare.close();
    const ours = (withFleet - empty) / count;
    const theirs = (withBoth - withFleet) / count;
    return {
      ratio: ours / theirs,
      details: { fleet: `${Math.round(ours)} bytes`, bare: `${Math.round(theirs)} bytes` },
      numbers: { bytes: ours },
    };
  },
};
