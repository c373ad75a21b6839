import type { CallGate, PlannedCall } from './call-gate.js';
import { type Clock, waitFor } from './clock.js';
import type { ReceivedMessage } from './message.js';
import type { CallOutcome } from './outcome.js';
import { parseRetryAfter, type RetryPolicy, retryDelay } from './retry-policy.js';
import { isPassing } from './retry-table.js';
import { type CallLimits, classifyMessage, sendCall } from './send-call.js';
import type { Transport } from './transport.js';

export interface CallSettings {
  readonly transport: Transport;
  readonly limits: CallLimits;
  readonly retry: RetryPolicy;
  readonly clock: Clock;
  /** A number in [0, 1), for jitter. */
  readonly random: () => number;
}

export interface CallHooks {
  readonly gates?: readonly CallGate[];
  readonly signal?: AbortSignal;
  /**
   * Judges a message that ended as it should; an answer that cannot be used gets another class, so that no
   * gate keeps it as an answer.
   */
  readonly judge?: (message: ReceivedMessage) => Pick<CallOutcome, 'class' | 'detail'> | undefined;
  /** Told of every sending that ended, and of an answer that a gate gave (`reused`). */
  readonly onOutcome?: (outcome: CallOutcome, reused: boolean) => void;
  /** Told before a wait. */
  readonly onRetry?: (outcome: CallOutcome, waitMs: number, retry: number) => void;
}

/**
 * Performs one call: admit, record, send, classify, settle; again in place while it fails in passing. The
 * outcome of the last sending is the call's. A failure that a gate paces uses up no retry.
 *
 * @throws what a gate throws to refuse the call
 */
export async function performCall(
  call: PlannedCall,
  settings: CallSettings,
  hooks: CallHooks = {},
): Promise<CallOutcome> {
  let retry = 0;
  for (;;) {
    const outcome = await sendThroughGates(call, settings, hooks);
    if (!isPassing(outcome) || hooks.signal?.aborted) return outcome;
    if (hooks.gates?.some((gate) => gate.paces?.(outcome))) continue;
    retry += 1;
    if (retry > settings.retry.retries) return outcome;

    const asked = parseRetryAfter(outcome.headers?.['retry-after'], settings.clock.now());
    const waitMs = retryDelay(settings.retry, retry, asked, settings.random());
    hooks.onRetry?.(outcome, waitMs, retry);
    const waited = await waitUnlessAborted(waitMs, settings.clock, hooks.signal);
    if (!waited)
      return { class: 'cancelled', detail: 'the call was cancelled while it waited to be sent again' };
  }
}

async function sendThroughGates(
  call: PlannedCall,
  settings: CallSettings,
  hooks: CallHooks,
): Promise<CallOutcome> {
  const gates = hooks.gates ?? [];
  const kept = await admit(call, gates, hooks.signal);
  if (kept) {
    const { tokens: _paidBefore, ...before } = classifyMessage(kept);
    const reused = judged(before, hooks);
    hooks.onOutcome?.(reused, true);
    return reused;
  }
  await record(call, gates);
  const sent = await sendCall(
    call.request,
    settings.transport,
    settings.limits,
    settings.clock,
    hooks.signal,
    () => {
      for (const gate of gates) gate.accepted?.(call);
    },
  );
  const outcome = judged(sent, hooks);
  // Before any gate can fail: what the call has used is known from here on.
  hooks.onOutcome?.(outcome, false);
  for (const gate of gates.toReversed()) await gate.settle?.(call, outcome);
  return outcome;
}

async function admit(
  call: PlannedCall,
  gates: readonly CallGate[],
  signal: AbortSignal | undefined,
): Promise<ReceivedMessage | undefined> {
  const admitted: CallGate[] = [];
  let sending = false;
  try {
    for (const gate of gates) {
      const kept = await gate.admit?.(call, signal);
      if (kept) return kept;
      admitted.push(gate);
    }
    sending = true;
    return undefined;
  } finally {
    if (!sending) for (const gate of admitted.toReversed()) await gate.release?.(call);
  }
}

async function record(call: PlannedCall, gates: readonly CallGate[]): Promise<void> {
  try {
    for (const gate of gates) await gate.record?.(call);
  } catch (thrown) {
    for (const gate of gates.toReversed()) await gate.release?.(call);
    throw thrown;
  }
}

function judged(outcome: CallOutcome, { judge }: CallHooks): CallOutcome {
  if (outcome.class !== 'answered' || !outcome.message) return outcome;
  const verdict = judge?.(outcome.message);
  return verdict ? { ...outcome, ...verdict } : outcome;
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
