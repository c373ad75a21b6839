import { beforeEach, describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { MAX_CHILD_DEPTH } from '../../src/producers/add-child.js';
import { addJob } from '../../src/producers/add-job.js';
import { cancelJob } from '../../src/producers/cancel-job.js';
import type { FleetClient } from '../../src/producers/fleet-client.js';
import { retryJob } from '../../src/producers/retry-job.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { waitForJob } from '../../src/producers/wait-for-job.js';
import type { FollowUp } from '../../src/queues/follow-ups/contract.js';
import { correction, leaks, runnerFor } from '../support/agent-answers.js';
import { fleetOfTest, type TestFleet } from '../support/fleet.js';
import { errorReply, type MessagesApi, type Reply } from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';

const redis = redisOfFile();
const LEAKY = { solution: { content: 'a = fit(all)\nb = score(all)\n' } };
const CORRECTED = 'a = fit(train)\nb = score(all)\n';
const testCase = { id: 't', name: 't', difficulty: 'easy' as const };

let test: TestFleet;
let fleet: FleetClient;
let api: MessagesApi;
/** How the agent answers about other scripts. */
let onOther: () => Reply;

beforeEach(async () => {
  onOther = () => leaks();
  ({ test, api } = await fleetOfTest(redis, 'follow-ups', ({ text, body }) => {
    if (!text.includes('fit(all)')) return onOther();
    return body.output_config === undefined ? correction('a = fit(train)') : leaks('a = fit(all)');
  }));
  ({ fleet } = test);
});

const start = (options = {}) => test.worker(runnerFor(api), options);
const contamination: FollowUp = {
  kind: 'contamination',
  when: { status: ['clean', 'corrected'] },
  payload: { testCase },
  from: { output: 'result.solution.content' },
};
const again: FollowUp = { kind: 'solution-check', name: 'again', from: { solution: 'result.solution' } };

describe('a job with follow-ups', () => {
  it('starts those whose condition holds with the fields that they map, and says why it skipped others', async () => {
    await start({ concurrency: 1 });
    const uncorrected: FollowUp = { ...contamination, name: 'uncorrected', when: { status: 'uncorrected' } };
    const handle = await addSolutionCheck(fleet, {
      ...LEAKY,
      tags: { run: 'r', step: '2' },
      then: [contamination, uncorrected],
    });
    const view = await handle.wait();
    expect(view).toMatchObject({
      state: 'completed',
      result: { status: 'corrected', solution: { content: CORRECTED } },
      followUps: [
        {
          name: 'contamination',
          job: {
            state: 'completed',
            parent: handle.id,
            tags: { run: 'r', step: '2', parent: handle.id },
            result: { contaminated: false },
          },
        },
        { name: 'uncorrected', skipped: 'status is "corrected", not "uncorrected"' },
      ],
    });
    const { data } = (await fleet.queue('contamination').getJob(view.followUps?.[0]?.id ?? '')) ?? {};
    expect(data).toMatchObject({ output: CORRECTED, testCase });
    expect(api.requests).toHaveLength(2);
  });

  it('ends when the follow-ups of its follow-ups have ended, and shows them as a tree', async () => {
    await start();
    const handle = await addSolutionCheck(fleet, { ...LEAKY, then: [{ ...again, then: [contamination] }] });
    expect(await handle.result()).toMatchObject({ status: 'corrected' });
    expect(await handle.view()).toMatchObject({
      followUps: [{ job: { usage: { calls: 1 }, followUps: [{ job: { state: 'completed' } }] } }],
    });
    expect(api.requests).toHaveLength(3);
  });

  it('keeps its result if a follow-up fails, and the follow-up can be run again', async () => {
    onOther = () => errorReply(400, 'invalid_request_error');
    await start();
    const handle = await addSolutionCheck(fleet, { ...LEAKY, then: [again] });
    const view = await handle.wait();
    expect(view).toMatchObject({
      state: 'completed',
      result: { status: 'corrected' },
      followUps: [{ job: { state: 'failed', error: { code: 'bad-request' } } }],
    });
    onOther = () => leaks();
    const id = view.followUps?.[0]?.id ?? '';
    await retryJob(fleet, id);
    expect((await waitForJob(fleet, id)).state).toBe('completed');
    expect((await handle.view()).followUps).toMatchObject([{ job: { state: 'completed' } }]);
  });

  it('says why a follow-up could not be started when its result has no such field', async () => {
    await test.worker(createOfflineRunner());
    const handle = await addJob(fleet, 'extract', {
      solution: { content: 'x = 1\n' },
      summary: 'nothing',
      previousBlocks: ['x = 1\n'],
      then: [{ kind: 'contamination', payload: { testCase }, from: { output: 'result.codeBlock' } }],
    });
    const view = await handle.wait();
    expect(view.followUps).toEqual([
      {
        name: 'contamination',
        kind: 'contamination',
        error: {
          code: 'invalid-payload',
          message: 'contamination: output: the job has no result.codeBlock',
          retryable: false,
        },
      },
    ]);
  });

  it('says which value of its result a follow-up does not take', async () => {
    await start();
    const broken: FollowUp = { ...again, from: { ...again.from, verify: 'result.solutionDigest' } };
    const view = await (await addSolutionCheck(fleet, { ...LEAKY, then: [broken, contamination] })).wait();
    expect(view).toMatchObject({ state: 'completed', result: { status: 'corrected' } });
    const message = expect.stringMatching(
      /^solution-check: verify: .*; result.solutionDigest of the job is "[0-9a-f]{64}"$/,
    );
    expect(view.followUps).toMatchObject([
      { name: 'again', error: { code: 'invalid-payload', message } },
      { job: { state: 'completed' } },
    ]);
  });

  it('shows its result to a caller that does not follow it, and a cancellation keeps it', async () => {
    await start({ kinds: ['solution-check'] });
    const handle = await addSolutionCheck(fleet, { ...LEAKY, then: [contamination] });
    expect(await handle.result({ follow: false })).toMatchObject({ status: 'corrected' });
    const early = await handle.wait({ follow: false });
    expect(early).toMatchObject({ state: 'waiting-children', result: { status: 'corrected' } });
    await cancelJob(fleet, handle.id);
    const id = early.followUps?.[0]?.id ?? '';
    expect(await waitForJob(fleet, id)).toMatchObject({ state: 'cancelled' });
    await start({ kinds: ['contamination'] });
    await expect.poll(async () => (await handle.view()).endedAt).toBeDefined();
    expect(await handle.view()).toMatchObject({ state: 'cancelled', result: { status: 'corrected' } });
    expect(api.requests).toHaveLength(2);
  });

  it('is not processed again once it has its result, and starts no other follow-ups', async () => {
    const worker = await start({ kinds: ['solution-check'] });
    const handle = await addSolutionCheck(fleet, { ...LEAKY, then: [contamination] });
    const early = await handle.wait({ follow: false });
    await worker.stop(1_000);
    // As after a crash between the record of the result and the first follow-up.
    const key = fleet.jobKey('solution-check', handle.id);
    await fleet.queue('contamination').remove(early.followUps?.[0]?.id ?? '');
    const ledger = (await fleet.client.hkeys(key)).filter((field) => field.startsWith('fleet:ledger'));
    await fleet.client.hdel(key, 'fleet:children', ...ledger);
    await start();
    const view = await handle.wait();
    expect(view).toMatchObject({
      state: 'completed',
      followUps: [{ id: early.followUps?.[0]?.id, job: { state: 'completed' } }],
    });
    expect(api.requests).toHaveLength(2);
  });

  it('fails before it is paid for if it is too deep below other jobs to have follow-ups', async () => {
    const handle = await addSolutionCheck(fleet, { ...LEAKY, then: [contamination] });
    const key = fleet.jobKey('solution-check', handle.id);
    const opts = JSON.parse((await fleet.client.hget(key, 'opts')) ?? '{}');
    await fleet.client.hset(key, 'opts', JSON.stringify({ ...opts, fleet: { depth: MAX_CHILD_DEPTH } }));
    await start();
    expect(await handle.wait()).toMatchObject({ state: 'failed', error: { code: 'child-limit' } });
    expect(api.requests).toHaveLength(0);
  });

  it('completes on a worker that would not start its follow-ups in the same way', async () => {
    const worker = await start({ kinds: ['solution-check'] });
    const handle = await addSolutionCheck(fleet, { ...LEAKY, then: [contamination] });
    await handle.wait({ follow: false });
    await worker.stop(1_000);
    const stricter = { textLimits: { textBytes: 5, largeTextBytes: 5 } };
    await start(stricter);
    expect(await handle.wait()).toMatchObject({ state: 'completed', result: { status: 'corrected' } });
  });

  it('is left as it is by force while a follow-up runs again, and replaced after that', async () => {
    onOther = () => errorReply(400, 'invalid_request_error');
    await start();
    const submit = () => addSolutionCheck(fleet, { ...LEAKY, then: [again] }, { key: 'forced', force: true });
    const id = (await (await submit()).wait()).followUps?.[0]?.id ?? '';
    onOther = () => ({ kind: 'hang' });
    await retryJob(fleet, id);
    await api.arrived(4);
    expect((await submit()).outcome).toBe('existing');
    await cancelJob(fleet, id);
    await expect.poll(() => fleet.queue('solution-check').getJobState(id)).toBe('failed');
    onOther = () => leaks();
    expect((await submit()).outcome).toBe('replaced');
  });

  it('is another job than one of its key with other follow-ups', async () => {
    const handle = await addSolutionCheck(fleet, { ...LEAKY, then: [contamination] }, { key: 'k' });
    expect((await addSolutionCheck(fleet, { ...LEAKY, then: [contamination] }, { key: 'k' })).id).toBe(
      handle.id,
    );
    await expect(addSolutionCheck(fleet, { ...LEAKY, then: [again] }, { key: 'k' })).rejects.toMatchObject({
      code: 'key-conflict',
    });
  });
});
