import type { ContaminationCase, ContaminationJudge } from '../contamination/contamination-judge.js';
import type { ContaminationResult } from '../contamination/types.js';
import { besideModule, ComputeThread } from './compute-thread.js';

/** What a thread needs to know to reach the known set. */
export interface ContaminationThreadData {
  readonly redisUrl: string;
  readonly prefix: string;
}

/** Outputs that one thread works on at once: while one waits for Redis, another is compared. */
const AT_ONCE = 4;

/**
 * Judges outputs in a thread of its own, since comparing large texts takes seconds. One thread, since each holds an
 * index of the whole known set; more worker processes make it faster.
 */
export class ContaminationThreads implements ContaminationJudge {
  readonly #thread: ComputeThread<ContaminationCase, ContaminationResult>;

  constructor(data: ContaminationThreadData) {
    const module = besideModule(import.meta.url, 'contamination-thread');
    this.#thread = new ComputeThread({ module, data, atOnce: AT_ONCE });
  }

  judge(given: ContaminationCase): Promise<ContaminationResult> {
    return this.#thread.run(given);
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}
