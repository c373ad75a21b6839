import { availableParallelism } from 'node:os';
import { AnalysisThread } from '../fleet/analysis-thread.js';
import type { ComputeLimits } from '../fleet/two-lanes.js';

/** A thread, and the number of scripts whose analysis it does at present. */
interface Used {
  readonly analysis: AnalysisThread;
  scripts: number;
}

/**
 * Analyzes scripts on all cores, where nobody else wants to compute. Each script stays with one thread, which has what it
 * parsed before; a thread starts with its first script.
 */
export class AnalysisThreads {
  readonly #threads: readonly Used[];

  /** @param count default: the number of cores that this process may use */
  constructor(limits: ComputeLimits, count = availableParallelism()) {
    this.#threads = Array.from({ length: count }, () => ({
      analysis: new AnalysisThread(limits, { alone: true }),
      scripts: 0,
    }));
    // It loads the analysis while the process reads its files.
    this.#threads[0]?.analysis.warm();
  }

  /** How many scripts keep all threads busy: while one computes for a script, the next is prepared. */
  get scriptsAtOnce(): number {
    return 2 * this.#threads.length;
  }

  /** Does the work of one script with the thread that has the fewest. */
  async use<T>(work: (analysis: AnalysisThread) => Promise<T>): Promise<T> {
    const [first, ...others] = this.#threads;
    if (first === undefined) throw new RangeError('there is no thread');
    const used = others.reduce((least, other) => (other.scripts < least.scripts ? other : least), first);
    used.scripts += 1;
    try {
      return await work(used.analysis);
    } finally {
      used.scripts -= 1;
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map(({ analysis }) => analysis.close()));
  }
}
