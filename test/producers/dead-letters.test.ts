import { describe, expect, it } from 'vitest';
import { addJobs } from '../../src/producers/add-jobs.js';
import { cancelJob } from '../../src/producers/cancel-job.js';
import {
  discardDeadLetters,
  getDeadLetter,
  listDeadLetters,
  retryDeadLetters,
} from '../../src/producers/dead-letters.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { leaks, runnerFor } from '../support/agent-answers.js';
import { fleetOfTest, type TestFleet } from '../support/fleet.js';
import { errorReply, type MessagesApi, type Script, textReply } from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';

const LONG_SCRIPT = `${'# a long comment of a long script\n'.repeat(3_000)}x = 1\n`;

const redis = redisOfFile();
let test: TestFleet;
let api: MessagesApi;

async function startFleet(reply: Script = () => errorReply(400)) {
  ({ test, api } = await fleetOfTest(redis, 'dead', reply));
  await test.worker(runnerFor(api));
  return test.fleet;
}

async function fail(run: string, content = 'x = 1\n', tenant?: string) {
  const payload = { solution: { content }, tags: { run } };
  const job = await addSolutionCheck(test.fleet, payload, tenant === undefined ? {} : { tenant });
  await job.wait();
  return job;
}

describe('dead letters', () => {
  it('keep payload, error, ledger and cost', async () => {
    const fleet = await startFleet(() => textReply('no JSON at all'));
    const { id } = await fail('r', LONG_SCRIPT);
    const [listed] = await listDeadLetters(fleet);
    expect(listed).toMatchObject({ id, state: 'failed', error: { code: 'answer-invalid' } });
    const { job, payload, calls } = await getDeadLetter(fleet, id);
    expect(payload).toMatchObject({ solution: { content: LONG_SCRIPT }, tags: { run: 'r' } });
    expect(calls.length).toBeGreaterThan(0);
    expect(calls[0]).toMatchObject({ state: 'unusable' });
    expect(job.usage.calls).toBe(calls.length);
  });

  it('are few kilobytes however long the error is', async () => {
    const fleet = await startFleet(() => errorReply(400, 'long '.repeat(20_000)));
    const { id } = await fail('r');
    const key = fleet.queue('solution-check').toKey(id);
    expect((await getDeadLetter(fleet, id)).job.error?.message.length).toBeLessThan(8_100);
    expect(Number(await fleet.client.call('MEMORY', 'USAGE', key))).toBeLessThan(12_000);
  });

  it('are chosen by kind, run, tenant, code, age and id', async () => {
    const fleet = await startFleet();
    const a = await fail('a');
    const b = await fail('b', 'x = 1\n', 'someone');
    const ids = async (filter: Parameters<typeof listDeadLetters>[1]) =>
      (await listDeadLetters(fleet, filter)).map(({ id }) => id).sort();
    expect(await ids({})).toEqual([a.id, b.id].sort());
    expect(await ids({ run: 'a' })).toEqual([a.id]);
    expect(await ids({ tenant: 'a' })).toEqual([a.id]);
    expect(await ids({ tenant: 'someone' })).toEqual([b.id]);
    expect(await ids({ kind: 'extract' })).toEqual([]);
    expect(await ids({ code: 'bad-request' })).toHaveLength(2);
    expect(await ids({ code: 'overloaded' })).toEqual([]);
    expect(await ids({ olderThanMs: 3_600_000 })).toEqual([]);
    expect(await ids({ olderThanMs: 0, ids: [b.id] })).toEqual([b.id]);
  });

  it('do not include what was cancelled', async () => {
    const fleet = await startFleet(() => ({ kind: 'hang' }));
    const job = await addSolutionCheck(fleet, { solution: { content: 'x = 1\n' } });
    await api.arrived(1);
    await cancelJob(fleet, job.id);
    await job.wait();
    expect(await listDeadLetters(fleet)).toEqual([]);
    await expect(getDeadLetter(fleet, job.id)).rejects.toMatchObject({ code: 'usage' });
  });

  it('run again, and are dead letters no more', async () => {
    let answering = false;
    const fleet = await startFleet(() => (answering ? leaks() : errorReply(400)));
    const jobs = [await fail('a'), await fail('a'), await fail('b')];
    answering = true;
    const { done } = await retryDeadLetters(fleet, { run: 'a' });
    expect(done).toHaveLength(2);
    expect(await Promise.all(jobs.map(async (job) => (await job.wait()).state))).toEqual([
      'completed',
      'completed',
      'failed',
    ]);
    expect(await listDeadLetters(fleet)).toHaveLength(1);
  });

  it('are dropped permanently, but never all without a filter', async () => {
    const fleet = await startFleet();
    const a = await fail('a');
    await fail('b');
    await expect(discardDeadLetters(fleet, {})).rejects.toMatchObject({ code: 'usage' });
    await expect(discardDeadLetters(fleet, { ids: [] })).rejects.toMatchObject({ code: 'usage' });
    await expect(retryDeadLetters(fleet, {})).rejects.toMatchObject({ code: 'usage' });
    expect(await discardDeadLetters(fleet, { ids: [a.id, 'nobody'] })).toEqual({
      done: [a.id],
      refused: [{ id: 'nobody', reason: 'is not a dead letter' }],
    });
    await expect(a.view()).rejects.toMatchObject({ code: 'job-not-found' });
    expect(await listDeadLetters(fleet)).toHaveLength(1);
  });

  it('more than a page of them', async () => {
    // A page has two hundred.
    const COUNT = 210;
    const fleet = await startFleet();
    // Refused for their budget, before any call.
    const check = {
      kind: 'solution-check' as const,
      payload: { solution: { content: 'x = 1\n' }, tags: { run: 'many' }, model: 'claude-sonnet-5-5' },
      options: { budgetUsd: 0.000_001 },
    };
    const jobs = await addJobs(
      fleet,
      Array.from({ length: COUNT }, () => check),
    );
    await Promise.all(jobs.map((job) => ('handle' in job ? job.handle.wait() : undefined)));
    expect(await listDeadLetters(fleet, {}, 1_000)).toHaveLength(COUNT);
    expect((await discardDeadLetters(fleet, { run: 'many' })).done).toHaveLength(COUNT);
    expect(jobs).toHaveLength(COUNT);
    expect(await listDeadLetters(fleet)).toEqual([]);
  });
});
