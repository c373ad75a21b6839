import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { costsOfDay } from '../../src/calls/budget/read-costs.js';
import { CallDeferred } from '../../src/calls/call-deferred.js';
import type { PlannedCall } from '../../src/calls/call-interceptor.js';
import { textOf } from '../../src/calls/message.js';
import { performCall } from '../../src/calls/perform-call.js';
import { priceListOf } from '../../src/calls/prices.js';
import {
  cutAfter,
  errorAfter,
  errorReply,
  type MessagesApi,
  type Script,
  startMessagesApi,
  textReply,
} from '../support/messages-api.js';
import { PROVIDERS } from '../support/providers.js';
import { redisOfFile } from '../support/redis.js';
import {
  type FleetOfCalls,
  fleetOfCalls,
  type InterceptedTestJob,
  plannedCall,
  settingsFor,
} from './calling-job.js';

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

const MODEL = 'a-model-of-ours';
const request = { ...plannedCall('a question').request, model: MODEL };
const prices = priceListOf({ [MODEL]: { input: 2, output: 10, cacheRead: 0.5 } });
const CALL: PlannedCall = plannedCall('a question', { model: MODEL, request, prices });
/** Headers of a used-up limit that comes back in 90 s, as each provider words them. */
const USED_UP = {
  anthropic: {
    'anthropic-ratelimit-requests-remaining': '0',
    'anthropic-ratelimit-requests-reset': new Date(Date.now() + 90_000).toISOString(),
  },
  openai: { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '1m30s' },
};

describe.each(PROVIDERS)('$provider: the calls of a job', ({ provider, transport }) => {
  async function serve(reply: Script): Promise<InterceptedTestJob> {
    api = await startMessagesApi({ reply });
    const job = fleet.job({ run: `run-${provider}` });
    await job.takeOver();
    return job;
  }

  /** Performs the call in another attempt of the job. */
  function attempt(job: InterceptedTestJob, options: Parameters<typeof job.interceptor>[0] = {}) {
    const settings = { ...settingsFor(api), transport: transport({ apiKey: 'k', baseURL: api.url }) };
    const interceptor = job.interceptor({ shortWaitMs: 0, ...options });
    return performCall(
      CALL,
      { ...settings, retry: { ...settings.retry, retries: 0 } },
      { interceptors: [interceptor] },
    );
  }

  it('are answered from the ledger in a later attempt, and paid once at the configured price', async () => {
    const usage = { input_tokens: 1_000, output_tokens: 100, cache_read_input_tokens: 4_000 };
    const job = await serve([textReply('yes', { usage, model: 'served-name' })]);
    for (let count = 0; count < 2; count += 1) {
      const { message } = await attempt(job);
      expect(message && textOf(message)).toBe('yes');
    }
    expect(api.requests).toHaveLength(1);
    const { spentUsd, calls, cacheReadTokens } = await costsOfDay(fleet.client, fleet.prefix, Date.now());
    expect(spentUsd).toBeCloseTo((1_000 * 2 + 100 * 10 + 4_000 * 0.5) / 1e6, 9);
    expect([calls, cacheReadTokens]).toEqual([1, 4_000]);
  });

  it.each([
    ['break off', cutAfter(textReply('yes'), 2), { class: 'incomplete' }],
    [
      'fail inside of the provider',
      errorAfter(textReply('yes'), 3, 'api_error', 'it failed'),
      { reason: `${MODEL}: overloaded` },
    ],
  ])('that %s are sent again, and what they cost is not forgotten', async (_, broken, end) => {
    const job = await serve([broken, textReply('yes')]);
    expect(await attempt(job).catch((thrown: unknown) => thrown)).toMatchObject(end);
    // After the pause of an overloaded model.
    expect((await attempt(job, { now: () => Date.now() + 60_000 })).class).toBe('answered');
    const { calls, callsInDoubt, inDoubtUsd } = await costsOfDay(fleet.client, fleet.prefix, Date.now());
    // The Messages API counts the prompt at the start of a stream, so the broken answer is paid, not in doubt.
    expect([calls, callsInDoubt]).toEqual(provider === 'anthropic' ? [2, 0] : [1, 1]);
    expect(inDoubtUsd > 0).toBe(provider === 'openai');
  });

  it('hold back for the whole fleet until a used-up limit is reset', async () => {
    const job = await serve([errorReply(429, 'slow down', USED_UP[provider]), textReply('yes')]);
    const deferred = await attempt(job).catch((thrown: unknown) => thrown);
    expect(deferred).toBeInstanceOf(CallDeferred);
    const { waitMs } = deferred as CallDeferred;
    expect(waitMs).toBeGreaterThan(60_000);
    expect(waitMs).toBeLessThan(120_000);
    const other = fleet.job();
    await other.takeOver();
    await expect(attempt(other)).rejects.toBeInstanceOf(CallDeferred);
    expect(api.requests).toHaveLength(1);
  });

  it('are refused where the budget has no room for them at the configured price', async () => {
    const job = await serve([textReply('yes')]);
    await expect(attempt(job, { budgetUsd: 0.001 })).rejects.toMatchObject({ code: 'budget-exhausted' });
    expect(api.requests).toHaveLength(0);
    expect((await attempt(job, { budgetUsd: 0.1 })).class).toBe('answered');
  });
});
