import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import type { ContaminationCase, ContaminationJudge } from '../contamination/contamination-judge.js';
import type { ContaminationResult } from '../contamination/types.js';

/** What a thread needs to know to reach the known set. */
export interface ContaminationThreadData {
  readonly redisUrl: string;
  readonly prefix: string;
}

/** Outputs that one thread works on at once: while one waits for Redis, another is compared. */
const AT_ONCE = 4;

/**
 * Judges outputs in a thread of its own. Comparing large texts takes seconds of computing; in the worker's own thread it
 * would keep locks from being renewed and health checks from being answered. One thread, since each holds an index of
 * the whole known set; more worker processes make it faster.
 */
export class ContaminationThreads implements ContaminationJudge {
  readonly #data: ContaminationThreadData;
  #pool: Piscina<ContaminationCase, ContaminationResult> | undefined;

  constructor(data: ContaminationThreadData) {
    this.#data = data;
  }

  judge(given: ContaminationCase): Promise<ContaminationResult> {
    this.#pool ??= this.#start();
    return this.#pool.run(given);
  }

  async close(): Promise<void> {
    await this.#pool?.destroy();
  }

  #start(): Piscina<ContaminationCase, ContaminationResult> {
    // The same code runs from its source under tsx, where a thread needs the loader as well.
    const fromSource = import.meta.url.endsWith('.ts');
    const file = `./contamination-thread.${fromSource ? 'ts' : 'js'}`;
    return new Piscina({
      filename: fileURLToPath(new URL(file, import.meta.url)),
      workerData: this.#data,
      minThreads: 0,
      maxThreads: 1,
      concurrentTasksPerWorker: AT_ONCE,
      idleTimeout: Number.POSITIVE_INFINITY,
      ...(fromSource ? { execArgv: ['--import', 'tsx'] } : {}),
    });
  }
}
