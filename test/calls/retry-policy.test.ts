import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_RETRY_POLICY, parseRetryAfter, retryDelay } from '../../src/calls/retry-policy.js';

const NOW = Date.parse('2026-11-20T10:00:00Z');

describe('parseRetryAfter', () => {
  it.each([
    ['seconds', '7', 7_000],
    ['fractions of seconds', '0.5', 500],
    ['a date to come', 'Fri, 20 Nov 2026 10:00:30 GMT', 30_000],
    ['ten days', '864000', 864_000_000],
    ['more than a number holds', '9'.repeat(400), Number.POSITIVE_INFINITY],
  ])('takes %s', (_, value, ms) => {
    expect(parseRetryAfter(value, NOW)).toBe(ms);
  });

  it.each([
    ['nothing', undefined],
    ['an empty value', ''],
    ['zero', '0'],
    ['a negative number', '-5'],
    ['text', 'soon'],
    ['text that the date parser would guess at', '5 apples'],
    ['a date that has passed', 'Fri, 20 Nov 2026 09:59:00 GMT'],
    ['a date that is none', 'Fri, 99 Foo 2026'],
    ['notations of other languages', '1e9'],
    ['infinity', 'Infinity'],
  ])('ignores %s', (_, value) => {
    expect(parseRetryAfter(value, NOW)).toBeNull();
  });
});

describe('retryDelay', () => {
  it('doubles from about a second, with jitter of up to a half', () => {
    const waits = [1, 2, 3, 4].map((retry) =>
      [0, 0.999].map((random) => retryDelay(DEFAULT_RETRY_POLICY, retry, null, random)),
    );
    expect(waits).toEqual([
      [500, 1_000],
      [1_000, 1_999],
      [2_000, 3_998],
      [4_000, 7_996],
    ]);
  });

  it('waits what the server asks for, never less, and at most its cap and a tenth', () => {
    expect(retryDelay(DEFAULT_RETRY_POLICY, 1, 7_000, 0)).toBe(7_000);
    expect(retryDelay(DEFAULT_RETRY_POLICY, 1, 864_000_000, 0)).toBe(60_000);
    expect(retryDelay(DEFAULT_RETRY_POLICY, 1, Number.POSITIVE_INFINITY, 0.999)).toBeLessThanOrEqual(66_000);
  });

  it('is always a wait that a timer can hold', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10_000 }),
        fc.option(fc.double({ min: Number.MIN_VALUE, noNaN: true })),
        fc.double({ min: 0, max: 0.999999, noNaN: true }),
        (retry, asked, random) => {
          const wait = retryDelay(DEFAULT_RETRY_POLICY, retry, asked, random);
          expect(wait).toBeGreaterThanOrEqual(0);
          expect(wait).toBeLessThanOrEqual(66_000);
        },
      ),
    );
  });
});
