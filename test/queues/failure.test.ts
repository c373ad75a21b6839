import { describe, expect, it } from 'vitest';
import { AgentError, JobError } from '../../src/errors.js';
import { decodeFailure, encodeFailure } from '../../src/queues/failure.js';

describe('failures on jobs', () => {
  it('come back with code, message and whether trying again helps', () => {
    const failure = decodeFailure(encodeFailure(new AgentError('rate-limited', 'quota: [x] used\nup')));
    expect(failure).toEqual({ code: 'rate-limited', message: 'quota: [x] used\nup', retryable: true });
  });

  it('of an error that is not ours are internal', () => {
    expect(decodeFailure(encodeFailure(new TypeError('oops')))).toMatchObject({
      code: 'internal',
      message: 'oops',
    });
  });

  it('that another program wrote keep their text', () => {
    const reason = 'job stalled more than allowable limit';
    expect(decodeFailure(reason)).toMatchObject({ code: 'job-failed', message: reason });
    expect(decodeFailure('[no-such-code] text')).toMatchObject({ code: 'job-failed' });
    expect(decodeFailure('[toString] text')).toMatchObject({ code: 'job-failed' });
  });

  it('are cut if a provider sends a page', () => {
    const stored = encodeFailure(new JobError('job-failed', 'x'.repeat(50_000)));
    expect(stored.length).toBeLessThan(8_100);
    expect(stored.endsWith('(cut)')).toBe(true);
  });
});
