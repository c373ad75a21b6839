import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CallControlOptions } from '../../src/calls/call-control.js';
import { CallDeferred } from '../../src/calls/call-deferred.js';
import type { JobInterceptor } from '../../src/calls/job-interceptor.js';
import type { CallOutcome } from '../../src/calls/outcome.js';
import { limiterKey } from '../../src/queues/redis-keys.js';
import { ManualClock } from '../support/manual-clock.js';
import { redisOfFile } from '../support/redis.js';
import {
  type FleetOfCalls,
  fleetOfCalls,
  type InterceptedTestJob,
  MODEL,
  plannedCall,
} from './calling-job.js';

const redis = redisOfFile();
let fleet: FleetOfCalls;
let clock: ManualClock;

beforeEach(() => {
  fleet = fleetOfCalls(redis);
  clock = new ManualClock();
});
afterEach(() => fleet.close());

const CALL = plannedCall('a question');
const ANSWERED = {
  class: 'answered',
  detail: '',
  status: 200,
  message: {
    id: undefined,
    model: MODEL,
    content: [{ type: 'text', text: 'yes' }],
    stopReason: 'end_turn',
    refusal: undefined,
    tokens: {
      inputTokens: 10,
      outputTokens: 5,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      cacheWrite1hTokens: 0,
    },
  },
  tokens: {
    inputTokens: 10,
    outputTokens: 5,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
  },
} as const satisfies CallOutcome;

const OVERLOADED_IN_STREAM: CallOutcome = {
  class: 'overloaded',
  detail: 'the provider answered inside the stream: Overloaded',
  tokens: { ...ANSWERED.tokens, outputTokens: 1 },
};

function rejectedCall(headers: Record<string, string> = {}, status = 429): CallOutcome {
  return { class: status === 429 ? 'rate-limited' : 'overloaded', detail: '', status, headers };
}

function answered(headers: Record<string, string>): CallOutcome {
  return { ...ANSWERED, headers };
}

interface Caller {
  readonly job: InterceptedTestJob;
  readonly interceptor: JobInterceptor;
  /** Undefined: admitted. Else how it was deferred. */
  admit(): Promise<CallDeferred | undefined>;
  settle(outcome: CallOutcome): Promise<void>;
}

/** A separate job with one call. No wait is short enough for the job to keep its slot. */
async function caller(options: CallControlOptions = {}): Promise<Caller> {
  const job = fleet.job();
  await job.takeOver();
  const interceptor = job.interceptor({ clock, now: () => clock.now(), shortWaitMs: 0, ...options });
  return {
    job,
    interceptor,
    admit: async () => {
      try {
        await interceptor.admit(CALL);
        return undefined;
      } catch (thrown) {
        if (thrown instanceof CallDeferred) return thrown;
        throw thrown;
      }
    },
    settle: (outcome) => interceptor.settle(CALL, outcome),
  };
}

/** How many of so many callers are admitted now. */
async function admitted(count: number): Promise<Caller[]> {
  const callers = await Promise.all(Array.from({ length: count }, () => caller()));
  const waits = await Promise.all(callers.map((each) => each.admit()));
  return callers.filter((_, index) => waits[index] === undefined);
}

async function openCircuit(headers: Record<string, string>, status = 429): Promise<void> {
  const first = await caller();
  expect(await first.admit()).toBeUndefined();
  await first.settle(rejectedCall(headers, status));
}

describe('a model that rejects a call', () => {
  it('is blocked for every job and worker until the time it names', async () => {
    await openCircuit({ 'retry-after': '171' });
    expect(await admitted(10)).toHaveLength(0);
    clock.advance(170_999);
    expect(await admitted(10)).toHaveLength(0);
    clock.advance(1);
    expect(await admitted(10)).toHaveLength(1);
  });

  it('leaves other models open', async () => {
    await openCircuit({ 'retry-after': '171' });
    const other = await caller();
    expect(await other.interceptor.admit({ ...CALL, model: 'claude-haiku-4-5' })).toBeUndefined();
  });

  it.each<[string, Record<string, string>, number, number]>([
    ['seconds', { 'retry-after': '7' }, 429, 7_000],
    ['a date to come', { 'retry-after': 'Fri, 20 Nov 2026 10:00:30 GMT' }, 429, 30_000],
    ['529 with seconds', { 'retry-after': '3' }, 529, 3_000],
    ['529 alone', {}, 529, 1_000],
    ['no time', {}, 429, 1_000],
    ['a date that has passed', { 'retry-after': 'Fri, 20 Nov 2026 09:00:00 GMT' }, 429, 1_000],
    ['a negative time', { 'retry-after': '-5' }, 429, 1_000],
    ['text', { 'retry-after': 'soon' }, 429, 1_000],
    ['ten days', { 'retry-after': '864000' }, 429, 864_000_000],
    ['more than a number holds', { 'retry-after': '9'.repeat(400) }, 429, 1_000],
    ['a time that no timestamp can have', { 'retry-after': '9'.repeat(300) }, 429, 1_000],
    ['a date in some thousand years', { 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT' }, 529, 1_000],
    [
      'a reset that never comes',
      {
        'anthropic-ratelimit-requests-remaining': '0',
        'anthropic-ratelimit-requests-reset': '+275000-01-01T00:00:00Z',
      },
      429,
      1_000,
    ],
    [
      'no retry-after, but the reset of what is used up',
      {
        'anthropic-ratelimit-requests-remaining': '0',
        'anthropic-ratelimit-requests-reset': '2026-11-20T10:00:20Z',
        'anthropic-ratelimit-input-tokens-remaining': '5000',
        'anthropic-ratelimit-input-tokens-reset': '2026-11-20T10:00:50Z',
      },
      429,
      20_000,
    ],
  ])('%s', async (_, headers, status, ms) => {
    await openCircuit(headers, status);
    clock.advance(ms - 1);
    expect(await admitted(1)).toHaveLength(0);
    clock.advance(1);
    expect(await admitted(1)).toHaveLength(1);
  });

  it.each(['1e299', 'nan', '-1', 'x'])('is open where its stored time is %s', async (blockedUntil) => {
    await openCircuit({ 'retry-after': '171' });
    await fleet.client.hset(limiterKey(fleet.prefix, MODEL), { blockedUntil, keptUntil: blockedUntil });
    expect(await admitted(1)).toHaveLength(1);
  });

  it('without naming a time is left alone longer each time, up to a minute', async () => {
    const waits: number[] = [];
    for (let time = 0; time < 9; time += 1) {
      const probe = await caller();
      expect(await probe.admit()).toBeUndefined();
      await probe.settle(rejectedCall());
      const start = clock.now();
      while ((await (await caller()).admit()) !== undefined) {
        clock.advance(1_000);
        if (clock.now() - start > 120_000) throw new Error('never opened');
      }
      waits.push(clock.now() - start);
      // That caller was the probe; it gives no result, so the next one may be the probe.
      clock.advance(30_000);
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });

  it('now and then, and takes calls in between, is not left alone for longer and longer', async () => {
    for (let time = 0; time < 12; time += 1) {
      const [probe] = await admitted(1);
      await probe?.settle(ANSWERED);
      clock.advance(1_000);
      const [next] = await admitted(1);
      expect(next, `round ${time}`).toBeDefined();
      await next?.settle(rejectedCall());
      clock.advance(2_000);
    }
  });

  it('answers many calls with 429 at once, and the circuit opens once', async () => {
    const callers = await admitted(20);
    expect(callers).toHaveLength(20);
    for (const each of callers) await each.settle(rejectedCall());
    clock.advance(1_000);
    expect(await admitted(1)).toHaveLength(1);
  });

  it('is not blocked by a single 500, which says nothing about the next call', async () => {
    await openCircuit({}, 500);
    expect(await admitted(5)).toHaveLength(5);
  });
});

describe('coming back', () => {
  it('begins with one probe, whose answer lets the others in step by step', async () => {
    await openCircuit({ 'retry-after': '10' });
    clock.advance(10_000);
    const [probe, ...others] = await admitted(100);
    expect(others).toHaveLength(0);
    await probe?.settle(ANSWERED);
    const steps: number[] = [];
    for (let step = 0; step < 4; step += 1) {
      steps.push((await admitted(40)).length);
      clock.advance(1_000);
    }
    // The probe counts as one of the two calls of the first second.
    expect(steps).toEqual([1, 2, 4, 8]);
    clock.advance(10_000);
    expect(await admitted(40)).toHaveLength(40);
  });

  it('opens the circuit again when the probe is turned away, and tries again when it says nothing or dies', async () => {
    await openCircuit({ 'retry-after': '10' });
    clock.advance(10_000);
    const [first] = await admitted(3);
    await first?.settle(rejectedCall({ 'retry-after': '5' }));
    clock.advance(4_999);
    expect(await admitted(3)).toHaveLength(0);
    clock.advance(1);
    const [second] = await admitted(3);
    await second?.settle({ class: 'cancelled', detail: '' });
    expect(await admitted(3)).toHaveLength(1);
    expect(await admitted(3)).toHaveLength(0);
    clock.advance(30_000);
    expect(await admitted(3)).toHaveLength(1);
  });

  it('waits for a probe whose worker died only until it expires', async () => {
    await openCircuit({ 'retry-after': '10' });
    clock.advance(10_000);
    // The timers of a killed process no longer fire.
    const dead = await caller({ clock: new ManualClock() });
    expect(await dead.admit()).toBeUndefined();
    clock.advance(4_999);
    expect(await admitted(3)).toHaveLength(0);
    clock.advance(1);
    expect(await admitted(3)).toHaveLength(1);
  });

  it('waits for a slow probe whose worker lives, for half a minute at most', async () => {
    await openCircuit({ 'retry-after': '10' });
    clock.advance(10_000);
    const [slow] = await admitted(1);
    expect(slow).toBeDefined();
    const start = clock.now();
    while (clock.now() < start + 28_500) {
      await clock.armed(1_500);
      clock.advance(1_500);
      // Sent over the same connection, so it is executed after the renewal.
      expect(await admitted(1)).toHaveLength(0);
    }
    clock.advance(1_499);
    expect(await admitted(1)).toHaveLength(0);
    clock.advance(1);
    expect(await admitted(3)).toHaveLength(1);
  });

  it('leaves no timer once the probe has ended', async () => {
    await openCircuit({ 'retry-after': '10' });
    clock.advance(10_000);
    const [probe] = await admitted(1);
    expect(clock.pending).toBe(1);
    await probe?.settle(ANSWERED);
    expect(clock.pending).toBe(0);
  });

  it('backs off further when the probe is overloaded inside its stream', async () => {
    let [probe] = await admitted(1);
    const pauses: number[] = [];
    for (let round = 0; round < 8; round += 1) {
      await probe?.settle(OVERLOADED_IN_STREAM);
      const openedAt = clock.now();
      do {
        clock.advance(1_000);
        [probe] = await admitted(1);
      } while (probe === undefined);
      pauses.push(clock.now() - openedAt);
    }
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  });

  it.each([
    ['were billed', OVERLOADED_IN_STREAM],
    [
      'may have been billed',
      { class: 'overloaded', detail: 'inside the stream', mayBeBilled: true } as const,
    ],
  ])(
    'gives an attempt up after five answers in a row that %s and broke off, and the next one may have five',
    async (_, broken) => {
      const one = await caller();
      const breakOff = async () => {
        clock.advance(60_000);
        expect(await one.admit()).toBeUndefined();
        await one.settle(broken);
      };
      for (let attempt = 0; attempt < 2; attempt += 1) {
        for (let answer = 1; answer < 5; answer += 1) await breakOff();
        await expect(breakOff()).rejects.toMatchObject({ code: 'answers-broken-off', retryable: true });
      }
      // What is not billed, as a plain 529, is asked again as long as the provider is overloaded.
      const free = await caller();
      for (let call = 0; call < 12; call += 1) {
        clock.advance(60_000);
        expect(await free.admit()).toBeUndefined();
        await free.settle(rejectedCall({}, 529));
      }
    },
  );

  it('parks all jobs while the account has no credit, sends a probe now and then, and ends no job', async () => {
    const options = { quotaParkMs: 300_000, callWaitMs: 600_000 };
    const poor: CallOutcome = {
      class: 'no-credit',
      detail: '',
      status: 400,
      headers: { 'x-should-retry': 'false' },
    };
    const one = await caller(options);
    expect(await one.admit()).toBeUndefined();
    for (let probes = 0; probes < 4; probes += 1) {
      await one.settle(poor);
      const deferred = await (await caller(options)).admit();
      expect(deferred).toMatchObject({ parked: true, reason: expect.stringContaining('has no credit left') });
      expect(deferred?.waitMs).toBeGreaterThanOrEqual(300_000);
      clock.advance(300_000);
      expect(await one.admit()).toBeUndefined();
      expect(await (await caller(options)).admit()).toMatchObject({
        reason: expect.stringContaining('probe'),
      });
    }
    await one.settle(ANSWERED);
    expect(await (await caller(options)).admit()).toBeUndefined();
  });

  it('is not brought about by the answer to a call that left before the circuit opened', async () => {
    const [early, refused] = await admitted(2);
    clock.advance(1);
    await refused?.settle(rejectedCall({ 'retry-after': '10' }));
    await early?.settle(ANSWERED);
    clock.advance(10_000);
    // Only the probe; had the early answer closed the circuit, two would be admitted in the first second.
    expect(await admitted(3)).toHaveLength(1);
  });
});

describe('limits of requests and tokens', () => {
  it('that are configured hold the whole fleet', async () => {
    const options = { limits: { [MODEL]: { requests: 60 } } };
    const go = async () => (await (await caller(options)).admit()) === undefined;
    for (let call = 0; call < 60; call += 1) expect(await go()).toBe(true);
    expect(await go()).toBe(false);
    clock.advance(1_000);
    expect(await go()).toBe(true);
    expect(await go()).toBe(false);
  });

  it('that a response names are kept to from then on', async () => {
    const first = await caller();
    await first.admit();
    await first.settle(
      answered({
        'anthropic-ratelimit-requests-limit': '60',
        'anthropic-ratelimit-requests-remaining': '3',
      }),
    );
    expect(await admitted(10)).toHaveLength(3);
    clock.advance(2_000);
    expect(await admitted(10)).toHaveLength(2);
  });

  it('of tokens are reserved by estimate and corrected by actual use', async () => {
    const options = { limits: { '*': { outputTokens: 10_000 } } };
    const callers = await Promise.all(Array.from({ length: 12 }, () => caller(options)));
    const went: Caller[] = [];
    for (const each of callers) if ((await each.admit()) === undefined) went.push(each);
    // Each reserves its 1,000 tokens at most, and uses 5.
    expect(went).toHaveLength(10);
    for (const each of went) await each.settle(ANSWERED);
    const again = await caller(options);
    expect(await again.admit()).toBeUndefined();
  });

  it('smaller than one call let it through alone rather than never', async () => {
    const options = { limits: { '*': { outputTokens: 100 } } };
    expect(await (await caller(options)).admit()).toBeUndefined();
    const next = await caller(options);
    expect((await next.admit())?.waitMs).toBeGreaterThan(50_000);
  });
});

describe('waiting', () => {
  it('for a quota that comes back late parks the job and says until when', async () => {
    await openCircuit({ 'retry-after': '864000' });
    const wait = await (await caller()).admit();
    expect(wait).toMatchObject({ parked: true });
    expect(wait?.reason).toContain('quota exhausted until 2026-11-30T10:00:00');
  });

  it('is short of parking below the configured bound', async () => {
    await openCircuit({ 'retry-after': '60' });
    expect(await (await caller()).admit()).toMatchObject({ parked: false });
    expect(await (await caller({ quotaParkMs: 59_000 })).admit()).toMatchObject({ parked: true });
  });

  it('a moment is done in place', async () => {
    await openCircuit({ 'retry-after': '0.8' });
    const waiting = await caller({ shortWaitMs: 1_000 });
    const admitted = waiting.admit();
    while (clock.pending === 0) await fleet.client.ping();
    expect(clock.waits.at(-1)).toBeLessThanOrEqual(840);
    clock.advance(840);
    expect(await admitted).toBeUndefined();
  });

  it('ends when the job must stop', async () => {
    await openCircuit({ 'retry-after': '0.8' });
    const controller = new AbortController();
    const waiting = await caller({ shortWaitMs: 1_000 });
    const admitted = waiting.interceptor.admit(CALL, controller.signal);
    while (clock.pending === 0) await fleet.client.ping();
    controller.abort('draining');
    await expect(admitted).rejects.toBe('draining');
    expect(clock.pending).toBe(0);
  });

  it('has an end: a job that is turned away for longer than it may fails for good', async () => {
    const options = { callWaitMs: 60_000 };
    const first = await caller(options);
    await first.admit();
    await first.settle(rejectedCall({ 'retry-after': '50' }));
    clock.advance(50_000);
    await first.admit();
    await first.settle(rejectedCall({ 'retry-after': '50' }));
    clock.advance(50_000);
    await first.admit();
    await expect(first.settle(rejectedCall({ 'retry-after': '50' }))).rejects.toMatchObject({
      code: 'quota-exhausted',
      retryable: false,
    });
  });

  it('for a distant quota does not fail the job before it could send a call', async () => {
    const options = { callWaitMs: 60_000 };
    await openCircuit({ 'retry-after': '864000' });
    const waiting = await caller(options);
    expect(await waiting.admit()).toMatchObject({ parked: true });
    clock.advance(864_000_000);
    await caller().then((probe) => probe.admit());
    expect(await waiting.admit()).toBeInstanceOf(CallDeferred);
    clock.advance(60_001);
    expect(await waiting.admit()).toBeUndefined();
  });
});
