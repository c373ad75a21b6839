import { replyText, type ScriptReply } from '../../queues/run-script.js';
import { CallDeferred } from '../call-deferred.js';
import type { PlannedCall } from '../call-interceptor.js';
import { overBudget } from '../refusals.js';

/** How soon a call looks again for room in a budget that other calls have reserved. */
const BUDGET_LOOK_MS = 1_000;

/**
 * What a call waits for whose budgets have no room now.
 *
 * @param reply {'over' or 'busy', scope, limit, spent, reserved}, as the scripts return it
 * @throws CallRefusedError `budget-exhausted` if there will be none
 */
export function noRoom(call: PlannedCall, reply: readonly ScriptReply[], maxCost: number): CallDeferred {
  const [status, scope, ...amounts] = reply.map((value) => replyText(value));
  if (status === 'busy')
    return new CallDeferred(BUDGET_LOOK_MS, 'the rest of the budget is reserved for calls under way');
  const [limit = 0, spent = 0, reserved = 0] = amounts.map(Number);
  throw overBudget(call, { scope: scope ?? '', limit, spent, reserved, maxCost });
}
