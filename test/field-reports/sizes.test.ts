import { randomBytes } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { addSummarize } from '../../src/producers/summarize.js';
import { readRedisMemory } from '../../src/queues/redis-memory.js';
import { runnerFor } from '../support/agent-answers.js';
import { startTestFleet } from '../support/fleet.js';
import { startMessagesApi, textReply } from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';

const redis = redisOfFile();

it('a result of megabytes takes no more of Redis than twice its size, and comes back whole', async () => {
  // Text that hardly compresses, in lines as a model writes them.
  const text = Array.from({ length: 20_000 }, () => randomBytes(72).toString('base64')).join('\n');
  const api = await startMessagesApi({ reply: () => textReply(text, { deltaSize: 100_000 }) });
  const test = await startTestFleet(redis, 'sizes');
  onTestFinished(async () => {
    await test.close();
    await api.close();
  });
  await test.worker(runnerFor(api));
  const before = (await readRedisMemory(test.fleet.client)).used;
  const handle = await addSummarize(test.fleet, { ablationCode: 'print(1)', rawOutput: 'baseline: 0.8\n' });
  expect((await handle.result()).summary).toBe(text);
  const job = await test.fleet.queue('summarize').getJob(handle.id);
  // In the job is a reference; the answer itself is in its ledger and in the store.
  expect(JSON.stringify(job?.returnvalue).length).toBeLessThan(10_000);
  // Redis gives the buffers through which the text came back only after a while.
  const grown = async () => (await readRedisMemory(test.fleet.client)).used - before;
  await expect.poll(grown).toBeLessThan(2 * text.length);
});
