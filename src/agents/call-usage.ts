import { costOfOutcome } from '../calls/cost.js';
import type { CallOutcome } from '../calls/outcome.js';
import { addUsage, NO_USAGE, type Usage } from '../queues/usage.js';

/**
 * Sums what the calls of one question use. A call counts once the provider has said what it used, also where
 * its answer then broke off; one that was turned away (429, 5xx, no connection) is not billed and not counted.
 */
export class CallUsage {
  #total: Usage = NO_USAGE;

  /** @param model the model that was asked; the one that answered has the price */
  add(outcome: CallOutcome, model: string, reused: boolean): void {
    if (reused) {
      this.#total = addUsage(this.#total, { ...NO_USAGE, reusedCalls: 1 });
    } else if (outcome.tokens) {
      const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = outcome.tokens;
      this.#total = addUsage(this.#total, {
        calls: 1,
        reusedCalls: 0,
        inputTokens,
        outputTokens,
        cacheReadTokens,
        cacheWriteTokens,
        costUsd: costOfOutcome(outcome, model) ?? null,
      });
    }
  }

  get total(): Usage {
    return this.#total;
  }
}
