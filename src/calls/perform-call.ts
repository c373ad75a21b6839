import type { CallInterceptor, PlannedCall, RecordedAnswer } from './call-interceptor.js';
import { type Clock, waitFor } from './clock.js';
import type { ReceivedMessage } from './message.js';
import type { CallOutcome } from './outcome.js';
import type { PriceList } from './prices.js';
import { parseRetryAfter, type RetryPolicy, retryDelay } from './retry-policy.js';
import { isPassing } from './retry-table.js';
import { type CallLimits, classifyMessage, sendCall } from './send-call.js';
import type { Transport } from './transport.js';

export interface CallSettings {
  readonly transport: Transport;
  /** Prices of the configuration, which come before those of the list. */
  readonly prices?: PriceList;
  readonly limits: CallLimits;
  readonly retry: RetryPolicy;
  readonly clock: Clock;
  /** A number in [0, 1), for jitter. */
  readonly random: () => number;
}

export interface CallHooks {
  readonly interceptors?: readonly CallInterceptor[];
  readonly signal?: AbortSignal;
  /**
   * Checks a complete message; an answer that cannot be used gets another class, so that no interceptor stores it as an
   * answer.
   */
  readonly checkAnswer?: (message: ReceivedMessage) => Pick<CallOutcome, 'class' | 'detail'> | undefined;
  /** Called each time a sent call has ended, and for an answer that an interceptor returned (`reused`). */
  readonly onOutcome?: (outcome: CallOutcome, reused: boolean) => void;
  /** Called before a wait. */
  readonly onRetry?: (outcome: CallOutcome, waitMs: number, retry: number) => void;
}

/**
 * Performs one call: admit, record, send, classify, settle; repeats this after a transient failure. The last outcome is
 * the call's. A failure that an interceptor delays uses up no retry.
 *
 * @throws what an interceptor throws to reject the call
 */
export async function performCall(
  call: PlannedCall,
  settings: CallSettings,
  hooks: CallHooks = {},
): Promise<CallOutcome> {
  let retry = 0;
  for (;;) {
    const outcome = await sendThroughInterceptors(call, settings, hooks);
    if (!isPassing(outcome) || hooks.signal?.aborted) return outcome;
    if (hooks.interceptors?.some((interceptor) => interceptor.shouldDelayRetry?.(outcome))) continue;
    retry += 1;
    if (retry > settings.retry.retries) return outcome;

    const retryAfterMs = parseRetryAfter(outcome.headers?.['retry-after'], settings.clock.now());
    const waitMs = retryDelay(settings.retry, retry, retryAfterMs, settings.random());
    hooks.onRetry?.(outcome, waitMs, retry);
    const waited = await waitUnlessAborted(waitMs, settings.clock, hooks.signal);
    if (!waited)
      return { class: 'cancelled', detail: 'the call was cancelled while it waited to be sent again' };
  }
}

async function sendThroughInterceptors(
  call: PlannedCall,
  settings: CallSettings,
  hooks: CallHooks,
): Promise<CallOutcome> {
  const interceptors = hooks.interceptors ?? [];
  const recorded = await admit(call, interceptors, hooks.signal);
  if (recorded) {
    const { tokens, ...before } = classifyMessage(recorded.message);
    const isNew = recorded.fromBatch === true;
    const outcome = checked(isNew && tokens ? { ...before, tokens, inBatch: true } : before, hooks);
    hooks.onOutcome?.(outcome, !isNew);
    if (isNew) for (const interceptor of interceptors) await interceptor.use?.(call, outcome);
    return outcome;
  }
  await record(call, interceptors);
  const sent = await sendCall(
    call.request,
    settings.transport,
    settings.limits,
    settings.clock,
    hooks.signal,
    (tokens) => {
      for (const interceptor of interceptors) interceptor.begin?.(call, tokens);
    },
  );
  const outcome = checked(sent, hooks);
  // Before `settle`, which can fail: the caller must learn what the call has used.
  hooks.onOutcome?.(outcome, false);
  for (const interceptor of interceptors.toReversed()) await interceptor.settle?.(call, outcome);
  return outcome;
}

async function admit(
  call: PlannedCall,
  interceptors: readonly CallInterceptor[],
  signal: AbortSignal | undefined,
): Promise<RecordedAnswer | undefined> {
  const admitted: CallInterceptor[] = [];
  let sending = false;
  try {
    for (const interceptor of interceptors) {
      const recorded = await interceptor.admit?.(call, signal);
      if (recorded) return recorded;
      admitted.push(interceptor);
    }
    sending = true;
    return undefined;
  } finally {
    if (!sending) for (const interceptor of admitted.toReversed()) await interceptor.release?.(call);
  }
}

async function record(call: PlannedCall, interceptors: readonly CallInterceptor[]): Promise<void> {
  try {
    for (const interceptor of interceptors) await interceptor.record?.(call);
  } catch (thrown) {
    for (const interceptor of interceptors.toReversed()) await interceptor.release?.(call);
    throw thrown;
  }
}

function checked(outcome: CallOutcome, { checkAnswer }: CallHooks): CallOutcome {
  if (outcome.class !== 'answered' || !outcome.message) return outcome;
  const problem = checkAnswer?.(outcome.message);
  return problem ? { ...outcome, ...problem } : outcome;
}

/** Whether the wait ran to its end. */
async function waitUnlessAborted(
  ms: number,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  try {
    await waitFor(ms, clock, signal);
    return true;
  } catch (reason) {
    if (signal?.aborted) return false;
    throw reason;
  }
}
