import { describe, expect, it } from 'vitest';
import { cancelJob } from '../../src/producers/cancel-job.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { leaks, runnerFor } from '../support/agent-answers.js';
import { fleetOfTest, type TestFleet } from '../support/fleet.js';
import { errorReply, type MessagesApi, type Script } from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';

const payload = (content = 'x = 1\n') => ({ solution: { content } });

const redis = redisOfFile();
let test: TestFleet;
let api: MessagesApi;

async function startFleet(reply?: Script) {
  ({ test, api } = await fleetOfTest(redis, 'keys', reply));
  return test;
}

describe('keys', () => {
  it.each([
    'a:b',
    'a:b:c:d',
    '123',
    '0',
    '-1',
    '../x',
    '__proto__',
    'https://x.y/z?q=1',
    '✓ 😀',
    ' ',
    'k'.repeat(10_000),
  ])('%s is a key like any other', async (key) => {
    const { fleet } = await startFleet();
    const first = await addSolutionCheck(fleet, payload(), { key });
    const second = await addSolutionCheck(fleet, payload(), { key });
    expect([first.outcome, second.outcome]).toEqual(['created', 'existing']);
    expect(second.id).toBe(first.id);
    expect((await first.view()).state).toBe('waiting');
  });

  it('an empty one is rejected', async () => {
    const { fleet } = await startFleet();
    await expect(addSolutionCheck(fleet, payload(), { key: '' })).rejects.toMatchObject({ field: 'key' });
  });

  it('without one, equal payloads are two jobs', async () => {
    const { fleet } = await startFleet();
    const first = await addSolutionCheck(fleet, payload());
    expect((await addSolutionCheck(fleet, payload())).id).not.toBe(first.id);
  });

  it('of one kind say nothing about another', async () => {
    const { fleet } = await startFleet();
    const { addSummarize } = await import('../../src/producers/summarize.js');
    const check = await addSolutionCheck(fleet, payload(), { key: 'k' });
    const summary = await addSummarize(fleet, { ablationCode: 'x', rawOutput: '' }, { key: 'k' });
    expect(summary.outcome).toBe('created');
    expect(summary.id).not.toBe(check.id);
  });

  it('with another payload are rejected, whatever the outcome of the first job', async () => {
    const { fleet, worker } = await startFleet();
    const first = await addSolutionCheck(fleet, payload(), { key: 'k' });
    const other = () => addSolutionCheck(fleet, payload('y = 2\n'), { key: 'k' });
    await expect(other()).rejects.toMatchObject({ code: 'key-conflict', jobId: first.id });
    await worker(runnerFor(api));
    await first.result();
    await expect(other()).rejects.toMatchObject({ code: 'key-conflict' });
  });

  it('return the result, also after the end, and the agent is called once', async () => {
    const { fleet, worker } = await startFleet();
    await worker(runnerFor(api));
    const first = await addSolutionCheck(fleet, payload(), { key: 'k' });
    const result = await first.result();
    const second = await addSolutionCheck(fleet, payload(), { key: 'k' });
    expect(second.outcome).toBe('existing');
    expect(await second.result()).toEqual(result);
    expect(api.requests).toHaveLength(1);
  });

  it('run again after a failure', async () => {
    const { fleet, worker } = await startFleet([errorReply(401), leaks()]);
    await worker(runnerFor(api));
    const first = await addSolutionCheck(fleet, payload(), { key: 'k' });
    expect((await first.wait()).state).toBe('failed');
    const second = await addSolutionCheck(fleet, payload(), { key: 'k' });
    expect(second.outcome).toBe('retried');
    expect((await second.result()).status).toBe('clean');
  });

  it('run again after a cancellation', async () => {
    const { fleet, worker } = await startFleet();
    const first = await addSolutionCheck(fleet, payload(), { key: 'k' });
    await cancelJob(fleet, first.id);
    const second = await addSolutionCheck(fleet, payload(), { key: 'k' });
    expect(second.outcome).toBe('retried');
    await worker(runnerFor(api));
    expect((await second.result()).status).toBe('clean');
  });

  it('run again with force after success, but not while the first is running', async () => {
    const { fleet, worker } = await startFleet();
    const first = await addSolutionCheck(fleet, payload(), { key: 'k' });
    expect((await addSolutionCheck(fleet, payload(), { key: 'k', force: true })).outcome).toBe('existing');
    await worker(runnerFor(api));
    await first.result();
    const again = await addSolutionCheck(fleet, payload(), { key: 'k', force: true });
    expect(again.outcome).toBe('replaced');
    await again.result();
    expect(api.requests).toHaveLength(2);
  });

  it('submitted by many at once are one job', async () => {
    const { fleet, worker } = await startFleet();
    await worker(runnerFor(api));
    const handles = await Promise.all(
      Array.from({ length: 50 }, () => addSolutionCheck(fleet, payload(), { key: 'k' })),
    );
    await Promise.all(handles.map((handle) => handle.result()));
    expect(new Set(handles.map(({ id }) => id)).size).toBe(1);
    expect(api.requests).toHaveLength(1);
  });
});
