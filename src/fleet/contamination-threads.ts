import type { ContaminationCase, ContaminationChecker } from '../contamination/contamination-checker.js';
import type { ContaminationResult } from '../contamination/types.js';
import { maybeSmall } from '../known/small-case.js';
import type { RedisWaitOptions } from '../queues/connection.js';
import type { TaskOwner } from './compute-lane.js';
import { siblingModuleUrl } from './compute-thread.js';
import { type ComputeLimits, DEFAULT_COMPUTE_LIMITS, TwoLanes } from './two-lanes.js';

/** What a thread needs to connect to the known set. */
export interface ContaminationThreadData extends RedisWaitOptions {
  readonly redisUrl: string;
  readonly prefix: string;
}

/**
 * Checks outputs in threads, because comparing large texts takes seconds: small cases in one, with an index of a small
 * known set alone; all others in another, with an index of the whole set. More worker processes make it faster.
 */
export class ContaminationThreads {
  readonly #lanes: TwoLanes<ContaminationCase, ContaminationResult | undefined>;

  constructor(data: ContaminationThreadData, limits: ComputeLimits = DEFAULT_COMPUTE_LIMITS) {
    const module = (name: string) => siblingModuleUrl(import.meta.url, name, '.cjs');
    const modules = { short: module('small-contamination-thread'), long: module('contamination-thread') };
    this.#lanes = new TwoLanes('the comparison of the output', limits, modules, data);
  }

  /**
   * The checker for one job.
   * @param owner The job: its signal aborts the task, also while the thread computes.
   */
  checkerFor(owner: TaskOwner): ContaminationChecker {
    return { check: (input) => this.#check(input, owner) };
  }

  async #check(input: ContaminationCase, owner: TaskOwner): Promise<ContaminationResult> {
    if (maybeSmall(input)) {
      const result = await this.#lanes.run(input, true, owner);
      if (result !== undefined) return result;
    }
    const result = await this.#lanes.run(input, false, owner);
    if (result === undefined) throw new TypeError('the thread of the whole known set returned no result');
    return result;
  }

  close(): Promise<void> {
    return this.#lanes.close();
  }
}
