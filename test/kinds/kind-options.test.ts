import { expect, it, onTestFinished } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { defineKind, type JobKind, z } from '../../src/index.js';
import { addJob } from '../../src/producers/add-job.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { redisOfFile } from '../support/redis.js';

const redis = redisOfFile();

async function startFleet(prefix: string, kinds: readonly JobKind[]): Promise<TestFleet> {
  const test = await startTestFleet(redis, prefix, { kinds });
  onTestFinished(() => test.close());
  return test;
}

it('fieldsSince: a job with a newer field waits for a worker that knows the field', async () => {
  const versioned = (payload: z.ZodObject, fieldsSince: Record<string, number> = {}) =>
    defineKind({
      name: 'versioned',
      payload,
      fieldsSince,
      result: z.object({ fields: z.array(z.string()) }),
      process: async ({ v, tags, then, ...own }) => ({ fields: Object.keys(own) }),
    });
  const older = versioned(z.object({ text: z.string() }));
  const newer = versioned(z.object({ text: z.string(), language: z.string().optional() }), { language: 2 });
  const { fleet, worker, logLines } = await startFleet('versioned', [newer]);
  await worker(createOfflineRunner(), { kinds: [older], newerContractDelayMs: 100 });
  const withField = await addJob(fleet, newer, { text: 'a', language: 'en' });
  const without = await addJob(fleet, newer, { text: 'a' });
  expect(await without.result()).toEqual({ fields: ['text'] });
  await expect
    .poll(() => JSON.stringify(logLines))
    .toContain('contract version 2, this worker supports up to 1 of');
  await worker(createOfflineRunner(), { kinds: [newer] });
  expect(await withField.result()).toEqual({ fields: ['text', 'language'] });
  expect(await withField.view()).toMatchObject({ attempts: 1 });
});

it('limits.concurrency: a worker runs no more jobs of the kind at the same time', async () => {
  let running = 0;
  let most = 0;
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const of = (name: string, concurrency: number, process: () => Promise<void>) =>
    defineKind({
      name,
      payload: z.object({}),
      result: z.object({}),
      limits: { concurrency },
      process: async () => {
        await process();
        return {};
      },
    });
  const limited = of('limited', 2, async () => {
    running += 1;
    most = Math.max(most, running);
    await gate;
    running -= 1;
  });
  const other = of('other', 100, async () => undefined);
  const kinds = [limited, other];
  const { fleet, worker } = await startFleet('limited', kinds);
  await worker(createOfflineRunner(), { kinds, concurrency: 5 });
  const jobs = [];
  for (let count = 0; count < 5; count += 1) jobs.push(await addJob(fleet, limited, {}));
  await expect.poll(() => running).toBeGreaterThanOrEqual(2);
  // The worker had the time to take more.
  for (let count = 0; count < 10; count += 1) await (await addJob(fleet, other, {})).result();
  open();
  await Promise.all(jobs.map((job) => job.result()));
  expect(most).toBe(2);
});
