import { expect, it, onTestFinished } from 'vitest';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { leaks } from '../support/agent-answers.js';
import { startMessagesApi } from '../support/messages-api.js';
import { testProgram } from '../support/programs.js';
import { redisOfFile } from '../support/redis.js';
import { heapOfWorker } from './heap-of-a-worker.js';

const redis = redisOfFile();

it('a worker that has made many calls holds no more than after the first ones, and no listener warning came', async () => {
  const api = await startMessagesApi({ reply: () => leaks() });
  const fleet = await FleetClient.open({ redisUrl: redis.url, prefix: 'heap', waitForSlow: true });
  onTestFinished(async () => {
    await fleet.close();
    await api.close();
  });
  const program = [testProgram('test/calls/counting-worker')];
  const { bytes, warnings } = await heapOfWorker(program, fleet, redis.url, api.url, [40, 140]);
  const [early = 0, late = 0] = bytes;
  expect(early).toBeGreaterThan(0);
  // 100 more calls: a kept message, signal or listener of each would be several kilobytes.
  expect(late - early).toBeLessThan(0.4 * 2 ** 20);
  expect(warnings).toEqual([]);
});
