import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { QueueWorkers } from '../../src/gateway/evaluations/queue-workers.js';
import { redisOfFile } from '../support/redis.js';

const redis = redisOfFile();

function openWorkers(maxWorkers: number): QueueWorkers {
  const workers = new QueueWorkers({
    redisUrl: redis.url,
    prefix: 'queue-workers',
    logger: pino({ level: 'silent' }),
    stalledCheckMs: 60_000,
    maxWorkers,
  });
  onTestFinished(() => workers.close());
  return workers;
}

it('opens one worker for claims that ask at the same time, also while another queue is closed for it', async () => {
  const workers = openWorkers(1);
  const first = await workers.get('first');

  const [one, other] = await Promise.all([workers.get('second'), workers.get('second')]);

  expect(one).toBe(other);
  expect(first?.closing).toBeDefined();
});

it('closes the queue that was used longest ago', async () => {
  const workers = openWorkers(2);
  const [a, b] = [await workers.get('a'), await workers.get('b')];
  await workers.get('a');

  await workers.get('c');

  expect(b?.closing).toBeDefined();
  expect(a?.closing).toBeUndefined();
});

it('opens nothing once it is closed, so a claim that came too late keeps no gateway alive', async () => {
  const workers = openWorkers(2);
  const open = await workers.get('a');
  const late = workers.get('b');
  await workers.close();

  expect((await late)?.closing).toBeDefined();
  expect(open?.closing).toBeDefined();
  expect(await workers.get('c')).toBeUndefined();
});
