import { deflateRawSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addRefinementStep } from '../../src/producers/flows/refinement-step.js';
import { addSummarize } from '../../src/producers/summarize.js';
import { readJobFlags } from '../../src/queues/job-flags.js';
import { runnerFor } from '../support/agent-answers.js';
import { startTestFleet } from '../support/fleet.js';
import { type MessagesApi, startMessagesApi, textReply } from '../support/messages-api.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { type FleetOfCalls, fleetOfCalls, plannedCall } from './calling-job.js';

const CALL = plannedCall('is there a leak?');

let redis: TestRedis;
let fleet: FleetOfCalls;
let api: MessagesApi;
beforeEach(async () => {
  redis = await startTestRedis();
  fleet = fleetOfCalls(redis);
  api = await startMessagesApi({ reply: () => textReply('yes') });
});
afterEach(async () => {
  await fleet.close();
  await api.close();
  await redis.stop();
});

/** A job with one answered call. */
async function answeredJob() {
  const job = fleet.job();
  await job.perform(job.interceptor(), CALL, api);
  expect(api.requests).toHaveLength(1);
  return job;
}

describe('a damaged record of the ledger', () => {
  it.each<[string, string, string | Buffer]>([
    ['fleet:ledger:1', 'empty', ''],
    ['fleet:ledger:1', 'cut off', '{"step":"detect","ask"'],
    ['fleet:ledger:1:end', 'empty', ''],
    ['fleet:ledger:1:end', 'cut off', '{"state":'],
    ['fleet:ledger:1:end', 'of another version', '{"state":"of another version","at":1}'],
    ['fleet:ledger:1:answer', 'empty', ''],
    ['fleet:ledger:1:answer', 'not compressed', 'no deflated bytes'],
    ['fleet:ledger:1:answer', 'an empty text', deflateRawSync('')],
    ['fleet:ledger:1:answer', 'cut off', deflateRawSync('{"content":[')],
    ['fleet:ledger:1:answer', 'of another version', deflateRawSync('{"content":"of another version"}')],
  ])('%s, %s: the job names it, and asks again once', async (field, _, damaged) => {
    const job = await answeredJob();
    await fleet.client.hset(job.key, field, damaged);
    expect((await job.perform(job.interceptor(), CALL, api)).class).toBe('answered');
    expect(api.requests).toHaveLength(2);
    const naming = job.warnings.filter((warning) =>
      warning.includes(`the record ${field} of the job ${job.key} `),
    );
    expect(naming).toEqual([expect.stringContaining('the call is in doubt')]);
    // The new answer is in the ledger under its own number, and every later attempt finds it.
    await job.takeOver();
    expect((await job.perform(job.interceptor(), CALL, api)).class).toBe('answered');
    expect(api.requests).toHaveLength(2);
    expect((await job.records()).at(-1)).toMatchObject({ state: 'answered' });
  });

  it('an answer that is gone: the call is sent again, and the answer to that is found', async () => {
    const job = await answeredJob();
    await fleet.client.hdel(job.key, 'fleet:ledger:1:answer');
    for (let run = 0; run < 3; run += 1) await job.perform(job.interceptor(), CALL, api);
    expect(api.requests).toHaveLength(2);
  });

  it.each(['fleet:ledger:1:end', 'fleet:ledger:1:answer'])(
    '%s: a person is asked before it is paid for again, where that is wanted',
    async (field) => {
      const job = await answeredJob();
      await fleet.client.hset(job.key, field, '');
      const parking = { callsInDoubt: 'park' } as const;
      await expect(job.perform(job.interceptor(parking), CALL, api)).rejects.toMatchObject({
        code: 'call-in-doubt',
      });
      expect(api.requests).toHaveLength(1);
      await job.perform(job.interceptor(parking), CALL, api);
      expect(api.requests).toHaveLength(2);
    },
  );

  it.each<[string, string, string | Buffer]>([
    ['fleet:ledger:1', 'what was sent', '{"step":'],
    ['fleet:ledger:1:end', 'how it ended', '{"state":"answered","at":'],
    ['fleet:ledger:1:end', 'how it ended, of another version', '{"state":"answered"}'],
    ['fleet:ledger:1:answer', 'the answer', 'no deflated bytes'],
  ])(
    '%s of another job, %s: the call is sent, and its answer found after that',
    async (field, _, damaged) => {
      const payer = await answeredJob();
      await fleet.client.hset(payer.key, field, damaged);
      const reused = async () => {
        const job = fleet.job({ reuse: 'fleet' });
        expect((await job.perform(job.interceptor(), CALL, api)).class).toBe('answered');
      };
      await reused();
      expect(api.requests).toHaveLength(2);
      await reused();
      expect(api.requests).toHaveLength(2);
    },
  );
});

describe('a job with damaged records', () => {
  it('completes and can be viewed whatever its flags and ledger contain', async () => {
    const test = await startTestFleet(redis, 'damaged');
    try {
      const job = await addSummarize(test.fleet, { ablationCode: 'x = 1', rawOutput: 'a: 1' });
      const key = test.fleet.queue('summarize').toKey(job.id);
      for (const field of ['fleet:ledger:1', 'fleet:ledger:1:end', 'fleet:ledger:1:answer', 'fleet:usage']) {
        await test.fleet.client.hset(key, field, '');
      }
      await test.fleet.client.hset(key, 'fleet:ledger', 1);
      expect(await readJobFlags(test.fleet.client, key)).toEqual({ cancelled: false, usage: undefined });
      expect((await job.view()).usage.calls).toBe(0);
      await test.worker(runnerFor(api));
      expect((await job.result()).summary).toBe('yes');
      expect((await job.view()).usage.calls).toBe(1);
    } finally {
      await test.close();
    }
  });

  it('what a child left is damaged: the job fails with the record that is, not with the parser’s words alone', async () => {
    const test = await startTestFleet(redis, 'children');
    try {
      const { extract, summarize } = await addRefinementStep(test.fleet, {
        ablationCode: 'x = 1',
        rawOutput: 'a: 1',
        solution: { content: 'x = 1\n' },
        previousBlocks: [],
      });
      await test.worker(runnerFor(api), { kinds: ['summarize'] });
      await summarize.result();
      const record = `${test.fleet.queue('extract').toKey(extract.id)}:processed`;
      const [child = ''] = await test.fleet.client.hkeys(record);
      await test.fleet.client.hset(record, child, '');
      await test.worker(runnerFor(api), { kinds: ['extract'] });
      expect(await extract.wait()).toMatchObject({
        state: 'failed',
        error: { code: 'broken-record', message: expect.stringContaining(record) },
      });
    } finally {
      await test.close();
    }
  });
});
