import { beforeEach, describe, expect, it } from 'vitest';
import { costsOfRun } from '../../src/calls/budget/read-costs.js';
import { findUnservedChildren } from '../../src/fleet/doctor/waiting-parents.js';
import { sweepPayloads } from '../../src/payloads/sweep-payloads.js';
import { cancelJob, makeDue } from '../../src/producers/cancel-job.js';
import { retryDeadLetters } from '../../src/producers/dead-letters.js';
import { findJob } from '../../src/producers/find-job.js';
import type { FleetClient } from '../../src/producers/fleet-client.js';
import { checkedSolution } from '../../src/producers/flows/checked-solution.js';
import { addGuardedEvaluation } from '../../src/producers/flows/guarded-evaluation.js';
import { retryJob } from '../../src/producers/retry-job.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { waitForJob } from '../../src/producers/wait-for-job.js';
import { correction, leaks, runnerFor } from '../support/agent-answers.js';
import { fleetOfTest, type TestFleet } from '../support/fleet.js';
import {
  errorReply,
  type MessageReply,
  type MessagesApi,
  type RecordedRequest,
  type Reply,
} from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';
import { sandboxOfMachine, TRIAL_SETTINGS } from '../support/trials.js';

const redis = redisOfFile();
const sandbox = await sandboxOfMachine();
const SCRIPT = 'a = fit(all)\nb = score(all)\n';
const VERIFIED = { solution: { content: SCRIPT }, verify: 'agent' as const };

let test: TestFleet;
let fleet: FleetClient;
let api: MessagesApi;
/** How the agent answers about the corrected script. */
let onSecondCheck: (request: RecordedRequest) => Reply | Promise<Reply>;

/** What the correction used. */
let correctionUsage: MessageReply['usage'];

beforeEach(async () => {
  onSecondCheck = () => leaks();
  correctionUsage = { input_tokens: 100, output_tokens: 20 };
  ({ test, api } = await fleetOfTest(redis, 'children', (request) => {
    if (!request.text.includes('fit(all)')) return onSecondCheck(request);
    if (isDetection(request)) return leaks('a = fit(all)');
    return { ...correction('a = fit(train)'), usage: correctionUsage };
  }));
  ({ fleet } = test);
});

const isDetection = ({ body }: RecordedRequest) => body.output_config !== undefined;
const start = (options = {}) => test.worker(runnerFor(api), options);

/** Ids of the jobs of a run that are children. */
async function childrenOf(run: string): Promise<string[]> {
  const keys = await fleet.client.zrange(`${fleet.prefix}::run:${run}`, '0', '-1');
  const parents = await Promise.all(keys.map((key) => fleet.client.hget(key, 'parentKey')));
  return keys.filter((_, at) => parents[at] !== null).map((key) => key.split(':').slice(2).join(':'));
}

describe('a corrected script that is to be verified', () => {
  it('is checked again in a child job, while the job gives its only slot back and pays for nothing twice', async () => {
    await start({ concurrency: 1 });
    const handle = await addSolutionCheck(fleet, { ...VERIFIED, tags: { run: 'r1', step: '2' } });
    const result = await handle.result();
    expect(result).toMatchObject({
      status: 'corrected',
      solution: { content: 'a = fit(train)\nb = score(all)\n' },
      notes: ['the agent checked the corrected script again and found no leakage'],
    });
    expect(api.requests).toHaveLength(3);
    const view = await handle.view();
    expect([view.attempts, view.usage.calls]).toEqual([1, 2]);
    const [child = ''] = await childrenOf('r1');
    expect((await findJob(fleet, child)).job.data.tags).toEqual({ run: 'r1', step: '2', parent: handle.id });
    expect((await costsOfRun(fleet.client, fleet.prefix, 'r1')).calls).toBe(3);
  });

  it('is not checked again if nothing was corrected', async () => {
    await start();
    const handle = await addSolutionCheck(fleet, { solution: { content: 'x = 1\n' }, verify: 'agent' });
    expect((await handle.result()).status).toBe('clean');
    expect(api.requests).toHaveLength(1);
  });

  it('has trials in both checks, and fails finally, before any call, on a worker without a sandbox', async () => {
    const trial = { ...VERIFIED, trial: true, tags: { run: 'tried' } };
    const worker = await start({ trials: { sandbox: 'off' } });
    const { check } = await addGuardedEvaluation(fleet, {
      ...trial,
      evaluation: { queue: 'evaluate', name: 'score' },
    });
    const failed = await check.wait();
    expect(failed).toMatchObject({ state: 'failed', attempts: 1, error: { code: 'trial-unavailable' } });
    expect(failed.error?.message).toContain('switched off');
    expect(api.requests).toHaveLength(0);
    if (sandbox === undefined) return;
    await worker.stop(0);
    await start({ trials: TRIAL_SETTINGS });
    await retryJob(fleet, check.id);
    const notPossible = { trial: { passed: 0, refused: 0, notPossible: 1 } };
    expect(await check.result()).toMatchObject({ status: 'corrected', ...notPossible });
    const [child = ''] = await childrenOf('tried');
    expect((await findJob(fleet, child)).job.data).toMatchObject({ trial: true });
  });

  it('has the second corrections too, and an evaluation gets that script', async () => {
    onSecondCheck = (request) =>
      isDetection(request) ? leaks('b = score(all)') : correction('b = score(valid)');
    await start();
    const { evaluation, check } = await addGuardedEvaluation(fleet, {
      ...VERIFIED,
      evaluation: { queue: 'evaluate', name: 'score' },
    });
    const result = await check.result();
    expect(result).toMatchObject({
      status: 'corrected',
      findings: [{ correctedBlock: 'a = fit(train)' }, { correctedBlock: 'b = score(valid)' }],
    });
    const { job } = await findJob(fleet, evaluation.id, 'evaluate');
    const { solution } = await checkedSolution(job);
    expect(solution.content).toBe('a = fit(train)\nb = score(valid)\n');
  });

  it('is not corrected if the second check finds a leak that stays', async () => {
    onSecondCheck = (request) => (isDetection(request) ? leaks('b = score(all)') : correction('b = ('));
    await start();
    const result = await (await addSolutionCheck(fleet, VERIFIED)).result();
    expect(result.status).toBe('partly-corrected');
    expect(result.findings.map(({ outcome }) => outcome)).toEqual(['corrected', 'uncorrected']);
  });

  it('fails with its second check, and a retry pays for that check alone', async () => {
    onSecondCheck = () => errorReply(400);
    await start();
    const handle = await addSolutionCheck(fleet, { ...VERIFIED, tags: { run: 'again' } });
    const failed = await handle.wait();
    expect(failed).toMatchObject({ state: 'failed', attempts: 1, error: { code: 'child-failed' } });
    expect(failed.error?.message).toContain('(bad-request)');
    expect(api.requests).toHaveLength(3);
    onSecondCheck = () => leaks();
    await retryJob(fleet, handle.id);
    expect((await handle.wait()).state).toBe('completed');
    expect(api.requests).toHaveLength(4);
    expect(await childrenOf('again')).toHaveLength(1);
  });

  it('continues after a person retries the second check', async () => {
    onSecondCheck = () => errorReply(400);
    await start();
    const handle = await addSolutionCheck(fleet, { ...VERIFIED, tags: { run: 'child' } });
    await handle.wait();
    onSecondCheck = () => leaks();
    const [child = ''] = await childrenOf('child');
    await retryJob(fleet, child);
    expect((await waitForJob(fleet, child)).state).toBe('completed');
    await expect.poll(async () => (await handle.view()).state).toBe('completed');
    expect(api.requests).toHaveLength(4);
  });

  it('is not checked any more once its job is cancelled', async () => {
    let asked: RecordedRequest | undefined;
    onSecondCheck = (request) => {
      asked = request;
      return new Promise(() => undefined);
    };
    await start();
    const handle = await addSolutionCheck(fleet, { ...VERIFIED, tags: { run: 'stop' } });
    await api.arrived(3);
    await expect.poll(async () => (await handle.view()).state).toBe('waiting-children');
    await cancelJob(fleet, handle.id);
    await asked?.aborted;
    const [child = ''] = await childrenOf('stop');
    expect((await waitForJob(fleet, child)).state).toBe('cancelled');
    await expect.poll(async () => (await findJob(fleet, handle.id)).job.getState()).toBe('failed');
    expect((await handle.view()).state).toBe('cancelled');
  });

  it.each([
    [
      'became due',
      (id: string) =>
        fleet
          .queue('solution-check')
          .getJob(id)
          .then((job) => job?.promote()),
    ],
    ['was removed', (id: string) => fleet.queue('solution-check').remove(id)],
  ])('and is delayed is made due by its cancellation, unless it %s meanwhile', async (_name, meanwhile) => {
    const { id } = await addSolutionCheck(fleet, VERIFIED, { delayMs: 600_000 });
    const { job } = await findJob(fleet, id);
    await meanwhile(id);
    await makeDue(job);
    const { id: other } = await addSolutionCheck(fleet, VERIFIED, { delayMs: 600_000 });
    await cancelJob(fleet, other);
    expect(await fleet.queue('solution-check').getDelayedCount()).toBe(0);
  });

  it('starts its second check again if it is cancelled and then submitted again', async () => {
    onSecondCheck = () => new Promise(() => undefined);
    await start();
    const tags = { run: 'resubmitted' };
    const handle = await addSolutionCheck(fleet, { ...VERIFIED, tags }, { key: 'k' });
    await api.arrived(3);
    await expect.poll(async () => (await handle.view()).state).toBe('waiting-children');
    await cancelJob(fleet, handle.id);
    onSecondCheck = () => leaks();
    const again = await addSolutionCheck(fleet, { ...VERIFIED, tags }, { key: 'k' });
    expect(again.outcome).toBe('retried');
    expect(await again.wait()).toMatchObject({ state: 'completed', result: { status: 'corrected' } });
    expect(api.requests).toHaveLength(4);
  });

  it('brings its evaluation back if a person retries it, or the second check', async () => {
    onSecondCheck = () => errorReply(400);
    await start();
    const { evaluation, check } = await addGuardedEvaluation(fleet, {
      ...VERIFIED,
      tags: { run: 'evaluated' },
      evaluation: { queue: 'evaluate', name: 'score' },
    });
    expect((await check.wait()).state).toBe('failed');
    onSecondCheck = () => leaks();
    const { done, refused } = await retryDeadLetters(fleet, { run: 'evaluated' });
    expect([done.length, refused.length]).toEqual([2, 0]);
    await expect.poll(async () => (await check.view()).state).toBe('completed');
    await expect
      .poll(async () => (await findJob(fleet, evaluation.id, 'evaluate')).job.getState())
      .toBe('prioritized');
    expect(api.requests).toHaveLength(4);
  });

  it('waits on another worker if the first one stops', async () => {
    let answer: (reply: Reply) => void = () => undefined;
    onSecondCheck = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    const first = await start();
    const handle = await addSolutionCheck(fleet, VERIFIED);
    await api.arrived(3);
    await first.stop(0);
    onSecondCheck = () => leaks();
    await start();
    expect((await handle.result()).status).toBe('corrected');
    answer(leaks());
  });

  it('waits for a kind that no worker serves, and says so; meanwhile neither its time nor its texts run out', async () => {
    const long = { content: `${SCRIPT}# ${'x'.repeat(100_000)}\n` };
    const testCase = { id: 'digits', name: 'Digits', difficulty: 'easy' as const };
    const timeoutMs = 8_000;
    await start({ kinds: ['solution-check'], jobTimeoutMs: timeoutMs });
    const handle = await addSolutionCheck(fleet, {
      ...VERIFIED,
      solution: long,
      contamination: { testCase },
      tags: { run: 'unserved' },
    });
    const reason = expect.stringContaining('no connected worker serves the kind contamination');
    await expect.poll(() => handle.view()).toMatchObject({ state: 'waiting-children', waitReason: reason });
    const unserved = () => findUnservedChildren(fleet.client, fleet.prefix, fleet.kinds.names);
    expect(await unserved()).toEqual([
      { problem: 'unserved-child', queue: 'solution-check', id: handle.id, detail: reason },
    ]);
    // The second check is over and removed, and nothing but the waiting job needs its texts.
    const [verified] = await fleet.queue('solution-check').getCompleted();
    await verified?.remove();
    const sweep = () => sweepPayloads(fleet.client, fleet.prefix, { graceMs: 0 });
    await sweep();
    const waitingSince = Date.parse((await handle.view()).startedAt ?? '');
    await expect.poll(() => Date.now() - waitingSince).toBeGreaterThan(timeoutMs);

    await start({ kinds: ['contamination'] });
    expect(await unserved()).toEqual([]);
    const result = await handle.result();
    expect(result).toMatchObject({ status: 'corrected', contamination: { status: 'not-compared' } });
    expect(result.solution.content).toHaveLength(long.content.length + 'train'.length - 'all'.length);
    const view = await handle.view();
    expect([view.attempts, 'waitReason' in view, api.requests.length]).toEqual([1, false, 3]);

    for (const kind of ['solution-check', 'contamination'])
      await fleet.queue(kind).obliterate({ force: true });
    expect(await sweep()).not.toEqual([]);
    expect(await fleet.client.keys(`${fleet.prefix}*payload*`)).toEqual([]);
  });

  it('pays with the budget of its job if it has no run', async () => {
    await start();
    const handle = await addSolutionCheck(fleet, VERIFIED, { budgetUsd: 5, tenant: 'team' });
    await handle.result();
    const { calls } = await costsOfRun(fleet.client, fleet.prefix, `job ${handle.id}`);
    expect(calls).toBe(3);
  });

  it.each([
    ['a job without a run', {}],
    ['a job of a run', { tags: { run: 'r3' } }],
  ])('runs again under the raised budget of %s, which pays for nothing twice', async (_, tags) => {
    correctionUsage = { input_tokens: 1_000_000, output_tokens: 20 };
    await start();
    const submit = (budgetUsd: number) =>
      addSolutionCheck(fleet, { ...VERIFIED, ...tags }, { key: 'k', budgetUsd });
    const handle = await submit(1);
    expect((await handle.wait()).error?.code).toBe('child-failed');
    const [child] = await fleet.queue('solution-check').getFailed();
    expect(child?.failedReason).toContain('budget-exhausted');
    expect((await submit(50)).outcome).toBe('retried');
    expect(await handle.result()).toMatchObject({ status: 'corrected', usage: { reusedCalls: 2 } });
    expect(api.requests).toHaveLength(3);
    const run = 'tags' in tags ? 'r3' : `job ${handle.id}`;
    expect(await costsOfRun(fleet.client, fleet.prefix, run)).toMatchObject({ calls: 3, budgetUsd: 50 });
  });
});
