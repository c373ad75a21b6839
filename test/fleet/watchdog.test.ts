import { DelayedError, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RunningJobs } from '../../src/fleet/running-jobs.js';
import { Watchdog } from '../../src/fleet/watchdog.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { workerConnection } from '../../src/queues/connection.js';
import { redisOfFile } from '../support/redis.js';

const redis = redisOfFile();

describe('a worker that sleeps over waiting jobs', () => {
  it('is woken, however many jobs it has handed back before', async () => {
    const prefix = 'watched';
    const fleet = await FleetClient.open({ redisUrl: redis.url, prefix, waitForSlow: true });
    const durableClient = new Redis(workerConnection(redis.url));
    const running = new RunningJobs(durableClient);
    let handedBack = 0;
    let isWoken = false;
    const logger = pino(
      {},
      {
        write: (line: string) => {
          isWoken ||= line.includes('is woken');
        },
      },
    );
    // Added before the worker is there: adding a job wakes it.
    const queue = fleet.queue('solution-check');
    const { id } = await addSolutionCheck(
      fleet,
      { solution: { content: 'x = 4\n' } },
      { delayMs: 3_600_000 },
    );
    const worker = new Worker(
      'solution-check',
      async (job, token) => {
        handedBack += 1;
        await job.moveToDelayed(Date.now() + 3_600_000, token);
        throw new DelayedError();
      },
      { prefix, connection: workerConnection(redis.url), concurrency: 1 },
    );
    worker.on('error', () => undefined);
    const watchdog = new Watchdog(
      { workers: [worker], durableClient, subscriber: durableClient, logger, running },
      600_000,
      50,
      200,
    );
    onTestFinished(async () => {
      watchdog.stop();
      await worker.close();
      durableClient.disconnect();
      await fleet.close();
    });
    for (let job = 0; job < 3; job += 1) {
      await addSolutionCheck(fleet, { solution: { content: `x = ${job}\n` } });
    }
    await expect.poll(() => handedBack).toBe(3);
    let lookedAt = 0;
    await expect
      .poll(async () => {
        // What a worker that has stopped looking would leave: a job that waits, without the marker that wakes workers. On a
        // busy machine BullMQ's own look, each ten seconds, may come first.
        if (handedBack > lookedAt) {
          lookedAt = handedBack;
          await fleet.client.zrem(queue.toKey('delayed'), id);
          await fleet.client.lpush(queue.toKey('wait'), id);
        }
        return isWoken;
      })
      .toBe(true);
    await expect.poll(() => handedBack).toBeGreaterThan(lookedAt);
  });
});
