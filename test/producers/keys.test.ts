import { describe, expect, it } from 'vitest';
import { addJob } from '../../src/producers/add-job.js';
import { addJobs } from '../../src/producers/add-jobs.js';
import { cancelJob } from '../../src/producers/cancel-job.js';
import { listDeadLetters } from '../../src/producers/dead-letters.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { addCandidateBatch } from '../../src/producers/flows/candidate-batch.js';
import { addGuardedEvaluation } from '../../src/producers/flows/guarded-evaluation.js';
import { addRefinementStep } from '../../src/producers/flows/refinement-step.js';
import { listJobs } from '../../src/producers/list-jobs.js';
import { retryJob } from '../../src/producers/retry-job.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { waitForJob } from '../../src/producers/wait-for-job.js';
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

describe('two submissions at once with one key and different follow-ups', () => {
  const again = { kind: 'solution-check', from: { solution: 'result.solution' } };
  const payloads = ['a', 'b'].map((name) => ({ ...payload(), then: [{ ...again, name }] }));
  const keys = Array.from({ length: 20 }, (_, at) => `k${at}`);

  it.each<[string, (fleet: FleetClient, own: (typeof payloads)[number], key: string) => Promise<unknown>]>([
    ['one by one', (fleet, own, key) => addSolutionCheck(fleet, own, { key })],
    [
      'in batches',
      async (fleet, own, key) => {
        const [outcome] = await addJobs(fleet, [{ kind: 'solution-check', payload: own, options: { key } }]);
        if (outcome !== undefined && 'error' in outcome) throw outcome.error;
      },
    ],
  ])('%s: one of them is rejected', async (_how, submit) => {
    const { fleet } = await startFleet();
    const other = await FleetClient.open({ redisUrl: redis.url, prefix: fleet.prefix });
    const clients = [fleet, other];
    const pairs = await Promise.all(
      keys.map((key) =>
        Promise.allSettled(payloads.map((own, at) => submit(clients[at] ?? fleet, own, key))),
      ),
    );
    await other.close();
    for (const pair of pairs) {
      const rejected = pair.filter(({ status }) => status === 'rejected');
      expect(rejected).toMatchObject([{ reason: { code: 'key-conflict' } }]);
    }
  });
});

describe('an option that does not exist is refused, and named', () => {
  const evaluation = { queue: 'evaluate', name: 'score' };
  const check = payload();
  const step = { ablationCode: 'x', rawOutput: '', previousBlocks: [], ...check };
  const id = 'solution-check-x';
  // Callers without types pass anything.
  const then = { then: [{ kind: 'solution-check', from: { solution: 'result.solution' } }] } as object;
  const budget = { budget: 1 } as object;

  it.each<[string, string, (fleet: FleetClient) => Promise<unknown>]>([
    ['of a job', 'then: .*belong in the payload', (fleet) => addJob(fleet, 'solution-check', check, then)],
    ['of a job', 'budget: .*budgetUsd', (fleet) => addJob(fleet, 'solution-check', check, budget)],
    [
      'of an evaluation',
      'budget: .*budgetUsd',
      (fleet) => addGuardedEvaluation(fleet, { ...check, evaluation }, budget),
    ],
    ['in an evaluation', 'then', (fleet) => addGuardedEvaluation(fleet, { ...check, evaluation, ...then })],
    ['of a batch', 'then', (fleet) => addCandidateBatch(fleet, { candidates: [check], evaluation }, then)],
    [
      'in a batch',
      'budget',
      (fleet) => addCandidateBatch(fleet, { candidates: [check], evaluation, ...budget }),
    ],
    [
      'of a candidate',
      'candidates\\[0\\].then',
      (fleet) => addCandidateBatch(fleet, { candidates: [{ ...check, ...then }], evaluation }),
    ],
    ['of a step', 'budget: .*budgetUsd', (fleet) => addRefinementStep(fleet, step, budget)],
    ['in a step', 'then', (fleet) => addRefinementStep(fleet, { ...step, ...then })],
    ['of a wait', 'timeoutMS: .*"timeoutMs"', (fleet) => waitForJob(fleet, id, { timeoutMS: 1 } as object)],
    [
      'of a wait, twice',
      'timeout: .*"timeoutMs"',
      (fleet) => waitForJob(fleet, id, { timeout: 1, timeoutMs: 1 }),
    ],
    [
      'of an evaluation',
      'evaluation.opts.attempt: .*"attempts"',
      (fleet) =>
        addGuardedEvaluation(fleet, {
          ...check,
          evaluation: { ...evaluation, opts: { attempt: 2 } as object },
        }),
    ],
    [
      'of the pauses between the tries of an evaluation',
      'evaluation.opts.backoff.dely: .*"delay"',
      (fleet) => {
        const opts = { attempts: 2, backoff: { type: 'fixed', dely: 5 } as object } as object;
        return addGuardedEvaluation(fleet, { ...check, evaluation: { ...evaluation, opts } });
      },
    ],
    [
      'no tries of an evaluation',
      'evaluation.opts.attempts: must be a whole number from 1',
      (fleet) =>
        addGuardedEvaluation(fleet, { ...check, evaluation: { ...evaluation, opts: { attempts: 0 } } }),
    ],
    [
      'no evaluation',
      'evaluation: must be an object',
      (fleet) => addGuardedEvaluation(fleet, check as never),
    ],
    ['no flow', 'options: must be an object', (fleet) => addGuardedEvaluation(fleet, null as never)],
    [
      'no candidates',
      'candidates: must be a list',
      (fleet) => addCandidateBatch(fleet, { evaluation } as never),
    ],
    [
      'no candidate',
      'candidates\\[0\\]: must be an object',
      (fleet) => addCandidateBatch(fleet, { candidates: [null as never], evaluation }),
    ],
    ['no list of jobs', 'items: must be a list', (fleet) => addJobs(fleet, null as never)],
    [
      'a key instead of options',
      'options: must be an object',
      (fleet) => addJob(fleet, 'solution-check', check, 'k' as never),
    ],
    ['no options of a client', 'options: must be an object', () => FleetClient.open(null as never)],
    [
      'of a job, by its nearest name',
      'budgetUSD: .*"budgetUsd"',
      (fleet) => addJob(fleet, 'solution-check', check, { budgetUSD: 1 } as object),
    ],
    ['of a list', 'tenant', (fleet) => listJobs(fleet, { tenant: 'a' } as object)],
    ['of dead letters', 'errorCode', (fleet) => listDeadLetters(fleet, { errorCode: 'x' } as object)],
    [
      'of a client',
      'retention',
      ({ prefix }) => FleetClient.open({ redisUrl: redis.url, prefix, retention: 1 } as { redisUrl: string }),
    ],
  ])('%s: %s', async (_of, message, act) => {
    const { fleet } = await startFleet();
    await expect(act(fleet)).rejects.toMatchObject({
      code: 'invalid-payload',
      message: expect.stringMatching(new RegExp(`^${message}`)),
    });
    expect(await fleet.client.keys(`${fleet.prefix}:*`)).toEqual([]);
  });

  it('in a batch of jobs, only for the job that has it', async () => {
    const { fleet } = await startFleet();
    const items = [
      { kind: 'solution-check', payload: check },
      { kind: 'solution-check', payload: check, key: 'k' },
    ];
    expect(await addJobs(fleet, items)).toMatchObject([
      { handle: { outcome: 'created' } },
      { error: { code: 'invalid-payload', field: 'key' } },
    ]);
  });
});

it('a client that was closed says so, whatever is asked of it', async () => {
  const { fleet } = await startFleet();
  const closed = await FleetClient.open({ redisUrl: redis.url, prefix: fleet.prefix });
  const { id } = await addSolutionCheck(closed, payload());
  await closed.close();
  for (const ask of [
    () => addSolutionCheck(closed, payload()),
    () => addJobs(closed, [{ kind: 'solution-check', payload: payload() }]),
    () => addGuardedEvaluation(closed, { ...payload(), evaluation: { queue: 'evaluate', name: 'score' } }),
    () => cancelJob(closed, id),
    () => retryJob(closed, id),
    () => waitForJob(closed, id),
    () => listJobs(closed),
    () => listDeadLetters(closed),
  ]) {
    await expect(ask()).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('this FleetClient is closed'),
    });
  }
});

it('a client without an address, and a payload without a script, say what is missing', async () => {
  const { fleet } = await startFleet();
  const open = FleetClient.open({} as { redisUrl: string });
  await expect(open).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringMatching(/^redisUrl: is missing/),
  });
  const script = addSolutionCheck(fleet, { script: 'x = 1' } as never);
  await expect(script).rejects.toMatchObject({
    field: 'solution',
    message: expect.stringContaining('solution: is missing (expected object); "script" is not a field here'),
  });
});
