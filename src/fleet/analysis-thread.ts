import {
  analystBy,
  doInPlace,
  type ScriptAnalyst,
  type ScriptGiven,
  type ScriptResults,
  type ScriptTask,
} from '../agents/script-analyst.js';
import type { AnalysisTask } from './analysis-task.js';
import { besideModule, ComputeThread } from './compute-thread.js';

/**
 * Texts of at most this many characters together are analysed in place. Measured, at 16,384 characters an analysis takes
 * about 20 ms, which no lock and no health check minds; the thread adds 1 to 4 ms to each task, and a second to the first
 * one of a worker, which most workers are thereby spared: few scripts are longer.
 */
const IN_PLACE_CHARACTERS = 16_384;

/**
 * Analyses scripts in a thread of its own, one after the other. It is apart from the contamination thread: neither waits
 * for the other's long tasks, and a worker of one kind starts only the one that it needs.
 */
export class AnalysisThread {
  readonly #thread = new ComputeThread<AnalysisTask, unknown>({
    module: besideModule(import.meta.url, 'analysis-task'),
  });

  /**
   * The analyst for one job.
   * @param signal The job's: with it the job's task is given up, also in the middle of its computing.
   */
  analystFor(signal: AbortSignal): ScriptAnalyst {
    return analystBy(<T extends ScriptTask>(task: T, given: ScriptGiven[T]) => {
      if (charactersIn(given) <= IN_PLACE_CHARACTERS) return doInPlace(task, given);
      // The thread does the task by the same table, whose types say what each one gives.
      return this.#thread.run({ task, given }, signal) as Promise<ScriptResults[T]>;
    });
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}

/** Characters of all texts in plain data. */
function charactersIn(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, inner) => sum + charactersIn(inner), 0);
}
