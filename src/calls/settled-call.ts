import type { EndedCall } from '../queues/call-record.js';
import { toNano } from './budget/estimate.js';
import type { PlannedCall } from './call-interceptor.js';
import { assumedCostOf, costOfOutcome } from './cost.js';
import type { CallOutcome, OutcomeClass } from './outcome.js';

/** What is recorded of an outcome. */
export interface SettledCall {
  readonly end: EndedCall;
  /** `paid`: the provider said what it used; `free`: it rejected the call; `in-doubt`: not known. */
  readonly billed: 'paid' | 'free' | 'in-doubt';
  /** In nano-dollars; undefined if nothing is known to be billed, or the model has no known price. */
  readonly costNano: number | undefined;
  /**
   * What budgets count if the cost of a paid call is not known, in nano-dollars; undefined if the provider did not
   * say what it used. The call then counts at the most that it can have cost.
   */
  readonly assumedNano: number | undefined;
}

/** Classes in which a request may have reached the server although no answer confirms it. */
const UNCONFIRMED: ReadonlySet<OutcomeClass> = new Set([
  'incomplete',
  'idle',
  'timeout',
  'unreachable',
  'cancelled',
]);

/** @param at time of the end, in milliseconds since 1970 */
export function settledCall(
  outcome: CallOutcome,
  { model, prices }: Pick<PlannedCall, 'model' | 'prices'>,
  at: number,
): SettledCall {
  const { tokens } = outcome;
  const costUsd = costOfOutcome(outcome, model, prices);
  const assumedUsd = costUsd === null ? assumedCostOf(outcome, prices) : undefined;
  const billed = billing(outcome);
  return {
    end: {
      state: stateOf(outcome, billed),
      at,
      outcome: outcome.class,
      ...(outcome.message === undefined ? { detail: outcome.detail } : {}),
      ...(tokens === undefined ? {} : { tokens: { ...tokens } }),
      ...(costUsd === undefined ? {} : { costUsd }),
    },
    billed,
    costNano: costUsd === undefined || costUsd === null ? undefined : toNano(costUsd),
    assumedNano: assumedUsd === undefined ? undefined : toNano(assumedUsd),
  };
}

function billing(ended: CallOutcome): SettledCall['billed'] {
  const { class: outcome, tokens, status, neverSent, mayBeBilled } = ended;
  if (tokens !== undefined) return 'paid';
  if (mayBeBilled) return 'in-doubt';
  return UNCONFIRMED.has(outcome) && status === undefined && !neverSent ? 'in-doubt' : 'free';
}

function stateOf(outcome: CallOutcome, billed: SettledCall['billed']): EndedCall['state'] {
  if (outcome.class === 'answered') return 'answered';
  if (outcome.message !== undefined) return 'unusable';
  return billed === 'in-doubt' ? 'in-doubt' : 'failed';
}

/** Input, output, cache read and cache write, as the scripts take them. */
export function billedTokens({ tokens }: EndedCall): number[] {
  return [
    tokens?.inputTokens ?? 0,
    tokens?.outputTokens ?? 0,
    tokens?.cacheReadTokens ?? 0,
    tokens?.cacheWriteTokens ?? 0,
  ];
}
