import type { ContaminationCase, ContaminationChecker } from '../contamination/contamination-checker.js';
import type { ContaminationResult } from '../contamination/types.js';
import { maybeSmall } from '../known/small-case.js';
import type { RedisWaitOptions } from '../queues/connection.js';
import type { TaskOwner } from './compute-lane.js';
import { siblingModuleUrl } from './compute-thread.js';
import { type ComputeLimits, DEFAULT_COMPUTE_LIMITS, TwoLanes } from './two-lanes.js';

/** What a thread needs to know to reach the known set. */
export interface ContaminationThreadData extends RedisWaitOptions {
  readonly redisUrl: string;
  readonly prefix: string;
}

/**
 * Checks outputs in threads of its own, since comparing large texts takes seconds: small cases in one, with an index of a
 * small known set alone; all others in another, with an index of the whole set. More worker processes make it faster.
 */
export class ContaminationThreads {
  readonly #lanes: TwoLanes<ContaminationCase, ContaminationResult | undefined>;

  constructor(data: ContaminationThreadData, limits: ComputeLimits = DEFAULT_COMPUTE_LIMITS) {
    const module = (name: string) => siblingModuleUrl(import.meta.url, name);
    const modules = { short: module('small-contamination-thread'), long: module('contamination-thread') };
    this.#lanes = new TwoLanes('the comparison of the output', limits, modules, data);
  }

  /**
   * The checker for one job.
   * @param owner The job: with its signal its task is given up, also in the middle of its computing.
   */
  checkerFor(owner: TaskOwner): ContaminationChecker {
    return { check: (given) => this.#check(given, owner) };
  }

  async #check(given: ContaminationCase, owner: TaskOwner): Promise<ContaminationResult> {
    if (maybeSmall(given)) {
      const verdict = await this.#lanes.run(given, true, owner);
      if (verdict !== undefined) return verdict;
    }
    const verdict = await this.#lanes.run(given, false, owner);
    if (verdict === undefined) throw new TypeError('the thread of the whole known set gave no verdict');
    return verdict;
  }

  close(): Promise<void> {
    return this.#lanes.close();
  }
}
