import { describe, expect, it } from 'vitest';
import { costsOfDay, costsOfRun } from '../../src/calls/budget/read-costs.js';
import { addJob } from '../../src/producers/add-job.js';
import { cancelJob } from '../../src/producers/cancel-job.js';
import { retryJob } from '../../src/producers/retry-job.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { readCallRecords } from '../../src/queues/call-record.js';
import { correction, leaks, runnerFor } from '../support/agent-answers.js';
import { fleetOfTest } from '../support/fleet.js';
import {
  errorReply,
  jsonReply,
  overloadedReply,
  rateLimitReply,
  type Script,
  textReply,
} from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';

const SCRIPT = 'a = fit(all)\nprint(a)\n';
const PAYLOAD = { solution: { content: SCRIPT } };

const redis = redisOfFile();

async function startFleet(reply: Script) {
  const { test, api } = await fleetOfTest(redis, 'calls', reply);
  return { ...test, server: api, runner: runnerFor(api) };
}

describe('a job that runs again', () => {
  it('after a failure, retried by a person: replays the answers and sends only the missing calls', async () => {
    const { fleet, worker, runner, server } = await startFleet([
      leaks('a = fit(all)'),
      errorReply(401),
      correction('a = fit(train)'),
    ]);
    await worker(runner);
    const handle = await addSolutionCheck(fleet, PAYLOAD);
    await handle.wait();
    await retryJob(fleet, handle.id);
    const result = await handle.result();
    expect(result).toMatchObject({ status: 'corrected', usage: { calls: 1, reusedCalls: 1 } });
    expect(server.requests).toHaveLength(3);
    // The cost of the job over both attempts: two answers; the rejected call is free.
    expect((await handle.view()).usage).toMatchObject({ calls: 2, reusedCalls: 1, inputTokens: 200 });
  });

  it('by itself, after a failure in passing: the same', async () => {
    const { fleet, worker, runner, server } = await startFleet([
      leaks('a = fit(all)'),
      errorReply(500),
      errorReply(500),
      correction('a = fit(train)'),
    ]);
    await worker(runner);
    const handle = await addSolutionCheck(fleet, PAYLOAD);
    const result = await handle.result();
    expect(result.usage).toMatchObject({ calls: 1, reusedCalls: 1 });
    expect(server.requests).toHaveLength(4);
  });

  it('handed back by a stopping worker: the same, and the aborted call is in doubt', async () => {
    const { fleet, worker, runner, server } = await startFleet([
      leaks('a = fit(all)'),
      { kind: 'hang' },
      correction('a = fit(train)'),
    ]);
    const first = await worker(runner);
    const handle = await addSolutionCheck(fleet, PAYLOAD);
    await server.arrived(2);
    await first.stop(0);
    expect((await handle.view()).callsInDoubt).toMatchObject([{ step: 'correct-1-1', turn: 1 }]);
    await worker(runner);
    expect((await handle.result()).usage).toMatchObject({ calls: 1, reusedCalls: 1 });
    expect(server.requests).toHaveLength(3);
  });

  it('with a call of unknown end waits for a person where that is wanted, and a retry sends the call again', async () => {
    const { fleet, worker, runner, server } = await startFleet([{ kind: 'hang' }, leaks()]);
    const calls = { callsInDoubt: 'park' } as const;
    const first = await worker(runner, { calls });
    const handle = await addSolutionCheck(fleet, PAYLOAD);
    await server.arrived(1);
    await first.stop(0);
    await worker(runner, { calls });
    expect(await handle.wait()).toMatchObject({
      state: 'failed',
      error: { code: 'call-in-doubt', retryable: false },
      callsInDoubt: [{ step: 'detect', turn: 1 }],
    });
    expect(server.requests).toHaveLength(1);
    // What the board does, without the fleet's code.
    const job = await fleet.queue('solution-check').getJob(handle.id);
    await job?.retry('failed');
    expect((await handle.result()).status).toBe('clean');
    expect(server.requests).toHaveLength(2);
  });

  it('because it was submitted again with force: sends every call again', async () => {
    const { fleet, worker, runner, server } = await startFleet([leaks(), leaks()]);
    await worker(runner);
    const first = await addSolutionCheck(fleet, PAYLOAD, { key: 'k' });
    await first.result();
    const second = await addSolutionCheck(fleet, PAYLOAD, { key: 'k', force: true });
    expect(second.id).toBe(first.id);
    expect((await second.result()).usage).toMatchObject({ calls: 1, reusedCalls: 0 });
    expect(server.requests).toHaveLength(2);
  });
});

describe('answers of other jobs', () => {
  const REUSE = { reuse: 'fleet' } as const;

  it('serve jobs of other runs that allow it, whole conversations long, at no cost and without a budget', async () => {
    const { fleet, worker, runner, server } = await startFleet([
      leaks('a = fit(all)'),
      correction('a = fit(train)'),
    ]);
    await worker(runner);
    const first = await (await addSolutionCheck(fleet, PAYLOAD)).result();
    const tags = { run: 'another' };
    const second = await addSolutionCheck(fleet, { ...PAYLOAD, tags }, { ...REUSE, budgetUsd: 0 });
    const { usage, ...result } = await second.result();
    expect(usage).toMatchObject({ calls: 0, reusedCalls: 2, costUsd: 0, inputTokens: 0 });
    expect({ ...result, usage: first.usage }).toEqual(first);
    expect((await second.view()).usage).toEqual(usage);
    expect(server.requests).toHaveLength(2);
    expect(await costsOfRun(fleet.client, fleet.prefix, 'another')).toMatchObject({
      reusedCalls: 2,
      calls: 0,
    });
  });

  it('serve only jobs of the same tenant', async () => {
    const { fleet, worker, runner, server } = await startFleet(() => leaks());
    await worker(runner, { calls: REUSE });
    for (const [tenant, requests] of [
      ['a', 1],
      ['b', 2],
      ['a', 2],
      [undefined, 3],
      ['b', 3],
    ] as const) {
      const job = await addSolutionCheck(fleet, PAYLOAD, tenant === undefined ? {} : { tenant });
      await job.result();
      expect(server.requests).toHaveLength(requests);
    }
  });

  it('serve others no more once they proved unusable', async () => {
    const unusable = correction('a = = 1');
    const { fleet, worker, runner, server } = await startFleet([
      leaks('a = fit(all)'),
      unusable,
      correction('a = fit(train)'),
      unusable,
    ]);
    await worker(runner);
    const first = await (await addSolutionCheck(fleet, PAYLOAD)).result();
    const second = await (await addSolutionCheck(fleet, PAYLOAD, REUSE)).result();
    expect(second).toMatchObject({ status: 'corrected', solution: first.solution });
    expect(second.usage).toMatchObject({ calls: 1, reusedCalls: 2 });
    expect(server.requests).toHaveLength(4);
  });

  it('serve a child of the job as well, and a job that runs again with another choice', async () => {
    const { fleet, worker, runner, server } = await startFleet([
      leaks('a = fit(all)'),
      correction('a = fit(train)'),
      leaks(),
    ]);
    await worker(runner);
    const payload = { ...PAYLOAD, verify: 'agent' } as const;
    await (await addSolutionCheck(fleet, payload)).result();
    await (await addSolutionCheck(fleet, payload, REUSE)).result();
    const again = { key: 'again', budgetUsd: 0 };
    const refused = await addSolutionCheck(fleet, payload, again);
    expect(await refused.wait()).toMatchObject({ error: { code: 'budget-exhausted' } });
    await (await addSolutionCheck(fleet, payload, { ...again, ...REUSE })).result();
    expect(server.requests).toHaveLength(3);
  });
});

it('the ledger is in the job’s own hash and is gone with it', async () => {
  const { fleet, worker, runner } = await startFleet([leaks()]);
  await worker(runner);
  const handle = await addSolutionCheck(fleet, PAYLOAD);
  await handle.result();
  const queue = fleet.queue('solution-check');
  const key = queue.toKey(handle.id);
  expect(await readCallRecords(fleet.client, key)).toMatchObject([{ step: 'detect', state: 'answered' }]);
  await (await queue.getJob(handle.id))?.remove();
  expect(await fleet.client.keys(`${key}*`)).toEqual([]);
});

describe('what the agent says to leaks that only static analysis found', () => {
  /** Trained on all rows: static analysis is certain of it, and of its rewrite. */
  const trainedOnAll = [
    'import pandas as pd',
    'from sklearn.linear_model import Ridge',
    'from sklearn.model_selection import train_test_split',
    'data = pd.read_csv("train.csv")',
    'y = data.pop("target")',
    'X_train, X_val, y_train, y_val = train_test_split(data, y, random_state=0)',
    'model = Ridge().fit(data, y)',
    'print("Final Validation Performance:", model.score(X_val, y_val))',
    '',
  ].join('\n');
  const copies = 'for least in (1, 2):\n    data = pd.concat([data, data[data["target"] > least]])';
  /** Copies of rows on both sides: certain, and without a rewrite in a loop, so the agent makes the correction. */
  const copied = trainedOnAll
    .replace('y = data', `${copies}\ny = data`)
    .replace('fit(data, y)', 'fit(X_train, y_train)');
  const withoutCopies = correction(trainedOnAll.split('\n').slice(4, 6).join('\n'));
  const denied = leaks();
  const objection = jsonReply({
    answers: [{ leakage_status: 'No Data Leakage', code_block: '', reason: 'The rows are simulated.' }],
  });

  async function checkUnder(reply: Script, content: string, options: { budgetUsd?: number } = {}) {
    const test = await startFleet(reply);
    const first = await test.worker(test.runner);
    const handle = await addSolutionCheck(test.fleet, { solution: { content } }, options);
    const key = test.fleet.queue('solution-check').toKey(handle.id);
    const states = async () =>
      (await readCallRecords(test.fleet.client, key)).map(({ step, state }) => `${step} ${state}`);
    return { ...test, first, handle, states };
  }

  it('is a call of the ledger, and is paid and asked for once though the worker stops afterwards', async () => {
    const { server, first, handle, states, worker, runner } = await checkUnder(
      [denied, objection, { kind: 'hang' }, withoutCopies],
      copied,
    );
    await server.arrived(3);
    await first.stop(0);
    expect(await states()).toEqual(['detect answered', 'object answered', 'correct-1-1 in-doubt']);
    await worker(runner);
    const { findings, usage } = await handle.result();
    expect(findings[1]).toMatchObject({ source: 'analysis', agreedBy: ['analysis'], outcome: 'corrected' });
    expect(findings[1]?.objection).toContain('The rows are simulated.');
    expect(usage).toMatchObject({ calls: 1, reusedCalls: 2 });
    expect((await handle.view()).usage).toMatchObject({ calls: 3, inputTokens: 300 });
    expect(server.requests).toHaveLength(4);
  });

  it('in doubt is sent again like every call in doubt, and the detection is not', async () => {
    const { server, first, handle, states, worker, runner } = await checkUnder(
      [denied, { kind: 'hang' }, objection],
      trainedOnAll,
    );
    await server.arrived(2);
    await first.stop(0);
    await worker(runner);
    expect((await handle.result()).usage).toMatchObject({ calls: 1, reusedCalls: 1 });
    expect(await states()).toEqual(['detect answered', 'object in-doubt', 'object answered']);
  });

  it('is not asked for again if it was unusable, and the leak counts without it', async () => {
    const nonsense = [1, 2, 3].map((time) => textReply(`no JSON ${time}`));
    const { server, first, handle, worker, runner } = await checkUnder(
      [denied, ...nonsense, { kind: 'hang' }, withoutCopies],
      copied,
    );
    await server.arrived(5);
    await first.stop(0);
    await worker(runner);
    const { findings, notes, usage } = await handle.result();
    expect(findings[1]).toMatchObject({ source: 'analysis', agreedBy: ['analysis'], outcome: 'corrected' });
    expect(notes).toContain('the agent gave no usable answer about a leak that only static analysis found');
    expect(usage).toMatchObject({ calls: 1, reusedCalls: 4 });
    expect(server.requests).toHaveLength(6);
  });

  it('is not asked for if the budget is used up: the leak is a finding, and a note says so', async () => {
    const costly = { ...denied, usage: { input_tokens: 1_000_000, output_tokens: 20 } };
    const { server, handle, states } = await checkUnder([costly], trainedOnAll, { budgetUsd: 1 });
    const { status, findings, notes, usage } = await handle.result();
    expect(status).toBe('corrected');
    expect(findings[1]).toMatchObject({ source: 'analysis', agreedBy: ['analysis'], outcome: 'corrected' });
    expect(findings[1]?.objection).toBeUndefined();
    expect(notes).toContain(
      'the budget is used up, so the agent was not asked about a leak that only static analysis found',
    );
    expect(usage.calls).toBe(1);
    expect(await states()).toEqual(['detect answered']);
    expect(server.requests).toHaveLength(1);
  });

  it('counts in the budget', async () => {
    const usage = { input_tokens: 1_000, output_tokens: 20 };
    const { handle, fleet } = await checkUnder(
      [
        { ...denied, usage },
        { ...objection, usage },
      ],
      trainedOnAll,
      {
        budgetUsd: 50,
      },
    );
    const { usage: used } = await handle.result();
    expect(used).toMatchObject({ calls: 2, inputTokens: 2_000 });
    const costs = await costsOfRun(fleet.client, fleet.prefix, `job ${handle.id}`);
    expect(costs).toMatchObject({ calls: 2, reservedUsd: 0 });
  });
});

describe('a fleet that is turned away', () => {
  it('six times with 429 uses no attempt of three, and the job succeeds', async () => {
    const { fleet, worker, runner, server } = await startFleet((_, index) =>
      index < 6 ? rateLimitReply('0.02') : leaks(),
    );
    await worker(runner, { calls: { shortWaitMs: 0 } });
    const handle = await addSolutionCheck(fleet, PAYLOAD);
    expect((await handle.result()).usage.calls).toBe(1);
    expect(await handle.view()).toMatchObject({ state: 'completed', attempts: 1, usage: { calls: 1 } });
    expect(server.requests).toHaveLength(7);
  });

  it('waits without a slot: another model’s job continues in the only one', async () => {
    const { fleet, worker, runner, server } = await startFleet((request) =>
      request.body.model === 'claude-test' ? rateLimitReply('3600') : leaks(),
    );
    await worker(runner, { concurrency: 1 });
    const waiting = await addSolutionCheck(fleet, PAYLOAD);
    await server.arrived(1);
    const other = await addSolutionCheck(fleet, { ...PAYLOAD, model: 'claude-other' });
    expect((await other.result()).status).toBe('clean');
    expect(await waiting.view()).toMatchObject({ state: 'delayed', attempts: 0 });
  });

  it('by the prompt cache waits without a slot too, and a job with other instructions continues', async () => {
    let begin: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const { fleet, worker, runner, server, logged } = await startFleet(async (_, index) => {
      if (index === 0) await begun;
      return leaks();
    });
    const options = { concurrency: 1, calls: { shortWaitMs: 0 } };
    await worker(runner, options);
    const first = await addSolutionCheck(fleet, PAYLOAD);
    await server.arrived(1);
    await worker(runner, options);
    const waiting = await addSolutionCheck(fleet, PAYLOAD, { priority: 9 });
    await logged('frees its slot');
    const other = await addSolutionCheck(fleet, { ...PAYLOAD, model: 'claude-other' });
    expect((await other.result()).status).toBe('clean');
    expect(await waiting.view()).toMatchObject({ attempts: 0 });
    expect(server.requests).toHaveLength(2);
    begin();
    await Promise.all([first, waiting].map((handle) => handle.result()));
    expect(server.requests).toHaveLength(3);
  });

  it('for ten days says so on the job', async () => {
    const { fleet, worker, runner, logged } = await startFleet(() => rateLimitReply('864000'));
    await worker(runner);
    const handle = await addSolutionCheck(fleet, PAYLOAD);
    await logged('frees its slot');
    await logged('quota exhausted until');
    const { logs } = await fleet.queue('solution-check').getJobLogs(handle.id);
    expect(logs.join('\n')).toContain('quota exhausted until');
    const view = await handle.view();
    expect(view.progress).toContain('quota exhausted until');
    await handle.cancel();
    expect((await handle.wait()).state).toBe('cancelled');
  });

  it('for longer than it may fails for good, with an error of its own, and can be retried', async () => {
    let open = false;
    const { fleet, worker, runner } = await startFleet(() => (open ? leaks() : rateLimitReply('0.05')));
    await worker(runner, { calls: { callWaitMs: 200 } });
    const handle = await addSolutionCheck(fleet, PAYLOAD);
    expect(await handle.wait()).toMatchObject({
      state: 'failed',
      error: { code: 'quota-exhausted', retryable: false },
      attempts: 1,
    });
    open = true;
    await retryJob(fleet, handle.id);
    expect((await handle.result()).status).toBe('clean');
  });

  it('is quiet as one: 4 workers with 3 jobs each send nothing until the reset, then one probe, then the rest', async () => {
    const SLOTS = 12;
    const RESET_MS = 2_000;
    const arrivals: number[] = [];
    let rejectedAt = 0;
    let probeAnsweredAt = 0;
    const { fleet, worker, runner, server } = await startFleet(async (_, index) => {
      arrivals.push(performance.now());
      if (index < SLOTS) {
        // All are sent before the first one is rejected, so no later one is allowed.
        await server.arrived(SLOTS);
        rejectedAt ||= performance.now();
        return rateLimitReply(String(RESET_MS / 1_000));
      }
      if (index > SLOTS) return leaks();
      await new Promise((resolve) => setTimeout(resolve, 500));
      probeAnsweredAt = performance.now();
      return leaks();
    });
    const handles = await Promise.all(Array.from({ length: SLOTS }, () => addSolutionCheck(fleet, PAYLOAD)));
    // All are sent at once, as if their instructions were too short for the prompt cache.
    const options = { concurrency: 3, calls: { cacheWaitMs: 0 } };
    await Promise.all(Array.from({ length: 4 }, () => worker(runner, options)));
    const results = await Promise.all(handles.map((handle) => handle.result()));
    expect(results.every(({ status }) => status === 'clean')).toBe(true);
    expect(server.requests).toHaveLength(2 * SLOTS);
    const [probe, ...rest] = arrivals.slice(SLOTS);
    expect(probe).toBeGreaterThanOrEqual(rejectedAt + RESET_MS);
    expect(Math.min(...rest)).toBeGreaterThanOrEqual(probeAnsweredAt);
    const views = await Promise.all(handles.map((handle) => handle.view()));
    expect(views.every(({ attempts }) => attempts === 1)).toBe(true);
  });
});

describe('a budget that is used up', () => {
  it('fails the job for good, with what it may spend and what it has', async () => {
    const { fleet, worker, runner, server } = await startFleet([]);
    await worker(runner, { calls: { budgetUsd: 0.000_001 } });
    const handle = await addSolutionCheck(fleet, PAYLOAD);
    expect(await handle.wait()).toMatchObject({
      state: 'failed',
      error: { code: 'budget-exhausted', retryable: false },
      attempts: 1,
    });
    expect(server.requests).toHaveLength(0);
  });

  it('of a run is named with a job of the run', async () => {
    const { fleet, worker, runner, server } = await startFleet(() => leaks());
    await worker(runner);
    const handle = await addJob(
      fleet,
      'solution-check',
      { ...PAYLOAD, tags: { run: 'r1' } },
      { budgetUsd: 0.000_001 },
    );
    expect((await handle.wait()).error?.code).toBe('budget-exhausted');
    expect(server.requests).toHaveLength(0);
  });

  it.each([
    ['a job', PAYLOAD],
    ['a job of a run', { ...PAYLOAD, tags: { run: 'r1' } }],
  ])('is raised by submitting %s again, and what was spent still counts', async (_, payload) => {
    // The first answer costs more than every budget but the last.
    const usage = { input_tokens: 1_000_000, output_tokens: 20 };
    const { fleet, worker, runner, server } = await startFleet([
      { ...leaks('a = fit(all)'), usage },
      correction('a = fit(train)'),
    ]);
    await worker(runner);
    const endUnder = async (budgetUsd?: number) => {
      const options = { key: 'k', ...(budgetUsd === undefined ? {} : { budgetUsd }) };
      const handle = await addSolutionCheck(fleet, payload, options);
      const { state, error, usage } = await handle.wait();
      return { outcome: handle.outcome, end: error?.code ?? state, calls: usage.calls };
    };
    const exhausted = { end: 'budget-exhausted' };
    expect(await endUnder(0.0001)).toEqual({ ...exhausted, outcome: 'created', calls: 0 });
    expect(await endUnder(1)).toEqual({ ...exhausted, outcome: 'retried', calls: 1 });
    expect(await endUnder(1.5)).toEqual({ ...exhausted, outcome: 'retried', calls: 1 });
    // Without an amount the job keeps its budget.
    expect(await endUnder()).toEqual({ ...exhausted, outcome: 'retried', calls: 1 });
    expect(await endUnder(50)).toEqual({ outcome: 'retried', end: 'completed', calls: 2 });
    expect(server.requests).toHaveLength(2);
  });

  it('is raised for a cancelled job, but not for one that is not run again', async () => {
    const { fleet, worker, runner } = await startFleet(() => leaks());
    const submit = (budgetUsd: number) => addSolutionCheck(fleet, PAYLOAD, { key: 'k', budgetUsd });
    const { id } = await submit(0.0001);
    await cancelJob(fleet, id);
    expect((await submit(50)).outcome).toBe('retried');
    const existing = await submit(0.0001);
    expect(existing.outcome).toBe('existing');
    await worker(runner);
    expect((await existing.result()).status).toBe('clean');
    const { budgetUsd } = await costsOfRun(fleet.client, fleet.prefix, `job ${id}`);
    expect(budgetUsd).toBe(50);
  });
});

it('what jobs cost is in the sums of the day, and nothing stays reserved', async () => {
  const { fleet, worker, runner } = await startFleet([overloadedReply(), leaks()]);
  await worker(runner);
  const handle = await addSolutionCheck(fleet, { ...PAYLOAD, model: 'claude-sonnet-5-5' });
  const { usage } = await handle.result();
  expect(usage.costUsd).toBeGreaterThan(0);
  expect(await costsOfDay(fleet.client, fleet.prefix, Date.now())).toMatchObject({
    spentUsd: usage.costUsd,
    calls: 1,
    callsUnderWay: 0,
    reservedUsd: 0,
  });
});
