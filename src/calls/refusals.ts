import { CallRefusedError, JobError } from '../errors.js';
import { fromNano } from './budget/estimate.js';
import type { PlannedCall } from './call-interceptor.js';

/** The account that has no room for a call, money in nano-dollars. */
export interface BudgetRoom {
  readonly scope: string;
  readonly limit: number;
  readonly spent: number;
  readonly reserved: number;
  readonly maxCost: number;
}

function usd(nano: number): string {
  return `$${fromNano(nano).toFixed(4)}`;
}

export function overBudget(
  call: PlannedCall,
  { scope, limit, spent, reserved, maxCost }: BudgetRoom,
): CallRefusedError {
  const whose = scope === 'day' ? 'of the day (FLEET_BUDGET_USD)' : 'of the run';
  return new CallRefusedError(
    'budget-exhausted',
    `${call.step}: the budget ${whose} is ${usd(limit)}, of which ${usd(spent)} are spent and ${usd(reserved)} reserved; ` +
      `this call can cost up to ${usd(maxCost)}, so it is not sent.`,
    { field: scope === 'day' ? 'FLEET_BUDGET_USD' : 'budgetUsd' },
  );
}

export function waitedTooLong(call: PlannedCall, waitedMs: number): CallRefusedError {
  return new CallRefusedError(
    'quota-exhausted',
    `${call.step}: the provider's limits for ${call.model} have rejected this job's calls for ${Math.round(waitedMs / 1_000)} s; it gives up.`,
  );
}

export function brokenTooOften(call: PlannedCall, count: number, detail: string): CallRefusedError {
  return new CallRefusedError(
    'answers-broken-off',
    `${call.step}: ${count} answers in a row were billed and broke off before their end; the last one: ${detail}.`,
  );
}

export function callInDoubt(call: PlannedCall): CallRefusedError {
  return new CallRefusedError(
    'call-in-doubt',
    `${call.step}: call ${call.turn} was sent before and nobody knows whether it was answered and billed; a person decides (FLEET_IN_DOUBT=park).`,
  );
}

export function lostJob(): JobError {
  return new JobError(
    'lock-lost',
    "this worker no longer owns the job's lock: it expired, and nothing more is written",
  );
}
