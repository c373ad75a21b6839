import { describe, expect, it } from 'vitest';
import { configuredControl } from '../../src/calls/configured-control.js';
import { limitsOf } from '../../src/calls/limiter/model-limits.js';
import { loadConfig } from '../../src/config/load-config.js';

const control = (environment: Record<string, string>) => configuredControl(loadConfig(environment));

describe('what the configuration holds agent calls to', () => {
  it('is without any variable: no budget, no limits of its own, calls in doubt sent again, nothing of other jobs reused', () => {
    expect(control({})).toEqual({
      callsInDoubt: 'resend',
      reuse: 'none',
      answerTtlMs: 7 * 86_400_000,
      quotaParkMs: 600_000,
      callWaitMs: 86_400_000,
      cacheWaitMs: 10_000,
      batches: {
        collectMs: 60_000,
        pollMs: 60_000,
        marginMs: 900_000,
        minMs: 3_600_000,
        requestMs: 300_000,
        leaseMs: 20_000,
      },
    });
  });

  it('is what the variables say', () => {
    const options = control({
      FLEET_BUDGET_USD: '0.5',
      FLEET_IN_DOUBT: 'park',
      FLEET_REUSE: 'fleet',
      FLEET_RETENTION_DAYS: '2',
      FLEET_QUOTA_PARK_MS: '1000',
      FLEET_CALL_WAIT_MS: '2000',
      FLEET_CACHE_WAIT_MS: '0',
      FLEET_MODEL_LIMITS: '{"m":{"requests":5},"*":{"inputTokens":10}}',
      FLEET_BATCH_AFTER: '6h',
      FLEET_BATCH_COLLECT_MS: '100',
      FLEET_BATCH_POLL_MS: '200',
      FLEET_BATCH_MARGIN_MS: '300',
    });
    expect(options).toMatchObject({
      budgetUsd: 0.5,
      callsInDoubt: 'park',
      reuse: 'fleet',
      answerTtlMs: 2 * 86_400_000,
      quotaParkMs: 1_000,
      callWaitMs: 2_000,
      cacheWaitMs: 0,
      batches: { afterMs: 21_600_000, collectMs: 100, pollMs: 200, marginMs: 300, minMs: 1_200 },
    });
    expect(limitsOf('m', options.limits ?? {})).toEqual({ requests: 5, input: undefined, output: undefined });
    expect(limitsOf('other', options.limits ?? {})).toEqual({
      requests: undefined,
      input: 10,
      output: undefined,
    });
  });

  it.each(['6', '6 hours', '-1h', '+6h'])('a deadline of "%s" is refused by name', (value) => {
    const refused = expect.objectContaining({ code: 'invalid-configuration', field: 'FLEET_BATCH_AFTER' });
    expect(() => control({ FLEET_BATCH_AFTER: value })).toThrow(refused);
  });

  it('a budget of nothing is a budget', () => {
    expect(control({ FLEET_BUDGET_USD: '0' }).budgetUsd).toBe(0);
  });

  it.each([
    ['no JSON', 'requests=5', 'expected JSON'],
    ['an unknown field', '{"m":{"request":5}}', 'm'],
    ['a limit of nothing', '{"m":{"requests":0}}', 'm.requests'],
    ['a list', '[5]', 'FLEET_MODEL_LIMITS'],
  ])('limits that are %s are refused by name', (_, limits, named) => {
    expect(() => control({ FLEET_MODEL_LIMITS: limits })).toThrow(
      expect.objectContaining({
        code: 'invalid-configuration',
        field: 'FLEET_MODEL_LIMITS',
        message: expect.stringContaining(named),
      }),
    );
  });

  it.each(['-1', 'much', 'NaN', 'Infinity'])('a budget of %s is refused by name', (value) => {
    expect(() => control({ FLEET_BUDGET_USD: value })).toThrow(
      expect.objectContaining({ code: 'invalid-configuration', field: 'FLEET_BUDGET_USD' }),
    );
  });

  it('a model named like a property of every object has no limits', () => {
    expect(limitsOf('constructor', {})).toEqual({ requests: undefined, input: undefined, output: undefined });
  });
});
