import type { Redis } from 'ioredis';
import type { ContaminationCase, ContaminationJudge } from '../contamination/contamination-judge.js';
import type { ContaminationResult } from '../contamination/types.js';
import { KnownStore } from '../known/known-store.js';
import { SmallCaseJudge } from '../known/small-case-judge.js';
import { besideModule, ComputeThread } from './compute-thread.js';

/** What a thread needs to know to reach the known set. */
export interface ContaminationThreadData {
  readonly redisUrl: string;
  readonly prefix: string;
}

/** Outputs that one thread works on at once: while one waits for Redis, another is compared. */
const AT_ONCE = 4;

/**
 * Judges outputs in a thread of its own, since comparing large texts takes seconds; small cases are judged in place. One
 * thread, since each holds an index of the whole known set; more worker processes make it faster.
 */
export class ContaminationThreads implements ContaminationJudge {
  readonly #small: SmallCaseJudge;
  readonly #thread: ComputeThread<ContaminationCase, ContaminationResult>;

  /** @param client for what is judged in place */
  constructor(client: Redis, data: ContaminationThreadData) {
    this.#small = new SmallCaseJudge(new KnownStore(client, data.prefix));
    const module = besideModule(import.meta.url, 'contamination-thread');
    this.#thread = new ComputeThread({ module, data, atOnce: AT_ONCE });
  }

  async judge(given: ContaminationCase): Promise<ContaminationResult> {
    return (await this.#small.judge(given)) ?? this.#thread.run(given);
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}
