import { describe, expect, it } from 'vitest';
import { CallDeferred } from '../../src/calls/call-deferred.js';
import { AgentError, CallRefusedError, JobError, PayloadError } from '../../src/errors.js';
import { ABORT_REASONS, type AbortReason } from '../../src/fleet/abort-reasons.js';
import { decideFailure, type FailedAttempt } from '../../src/fleet/failure-decision.js';

const attempt = (facts: Partial<FailedAttempt> = {}): FailedAttempt => ({
  jobId: 'job-1',
  attemptsMade: 0,
  attempts: 3,
  signal: { aborted: false, reason: undefined },
  redisIsFull: false,
  timeoutMs: 9,
  newerContractDelayMs: 77,
  ...facts,
});
const aborted = (reason: AbortReason) => attempt({ signal: { aborted: true, reason } });
const retryable = new AgentError('answer-incomplete', 'cut');
const unusable = new PayloadError('invalid-payload', 'no text');
const deferred = new CallDeferred(500, 'the model has no capacity', true);

describe('a job whose attempt threw', () => {
  it.each([
    ['lost its lock', new JobError('lock-lost', 'taken'), attempt(), { action: 'leave' }],
    ['was aborted because its lock is lost', unusable, aborted(ABORT_REASONS.lockLost), { action: 'leave' }],
    ['was aborted by a draining worker', retryable, aborted(ABORT_REASONS.draining), { action: 'requeue' }],
    [
      'waits for the call, in a draining worker',
      deferred,
      aborted(ABORT_REASONS.draining),
      { action: 'requeue' },
    ],
    [
      'met a call in doubt, in a draining worker',
      new CallRefusedError('call-in-doubt', 'sent'),
      aborted(ABORT_REASONS.draining),
      { action: 'fail', error: { code: 'call-in-doubt' } },
    ],
    [
      'could not write to a full Redis',
      new Error('OOM'),
      attempt({ redisIsFull: true }),
      { action: 'delay', waitMs: 1_000, cause: { kind: 'redis-full' } },
    ],
    [
      'was deferred',
      deferred,
      attempt(),
      {
        action: 'delay',
        waitMs: 500,
        cause: { kind: 'call-deferred', reason: deferred.reason, parked: true },
      },
    ],
    [
      'has a newer contract',
      new PayloadError('newer-contract', 'v9'),
      attempt(),
      { action: 'delay', waitMs: 77, cause: { kind: 'newer-contract', message: 'v9' } },
    ],
    ['may be tried again', retryable, attempt(), { action: 'retry', error: retryable }],
    ['has no attempts left', retryable, attempt({ attemptsMade: 2 }), { action: 'fail', error: retryable }],
    ['cannot succeed', unusable, attempt(), { action: 'fail', error: unusable }],
    [
      'was cancelled',
      retryable,
      aborted(ABORT_REASONS.cancelled),
      { action: 'fail', error: { code: 'job-cancelled', jobId: 'job-1' } },
    ],
    [
      'took too long',
      retryable,
      aborted(ABORT_REASONS.timeout),
      { action: 'fail', error: { code: 'job-timeout', message: 'the job ran for more than 9 ms' } },
    ],
    [
      'ignored its abort',
      new JobError('handler-ignored-abort', 'slow'),
      aborted(ABORT_REASONS.timeout),
      { error: { code: 'handler-ignored-abort' } },
    ],
  ])('%s', (_name, thrown, facts, decision) => {
    expect(decideFailure(thrown, facts)).toMatchObject(decision);
  });
});
