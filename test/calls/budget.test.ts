import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { estimateCall, fromNano } from '../../src/calls/budget/estimate.js';
import { costsOfDay, costsOfRun } from '../../src/calls/budget/read-costs.js';
import { sweepReservations } from '../../src/calls/budget/sweep-reservations.js';
import type { CallControlOptions } from '../../src/calls/call-control.js';
import { CallDeferred } from '../../src/calls/call-deferred.js';
import { costOf } from '../../src/calls/cost.js';
import type { CallOutcome } from '../../src/calls/outcome.js';
import { PRICE_LIST } from '../../src/calls/prices.js';
import { ManualClock } from '../support/manual-clock.js';
import { redisOfFile } from '../support/redis.js';
import { type FleetOfCalls, fleetOfCalls, MODEL, plannedCall } from './calling-job.js';

const redis = redisOfFile();
let fleet: FleetOfCalls;
let clock: ManualClock;

beforeEach(() => {
  fleet = fleetOfCalls(redis);
  clock = new ManualClock();
});
afterEach(() => fleet.close());

const CALL = plannedCall('what does this cost?');
const MAX_USD = fromNano(estimateCall(CALL.request).maxNano);

function usage(inputTokens: number, outputTokens: number, model = MODEL): CallOutcome {
  const tokens = {
    inputTokens,
    outputTokens,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
  };
  const message = { id: undefined, model, content: [], stopReason: 'end_turn', refusal: undefined, tokens };
  return { class: 'answered', detail: '', status: 200, message, tokens };
}

/** An answer with content. */
function answer(inputTokens: number, outputTokens: number): CallOutcome {
  const counted = usage(inputTokens, outputTokens);
  const message = counted.message && { ...counted.message, content: [{ type: 'text', text: 'yes' }] };
  return { ...counted, ...(message && { message }) };
}

interface JobOptions {
  readonly run?: string;
  readonly runBudgetUsd?: number;
}

async function startJob(control: CallControlOptions, options: JobOptions = {}) {
  const job = fleet.job(options);
  await job.takeOver();
  return { job, interceptor: job.interceptor({ clock, now: () => clock.now(), ...control }) };
}

const dayCosts = () => costsOfDay(fleet.client, fleet.prefix, clock.now());

/** The result of each of so many concurrent calls. */
async function callAtOnce(count: number, control: CallControlOptions, options: JobOptions = {}) {
  const jobs = await Promise.all(Array.from({ length: count }, () => startJob(control, options)));
  const fates = await Promise.allSettled(jobs.map(({ interceptor }) => interceptor.admit(CALL)));
  return jobs.map((job, index) => ({ ...job, fate: fates[index] as PromiseSettledResult<unknown> }));
}

describe('the budget of a day', () => {
  it('is overshot by nothing by 50 calls at once, each at its highest possible cost', async () => {
    const control = { budgetUsd: MAX_USD * 7.5, shortWaitMs: 0 };
    const calls = await callAtOnce(50, control);
    const sent = calls.filter(({ fate }) => fate.status === 'fulfilled');
    expect(sent).toHaveLength(7);
    expect((await dayCosts()).reservedUsd).toBeLessThanOrEqual(control.budgetUsd);
    const put = calls.flatMap(({ fate }) => (fate.status === 'rejected' ? [fate.reason] : []));
    expect(put.every((reason) => reason instanceof CallDeferred)).toBe(true);
  });

  it('lets waiting calls go once those under way turned out cheaper', async () => {
    const control = { budgetUsd: MAX_USD * 1.5, shortWaitMs: 0 };
    const [first, second] = await callAtOnce(2, control);
    const [sent, waiting] = first?.fate.status === 'fulfilled' ? [first, second] : [second, first];
    await sent?.interceptor.settle(CALL, usage(10, 5));
    await waiting?.interceptor.admit(CALL);
    await waiting?.interceptor.settle(CALL, usage(10, 5));
    expect(await dayCosts()).toMatchObject({ calls: 2, reservedUsd: 0, budgetUsd: MAX_USD * 1.5 });
  });

  it('that is used up refuses the next call for good, and names what it is', async () => {
    const control = { budgetUsd: MAX_USD * 1.5 };
    const { interceptor } = await startJob(control);
    await interceptor.admit(CALL);
    await interceptor.settle(CALL, usage(1_000, 1_000));
    const next = await startJob(control);
    await expect(next.interceptor.admit(CALL)).rejects.toMatchObject({
      code: 'budget-exhausted',
      retryable: false,
      field: 'FLEET_BUDGET_USD',
      message: expect.stringContaining('$0.0120 are spent'),
    });
    expect(await next.job.records()).toEqual([]);
  });

  it('of nothing lets nothing through', async () => {
    const { interceptor } = await startJob({ budgetUsd: 0 });
    await expect(interceptor.admit(CALL)).rejects.toMatchObject({ code: 'budget-exhausted' });
  });

  it('starts again at midnight UTC; a call that ends after midnight counts for the day on which it began', async () => {
    const control = { budgetUsd: MAX_USD * 1.5 };
    const { interceptor } = await startJob(control);
    await interceptor.admit(CALL);
    const before = clock.now();
    clock.advance(86_400_000);
    await interceptor.settle(CALL, usage(1_000, 1_000));
    expect((await costsOfDay(fleet.client, fleet.prefix, before)).spentUsd).toBeCloseTo(0.012, 9);
    expect(await dayCosts()).toMatchObject({ spentUsd: 0, calls: 0, reservedUsd: 0 });
    const next = await startJob(control);
    expect(await next.interceptor.admit(CALL)).toBeUndefined();
  });

  it('gets the reservations of dead workers back when somebody needs the room', async () => {
    const control = { budgetUsd: MAX_USD * 1.9, shortWaitMs: 0 };
    const dead = await startJob(control);
    await dead.interceptor.admit(CALL);
    await dead.job.lapse();
    const next = await startJob(control);
    expect(await next.interceptor.admit(CALL)).toBeUndefined();
    const costs = await dayCosts();
    // It may have been billed, so it counts at its likely price from now on.
    expect(costs).toMatchObject({ callsInDoubt: 1, callsUnderWay: 1 });
    expect(costs.inDoubtUsd).toBeGreaterThan(0);
    expect(costs.reservedUsd).toBeCloseTo(MAX_USD, 8);
    expect((await dead.job.records())[0]?.state).toBe('in-doubt');
  });

  it('gets them back from jobs that were removed, too', async () => {
    const control = { budgetUsd: MAX_USD * 1.9, shortWaitMs: 0 };
    const gone = await startJob(control);
    await gone.interceptor.admit(CALL);
    await gone.job.remove();
    const next = await startJob(control);
    expect(await next.interceptor.admit(CALL)).toBeUndefined();
    expect(await fleet.client.exists(gone.job.key)).toBe(0);
  });

  it('gets them back from an idle fleet by a sweep, and from no call that is under way', async () => {
    const dead = await startJob({});
    const alive = await startJob({});
    for (const { interceptor } of [dead, alive]) await interceptor.admit(CALL);
    await dead.job.lapse();
    expect(await sweepReservations(fleet.client, fleet.prefix)).toBe(1);
    await alive.interceptor.settle(CALL, usage(10, 5));
    expect(await sweepReservations(fleet.client, fleet.prefix)).toBe(0);
    expect(await dayCosts()).toMatchObject({ reservedUsd: 0, callsInDoubt: 1, calls: 1 });
  });

  it('counts a model without a known price at the dearest one', async () => {
    const control = { budgetUsd: MAX_USD * 1.5 };
    const { interceptor } = await startJob(control);
    const request = { ...CALL.request, model: 'claude-nobody-knows' };
    const call = { ...CALL, model: request.model, request };
    await expect(interceptor.admit(call)).rejects.toMatchObject({ code: 'budget-exhausted' });
  });
});

describe('the budget of a run', () => {
  it('holds for all jobs of the run, and for no other', async () => {
    const run = { run: 'r1', runBudgetUsd: MAX_USD * 1.5 };
    const { interceptor } = await startJob({}, run);
    await interceptor.admit(CALL);
    await interceptor.settle(CALL, usage(1_000, 1_000));
    // The budget also applies to a job of the run that does not repeat it.
    const follower = await startJob({}, { run: 'r1' });
    await expect(follower.interceptor.admit(CALL)).rejects.toMatchObject({
      code: 'budget-exhausted',
      field: 'budgetUsd',
    });
    const other = await startJob({}, { run: 'r2' });
    expect(await other.interceptor.admit(CALL)).toBeUndefined();
    expect(await costsOfRun(fleet.client, fleet.prefix, 'r1')).toMatchObject({
      name: 'r1',
      calls: 1,
      budgetUsd: run.runBudgetUsd,
      models: { [MODEL]: { calls: 1 } },
    });
  });

  it('may have any characters in its name', async () => {
    const run = 'a:b\n{}"*\u{1F600}';
    const { interceptor } = await startJob({}, { run, runBudgetUsd: 1 });
    await interceptor.admit(CALL);
    await interceptor.settle(CALL, usage(10, 10));
    expect(await costsOfRun(fleet.client, fleet.prefix, run)).toMatchObject({ calls: 1, reservedUsd: 0 });
  });
});

describe('a call whose cost is not known', () => {
  const dear = PRICE_LIST.models['claude-fable-5-1'] ?? { input: 0, output: 0 };

  it.each<[string, CallOutcome, number]>([
    [
      'another model answered, which has no price',
      usage(1_000, 1_000, 'claude-nobody'),
      (1_000 * dear.input + 1_000 * dear.output) / 1e6,
    ],
    ['the answer does not count its tokens', answer(0, 0), MAX_USD],
    ['the answer does not count its prompt', answer(0, 900), MAX_USD],
    ['the answer does not count what it says', answer(900, 0), MAX_USD],
  ])('uses the budget up all the same where %s', async (_, outcome, expected) => {
    const run = {
      run: `uncounted-${outcome.tokens?.inputTokens}-${outcome.tokens?.outputTokens}`,
      runBudgetUsd: MAX_USD * 2.5,
    };
    let sent = 0;
    for (; sent < 30; sent += 1) {
      const { interceptor } = await startJob({}, run);
      const refused = await interceptor.admit(CALL).then(
        () => false,
        (reason) => reason.code === 'budget-exhausted',
      );
      if (refused) break;
      await interceptor.settle(CALL, outcome);
    }
    expect(sent).toBeLessThan(30);
    const costs = await costsOfRun(fleet.client, fleet.prefix, run.run);
    expect(costs).toMatchObject({ spentUsd: 0, unpricedCalls: sent, reservedUsd: 0 });
    expect(costs.assumedUsd).toBeCloseTo(sent * expected, 6);
  });
});

describe('the sums', () => {
  it('add up exactly, to the nano-dollar, whatever the calls cost', async () => {
    const { interceptor } = await startJob({});
    let expected = 0;
    for (let ask = 1; ask <= 30; ask += 1) {
      const call = { ...CALL, ask };
      await interceptor.admit(call);
      await interceptor.settle(call, usage(ask * 7, ask * 3));
      expected += Math.round(((ask * 7 * 2 + ask * 3 * 10) / 1e6) * 1e9);
    }
    const costs = await dayCosts();
    expect(Math.round(costs.spentUsd * 1e9)).toBe(expected);
    expect(costs).toMatchObject({ calls: 30, inputTokens: 3_255, outputTokens: 1_395, reservedUsd: 0 });
  });

  it('say of calls without a known price that they are in no sum', async () => {
    const { interceptor } = await startJob({});
    await interceptor.admit(CALL);
    await interceptor.settle(CALL, usage(10, 10, 'claude-nobody-knows'));
    expect(await dayCosts()).toMatchObject({ calls: 1, unpricedCalls: 1, spentUsd: 0 });
  });
});

describe('the highest possible cost of a call', () => {
  it('is never below what it costs, for any model, text and use of the cache', () => {
    const models = Object.keys(PRICE_LIST.models);
    fc.assert(
      fc.property(
        fc.constantFrom(...models),
        fc.string({ unit: 'binary', maxLength: 500 }),
        fc.integer({ min: 1, max: 64_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.constantFrom('inputTokens', 'cacheReadTokens', 'cacheWriteTokens'),
        (model, text, maxTokens, fraction, where) => {
          const request = {
            model,
            max_tokens: maxTokens,
            messages: [{ role: 'user' as const, content: text.repeat(50) }],
          };
          const most = estimateCall(request).maxNano;
          const none = {
            inputTokens: 0,
            cacheReadTokens: 0,
            cacheWriteTokens: 0,
            cacheWrite1hTokens: 0,
          };
          const input = Buffer.byteLength(JSON.stringify(request));
          const cost = costOf(model, {
            ...none,
            [where]: input,
            ...(where === 'cacheWriteTokens' ? { cacheWrite1hTokens: input } : {}),
            outputTokens: Math.floor(maxTokens * fraction),
          });
          return (cost ?? 0) * 1e9 <= most;
        },
      ),
    );
  });
});
