import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { estimateCall, fromNano } from '../../src/calls/budget/estimate.js';
import { costsOfDay } from '../../src/calls/budget/read-costs.js';
import type { JobInterceptor } from '../../src/calls/job-interceptor.js';
import type { CallOutcome } from '../../src/calls/outcome.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { type FleetOfCalls, fleetOfCalls, type InterceptedTestJob, plannedCall } from './calling-job.js';

const CALL = plannedCall('a question');
const MAX_USD = fromNano(estimateCall(CALL.request).maxNano);
const TOKENS = {
  inputTokens: 1_000,
  outputTokens: 100,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
};
const ANSWERED: CallOutcome = {
  class: 'answered',
  detail: '',
  status: 200,
  tokens: TOKENS,
  message: {
    id: undefined,
    model: CALL.model,
    content: [{ type: 'text', text: 'yes' }],
    stopReason: 'end_turn',
    refusal: undefined,
    tokens: TOKENS,
  },
};
const TURNED_DOWN = { class: 'bad-request', detail: '', status: 400 } as const;

let redis: TestRedis;
let proxy: TcpProxy;
let fleet: FleetOfCalls;
let job: InterceptedTestJob;
let interceptor: JobInterceptor;

beforeEach(async () => {
  redis = await startTestRedis();
  proxy = await TcpProxy.start({ path: redis.socketPath });
  fleet = fleetOfCalls({ url: proxy.url });
  job = fleet.job();
  await job.takeOver();
  interceptor = job.interceptor();
  // The ledger is open and both scripts are known to Redis before the link breaks.
  const first = plannedCall('first');
  await interceptor.admit(first);
  await interceptor.settle(first, TURNED_DOWN);
});
afterEach(async () => {
  await fleet.close();
  await proxy.stop();
  await redis.stop();
});

const costs = () => costsOfDay(fleet.client, fleet.prefix, Date.now());

/** Executes a command but drops its reply, then breaks the connection, so that it is sent again. */
async function loseAnswerTo<T>(command: () => Promise<T>): Promise<T> {
  const before = proxy.swallowedBytes;
  proxy.mode = 'half-open';
  const running = command();
  while (proxy.swallowedBytes === before) await new Promise((resolve) => setImmediate(resolve));
  proxy.mode = 'open';
  proxy.cut();
  return running;
}

describe('a connection to Redis that breaks after a command', () => {
  it('a call is recorded and reserved once, although the command arrives twice', async () => {
    await loseAnswerTo(() => interceptor.admit(CALL));
    expect((await job.records()).map(({ state }) => state)).toEqual(['failed', 'sent']);
    const { callsUnderWay, reservedUsd } = await costs();
    expect(callsUnderWay).toBe(1);
    expect(reservedUsd).toBeCloseTo(MAX_USD, 8);
  });

  it('an answer and its cost are recorded once, although the command arrives twice', async () => {
    await interceptor.admit(CALL);
    await loseAnswerTo(() => interceptor.settle(CALL, ANSWERED));
    expect((await job.records()).map(({ state }) => state)).toEqual(['failed', 'answered']);
    expect(await costs()).toMatchObject({ calls: 1, spentUsd: 0.003, reservedUsd: 0, callsUnderWay: 0 });
  });
});

describe('a Redis that is away', () => {
  it('does not lose an answer that is paid for: it is written when Redis is back', async () => {
    await interceptor.admit(CALL);
    await redis.kill();
    const settling = interceptor.settle(CALL, TURNED_DOWN);
    await redis.restart();
    await settling;
    expect((await job.records()).map(({ state }) => state)).toEqual(['failed', 'failed']);
  });

  it('delays a job that must stop for no longer than a moment', async () => {
    const controller = new AbortController();
    const stopping = job.interceptor({}, controller.signal);
    await stopping.admit(plannedCall('before'));
    redis.pause();
    const admitting = stopping.admit(plannedCall('while it is away'), controller.signal);
    controller.abort('draining');
    await expect(admitting).rejects.toBe('draining');
    redis.resume();
  });
});

describe('a Redis that is full', () => {
  it('sends no call that it could not write down, and still takes an answer that is paid for', async () => {
    await interceptor.admit(CALL);
    await fleet.client.config('SET', 'maxmemory', '1mb');
    await expect(interceptor.admit(plannedCall('while it is full'))).rejects.toMatchObject({
      code: 'redis-full',
    });
    await interceptor.settle(CALL, ANSWERED);
    expect((await job.records()).map(({ state }) => state)).toEqual(['failed', 'answered']);
    expect(await costs()).toMatchObject({ calls: 1, reservedUsd: 0, callsUnderWay: 0 });
  });
});
