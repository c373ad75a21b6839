import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { costsOfDay } from '../../src/calls/budget/read-costs.js';
import type { CallControlOptions } from '../../src/calls/call-control.js';
import type { PlannedCall } from '../../src/calls/call-interceptor.js';
import type { CallOutcome } from '../../src/calls/outcome.js';
import { ManualClock } from '../support/manual-clock.js';
import {
  errorReply,
  type MessagesApi,
  type Reply,
  startMessagesApi,
  textReply,
} from '../support/messages-api.js';
import { ProviderCache } from '../support/provider-cache.js';
import { redisOfFile } from '../support/redis.js';
import { type FleetOfCalls, fleetOfCalls, type InterceptedTestJob, plannedCall } from './calling-job.js';

const redis = redisOfFile();
let fleet: FleetOfCalls;
let api: MessagesApi;

beforeEach(() => {
  fleet = fleetOfCalls(redis);
});
afterEach(async () => {
  await api.close();
  await fleet.close();
});

/** A promise that the test resolves. */
function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

async function serve(cache: ProviderCache): Promise<ProviderCache> {
  api = await startMessagesApi({ reply: cache.reply });
  return cache;
}

/** A provider whose first answer begins when the test says so. */
async function serveDelayed(first: Reply = textReply('yes')) {
  const { opened, open } = gate();
  const cache = await serve(
    new ProviderCache(async (_, index) => {
      if (index > 0) return textReply('yes');
      await opened;
      return first;
    }),
  );
  return { cache, begin: open };
}

/** A call whose instructions are long enough to be cached. */
function longCall(text: string, instructions = 'Check the script.'): PlannedCall {
  const call = plannedCall(text);
  const system = [
    {
      type: 'text' as const,
      text: instructions.repeat(1_000),
      cache_control: { type: 'ephemeral' as const },
    },
  ];
  return { ...call, request: { ...call.request, system }, digest: `${text} ${instructions}` };
}

interface Calling {
  readonly job: InterceptedTestJob;
  readonly outcome: Promise<CallOutcome>;
}

/** The calls of separate jobs, all at once. */
function callingAtOnce(
  count: number,
  options: CallControlOptions = {},
  call: (index: number) => PlannedCall = (index) => longCall(`script ${index}`),
  signal?: AbortSignal,
): Calling[] {
  return Array.from({ length: count }, (_, index) => {
    const job = fleet.job();
    // They keep their slots and wait, however long it takes on a busy machine.
    const unhurried = { shortWaitMs: Number.POSITIVE_INFINITY, cacheWaitMs: 600_000 };
    const interceptor = job.interceptor({ ...unhurried, ...options });
    return { job, outcome: job.perform(interceptor, call(index), api, signal && { signal }) };
  });
}

const isWaiting = async ({ job }: Calling) =>
  (await fleet.client.hexists(job.key, 'fleet:ledger:1:cacheSince')) === 1;

/** Resolves once so many of the calls wait. */
async function waiting(calls: readonly Calling[], count: number): Promise<void> {
  await vi.waitUntil(async () => (await Promise.all(calls.map(isWaiting))).filter(Boolean).length === count);
}

const classes = async (calls: readonly Calling[]) =>
  (await Promise.all(calls.map(({ outcome }) => outcome))).map((outcome) => outcome.class);
const costs = () => costsOfDay(fleet.client, fleet.prefix, Date.now());

describe('calls at once with the same long instructions', () => {
  it('write them to the cache once: all but one wait until the first answer has begun', async () => {
    const { cache, begin } = await serveDelayed();
    const calls = callingAtOnce(6);
    await Promise.all([waiting(calls, 5), api.arrived(1)]);
    expect(cache.uses).toEqual(['write']);
    // Those that wait reserve nothing.
    expect(await costs()).toMatchObject({ callsUnderWay: 1 });
    begin();
    expect(await classes(calls)).toEqual(Array(6).fill('answered'));
    expect([cache.count('write'), cache.count('read')]).toEqual([1, 5]);
    expect(await costs()).toMatchObject({ calls: 6, cacheWriteTokens: 5_000, cacheReadTokens: 25_000 });
    expect((await Promise.all(calls.map(isWaiting))).some(Boolean)).toBe(false);
  });

  it('write them once each without the wait, and cost more', async () => {
    const { opened, open } = gate();
    const cache = await serve(
      new ProviderCache(async () => {
        await opened;
        return textReply('yes');
      }),
    );
    const calls = callingAtOnce(6, { cacheWaitMs: 0 });
    await api.arrived(6);
    open();
    await classes(calls);
    expect(cache.count('write')).toBe(6);
    const paid = (await costs()).spentUsd;

    await api.close();
    const ordered = await serve(new ProviderCache());
    const before = (await costs()).spentUsd;
    await classes(callingAtOnce(6));
    expect(ordered.count('write')).toBe(1);
    expect((await costs()).spentUsd - before).toBeLessThan(paid / 3);
  });

  it('go on as soon as the first answer has begun, long before it has ended', async () => {
    const unfinished = { ...textReply('yes'), fault: { after: 1, effect: { what: 'hang' } } } as const;
    const cache = await serve(new ProviderCache((_, index) => (index === 0 ? unfinished : textReply('yes'))));
    const stop = new AbortController();
    const [first] = callingAtOnce(1, {}, undefined, stop.signal);
    await api.arrived(1);
    expect(await classes(callingAtOnce(2))).toEqual(['answered', 'answered']);
    expect(cache.uses).toEqual(['write', 'read', 'read']);
    stop.abort();
    expect((await first?.outcome)?.class).toBe('cancelled');
  });

  it('do not wait for calls with other instructions, another model, or none', async () => {
    const { begin } = await serveDelayed();
    const [first] = callingAtOnce(1);
    await api.arrived(1);
    const others = [
      longCall('a', 'Other words.'),
      { ...longCall('a'), model: 'claude-opus-5' },
      plannedCall('a'),
    ];
    expect(await classes(callingAtOnce(3, {}, (index) => others[index] as PlannedCall))).toEqual(
      Array(3).fill('answered'),
    );
    begin();
    await first?.outcome;
  });

  it('wait no more once they are cached, and later turns of a conversation neither', async () => {
    const cache = await serve(new ProviderCache());
    await classes(callingAtOnce(1));
    const calls = callingAtOnce(4, {}, (index) => ({ ...longCall(`script ${index}`), turn: 2 }));
    await classes(calls);
    expect(cache.uses).toEqual(['write', 'read', 'read', 'read', 'read']);
  });

  it('wait no more if the provider says that it does not cache them', async () => {
    const { opened, open } = gate();
    api = await startMessagesApi({
      reply: async (_, index) => {
        if (index > 0) await opened;
        return textReply('yes');
      },
    });
    await classes(callingAtOnce(1));
    const calls = callingAtOnce(3);
    await api.arrived(4);
    open();
    await classes(calls);
  });
});

describe('the first of several calls', () => {
  it.each<[string, Reply]>([
    ['fails', errorReply(400)],
    ['is reset', { kind: 'reset' }],
  ])('that %s makes room for another one, which writes the cache', async (_, first) => {
    const { cache, begin } = await serveDelayed(first);
    const calls = callingAtOnce(4);
    await waiting(calls, 3);
    begin();
    await classes(calls);
    expect(cache.uses.slice(0, 2)).toEqual(['write', 'write']);
    expect(cache.count('write')).toBe(2);
  });

  it('whose model rejects it opens the circuit, and nobody waits for it besides', async () => {
    const { begin } = await serveDelayed({ ...errorReply(429), headers: { 'retry-after': '3600' } });
    const calls = callingAtOnce(3, { shortWaitMs: 1_000 });
    await waiting(calls, 2);
    begin();
    const ended = await Promise.allSettled(calls.map(({ outcome }) => outcome));
    expect(ended).toMatchObject(
      Array(3).fill({ status: 'rejected', reason: { reason: expect.stringMatching(/rate-limited|quota/) } }),
    );
    expect(api.requests).toHaveLength(1);
  });

  it('whose worker has crashed is replaced when its lease has expired', async () => {
    const cache = await serve(new ProviderCache());
    // The timers of a killed process no longer fire.
    const crashed = fleet.job().interceptor({ clock: new ManualClock() });
    await vi.waitUntil(() => fleet.client.status === 'ready');
    await crashed.admit(longCall('crashed'));
    const [key = ''] = await fleet.client.keys(`${fleet.prefix}::prompt:*`);
    expect(await fleet.client.pttl(key)).toBeGreaterThan(0);
    const calls = callingAtOnce(3, { cacheWaitMs: 600_000 });
    await waiting(calls, 3);
    expect(cache.uses).toEqual([]);
    await fleet.client.pexpire(key, 1);
    await classes(calls);
    expect([cache.count('write'), cache.count('read')]).toEqual([1, 2]);
  });

  it('keeps its lease while its worker lives, until the others may wait no longer', async () => {
    await serve(new ProviderCache());
    const clock = new ManualClock();
    const job = fleet.job();
    await job.takeOver();
    await job.interceptor({ clock, cacheWaitMs: 4_000 }).admit(longCall('slow'));
    const [key = ''] = await fleet.client.keys(`${fleet.prefix}::prompt:*`);
    for (const renews of [true, true, false]) {
      await fleet.client.pexpire(key, 1_000);
      await clock.armed(1_500);
      clock.advance(1_500);
      if (renews) await vi.waitUntil(async () => (await fleet.client.pttl(key)) > 1_000);
    }
    await fleet.client.ping();
    expect(await fleet.client.pttl(key)).toBeLessThanOrEqual(1_000);
  });

  it('that no answer comes for holds the others no longer than they may wait', async () => {
    const { cache, begin } = await serveDelayed();
    const [first] = callingAtOnce(1);
    await api.arrived(1);
    const calls = callingAtOnce(3, { cacheWaitMs: 1 });
    expect(await classes(calls)).toEqual(Array(3).fill('answered'));
    expect(cache.uses[1]).toBe('write');
    begin();
    await first?.outcome;
  });
});

describe('a call that waits for the cache', () => {
  it('goes back to the queue without a reservation if its job may not keep its slot', async () => {
    const { begin } = await serveDelayed();
    const first = callingAtOnce(1);
    await api.arrived(1);
    const [second] = callingAtOnce(1, { shortWaitMs: 0 });
    await expect(second?.outcome).rejects.toMatchObject({
      name: 'CallDeferred',
      waitMs: 1_000,
      reason: 'claude-sonnet-5-5: waits for the prompt cache',
    });
    expect(await costs()).toMatchObject({ callsUnderWay: 1 });
    begin();
    await classes(first);
  });

  it('keeps the slot while another call of its job is under way', async () => {
    const { cache, begin } = await serveDelayed();
    const job = fleet.job();
    const interceptor = job.interceptor({ shortWaitMs: 0 });
    const calls = ['a', 'b'].map((step) => ({
      job,
      outcome: job.perform(interceptor, { ...longCall(step), step }, api),
    }));
    await vi.waitUntil(async () =>
      (await fleet.client.hkeys(job.key)).some((name) => name.endsWith('cacheSince')),
    );
    begin();
    expect(await classes(calls)).toEqual(['answered', 'answered']);
    expect(cache.uses).toEqual(['write', 'read']);
  });

  it('was never sent before: retries go at once, so that a provider that fails slowly uses up the retries', async () => {
    await serve(new ProviderCache());
    const call = longCall('failing');
    const failing = fleet.job();
    await failing.takeOver();
    const interceptor = failing.interceptor({ shortWaitMs: 0 });
    await interceptor.admit(call);
    await interceptor.settle(call, { class: 'unreachable', detail: 'the connection was reset' });
    const other = fleet.job();
    await other.takeOver();
    await other.interceptor({ shortWaitMs: 0 }).admit(longCall('other'));
    await expect(interceptor.admit(call)).resolves.toBeUndefined();
    // So does the next attempt of the job.
    await expect(failing.interceptor({ shortWaitMs: 0 }).admit(call)).resolves.toBeUndefined();
  });

  it('is not sent if its job is cancelled, and the others go on', async () => {
    const { cache, begin } = await serveDelayed();
    const calls = callingAtOnce(3);
    await waiting(calls, 2);
    const cancelled = new AbortController();
    const job = fleet.job();
    const interceptor = job.interceptor({ shortWaitMs: Number.POSITIVE_INFINITY }, cancelled.signal);
    const outcome = job.perform(interceptor, longCall('cancelled'), api, { signal: cancelled.signal });
    await waiting([{ job, outcome }], 1);
    cancelled.abort(new Error('cancelled by a test'));
    await expect(outcome).rejects.toThrow('cancelled by a test');
    begin();
    await classes(calls);
    expect(cache.uses).toEqual(['write', 'read', 'read']);
  });
});
