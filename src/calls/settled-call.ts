import type { EndedCall } from '../queues/call-record.js';
import { toNano } from './budget/estimate.js';
import { assumedCostOf, costOfOutcome } from './cost.js';
import type { CallOutcome, OutcomeClass } from './outcome.js';

/** How an outcome goes into the books. */
export interface SettledCall {
  readonly end: EndedCall;
  /** `paid`: the provider said what it used; `free`: it turned the call away; `in-doubt`: nobody knows. */
  readonly billed: 'paid' | 'free' | 'in-doubt';
  /** In nano-dollars; undefined where nothing is known to be billed, or the model has no known price. */
  readonly costNano: number | undefined;
  /**
   * What budgets count where the cost of a paid call is not known, in nano-dollars; undefined where the provider did not
   * say what it used. The call then counts at the most it can have cost.
   */
  readonly assumedNano: number | undefined;
}

/** Classes in which a request may have reached the server without an answer that says so. */
const UNHEARD: ReadonlySet<OutcomeClass> = new Set([
  'incomplete',
  'idle',
  'timeout',
  'unreachable',
  'cancelled',
]);

/** @param model the model that was asked; the one that answered has the price */
export function settledCall(outcome: CallOutcome, model: string, at: number): SettledCall {
  const { tokens } = outcome;
  const costUsd = costOfOutcome(outcome, model);
  const assumedUsd = costUsd === null ? assumedCostOf(outcome) : undefined;
  const billed = billing(outcome);
  return {
    end: {
      state: stateOf(outcome, billed),
      at,
      outcome: outcome.class,
      ...(tokens === undefined ? {} : { tokens: { ...tokens } }),
      ...(costUsd === undefined ? {} : { costUsd }),
    },
    billed,
    costNano: costUsd === undefined || costUsd === null ? undefined : toNano(costUsd),
    assumedNano: assumedUsd === undefined ? undefined : toNano(assumedUsd),
  };
}

function billing({ class: outcome, tokens, status, neverSent }: CallOutcome): SettledCall['billed'] {
  if (tokens !== undefined) return 'paid';
  return UNHEARD.has(outcome) && status === undefined && !neverSent ? 'in-doubt' : 'free';
}

function stateOf(outcome: CallOutcome, billed: SettledCall['billed']): EndedCall['state'] {
  if (outcome.class === 'answered') return 'answered';
  if (outcome.message !== undefined) return 'unusable';
  return billed === 'in-doubt' ? 'in-doubt' : 'failed';
}
