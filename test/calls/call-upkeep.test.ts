import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { costsOfRun } from '../../src/calls/budget/read-costs.js';
import type { CallControlOptions } from '../../src/calls/call-control.js';
import type { CallOutcome } from '../../src/calls/outcome.js';
import { limiterKey, spendBase } from '../../src/queues/redis-keys.js';
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

const MS_A_DAY = 86_400_000;
const CALL = plannedCall('what is left behind?');
const TOKENS = {
  inputTokens: 10,
  outputTokens: 5,
  cacheReadTokens: 3,
  cacheWriteTokens: 2,
  cacheWrite1hTokens: 0,
};
const ANSWERED: CallOutcome = {
  class: 'answered',
  detail: '',
  status: 200,
  message: { id: 'm', model: MODEL, content: [], stopReason: 'end_turn', refusal: undefined, tokens: TOKENS },
  tokens: TOKENS,
};

async function interceptorOf(run: string, control: CallControlOptions = {}) {
  const job = fleet.job({ run });
  await job.takeOver();
  return job.interceptor({ clock, now: () => clock.now(), ...control });
}

async function call(run: string, control: CallControlOptions = {}): Promise<void> {
  const interceptor = await interceptorOf(run, control);
  await interceptor.admit(CALL);
  await interceptor.settle(CALL, ANSWERED);
}

async function commands(): Promise<number> {
  const stats = await fleet.client.info('commandstats');
  return [...stats.matchAll(/^cmdstat_(?!info|config)[^:]+:calls=(\d+)/gm)].reduce(
    (sum, [, calls]) => sum + Number(calls),
    0,
  );
}

describe('a call', () => {
  it('costs Redis few commands, with those inside its scripts', async () => {
    const everything = {
      budgetUsd: 1_000,
      limits: { '*': { requests: 1e6, inputTokens: 1e9, outputTokens: 1e9 } },
    };
    for (const [control, most] of [[{}, 27] as const, [everything, 29] as const]) {
      // The first one also sends the scripts, and sets expiries. Opening the ledger is counted too.
      await call('run', control);
      const interceptor = await interceptorOf('run', control);
      const before = await commands();
      await interceptor.admit(CALL);
      await interceptor.settle(CALL, ANSWERED);
      expect((await commands()) - before).toBeLessThanOrEqual(most);
    }
  });

  it('sent by a script that arrives twice counts once, also in the limiter', async () => {
    const control = { limits: { '*': { inputTokens: 100_000 } } };
    const interceptor = await interceptorOf('twice', control);
    const callBuffer = fleet.client.callBuffer.bind(fleet.client);
    // What a client does if its connection breaks before the reply arrives.
    fleet.client.callBuffer = (async (...args: Parameters<typeof callBuffer>) => {
      await callBuffer(...args);
      return callBuffer(...args);
    }) as typeof callBuffer;
    await interceptor.admit(CALL);
    await interceptor.settle(CALL, ANSWERED);
    const twice = await fleet.client.hgetall(limiterKey(fleet.prefix, MODEL));
    fleet.client.callBuffer = callBuffer;
    expect(Number(twice['input:level'])).toBe(100_000 - TOKENS.inputTokens - TOKENS.cacheWriteTokens);
    expect(await costsOfRun(fleet.client, fleet.prefix, 'twice')).toMatchObject({
      calls: 1,
      inputTokens: 10,
      outputTokens: 5,
      cacheReadTokens: 3,
      cacheWriteTokens: 2,
      reservedUsd: 0,
    });
  });
});

describe('after calls have ended', () => {
  it('expires: the sums of a day and of a run, put off with the days on which they are used', async () => {
    const sums = () => [
      `${spendBase(fleet.prefix)}:day:${Math.floor(clock.now() / MS_A_DAY)}`,
      `${spendBase(fleet.prefix)}:run:kept`,
    ];
    await call('kept');
    const [day = '', run = ''] = sums();
    expect(await fleet.client.ttl(day)).toBeGreaterThan(399 * 86_400);
    expect(await fleet.client.ttl(run)).toBeGreaterThan(89 * 86_400);
    await fleet.client.expire(run, 100);
    await call('kept');
    expect(await fleet.client.ttl(run)).toBeLessThanOrEqual(100);
    clock.advance(MS_A_DAY);
    await call('kept');
    expect(await fleet.client.ttl(run)).toBeGreaterThan(89 * 86_400);
    expect(await costsOfRun(fleet.client, fleet.prefix, 'kept')).toMatchObject({ calls: 3 });
  });

  it('is no limiter where nothing is known of limits', async () => {
    await call('none');
    expect(await fleet.client.exists(limiterKey(fleet.prefix, MODEL))).toBe(0);
  });

  it('is a limiter that is forgotten a day after its last use, or after it is open again', async () => {
    const key = limiterKey(fleet.prefix, MODEL);
    const control = { limits: { '*': { requests: 1e6 } } };
    await call('limited', control);
    const hours = async () => (await fleet.client.pttl(key)) / 3_600_000;
    expect(await hours()).toBeGreaterThan(24);
    expect(await hours()).toBeLessThanOrEqual(25);
    // Its expiry is renewed while at least a day of it is left.
    await fleet.client.pexpire(key, 1_000);
    clock.advance(3_600_001);
    await call('limited', control);
    expect(await hours()).toBeGreaterThan(24);
    const interceptor = await interceptorOf('limited', control);
    await interceptor.admit(CALL);
    await interceptor.settle(CALL, {
      class: 'rate-limited',
      detail: '',
      status: 429,
      headers: { 'retry-after': '36000' },
    });
    expect(await hours()).toBeGreaterThan(34);
  });
});
