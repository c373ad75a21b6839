import { AnalysisLimitError } from '../errors.js';
import { ComputeLane, type TaskOwner } from './compute-lane.js';
import { ThreadEnded } from './compute-thread.js';

/** Limits of one task of a thread. */
export interface ComputeLimits {
  /** In milliseconds; short texts first get at most a second. */
  readonly timeoutMs: number;
  /** Heap of the thread, in MiB. */
  readonly heapMb: number;
}

export const DEFAULT_COMPUTE_LIMITS: ComputeLimits = { timeoutMs: 30_000, heapMb: 512 };

/** How long a task of a short text may delay other short ones, in milliseconds. */
const MAX_SHORT_MS = 1_000;

/** Modules whose default export runs the tasks. */
interface LaneModules {
  /** Whether one thread does all tasks: nobody else waits for it. */
  readonly alone?: boolean;
  readonly short: URL;
  readonly long: URL;
}

/**
 * Two threads for tasks: one for short ones, one for long ones and those that turned out to be slow. So a short task waits
 * at most a second for another tenant's task, and a long one at most as long as one task may take. Where there is only one
 * tenant, one thread may do both.
 */
export class TwoLanes<Task, Result> {
  readonly #what: string;
  readonly #limits: ComputeLimits;
  readonly #short: ComputeLane<Task, Result> | undefined;
  readonly #long: ComputeLane<Task, Result>;

  /** @param what is computed, as errors name it: "the static analysis of the text" */
  constructor(what: string, limits: ComputeLimits, modules: LaneModules, data?: unknown) {
    const { timeoutMs, heapMb } = limits;
    const { short, long, alone = false } = modules;
    const shared = { heapMb, alone, ...(data === undefined ? {} : { data }) };
    const shortMs = Math.min(MAX_SHORT_MS, timeoutMs);
    this.#what = what;
    this.#limits = limits;
    this.#short = alone ? undefined : new ComputeLane({ ...shared, module: short, timeoutMs: shortMs });
    this.#long = new ComputeLane({ ...shared, module: long, timeoutMs });
  }

  /**
   * Runs a task in one of the threads.
   * @throws What the task throws; AnalysisLimitError if it took too much time or memory; the AbortError of the signal.
   */
  async run(task: Task, isShort: boolean, owner: TaskOwner): Promise<Result> {
    try {
      if (!isShort || this.#short === undefined) {
        const done = this.#long.run(task, owner);
        return await (owner.trackWait?.(done) ?? done);
      }
      return await this.#short.run(task, owner);
    } catch (thrown) {
      if (!(thrown instanceof ThreadEnded)) throw thrown;
      if (isShort && this.#short !== undefined && thrown.by === 'deadline')
        return this.run(task, false, owner);
      throw new AnalysisLimitError(`${this.#what} ${this.#excess(thrown)}, and was ended`, { cause: thrown });
    }
  }

  /** Starts the thread of most tasks before there is one. */
  warm(): void {
    (this.#short ?? this.#long).warm();
  }

  async close(): Promise<void> {
    await Promise.all([this.#short?.close(), this.#long.close()]);
  }

  #excess({ by }: ThreadEnded): string {
    const { timeoutMs, heapMb } = this.#limits;
    switch (by) {
      case 'deadline':
        return `took more than ${timeoutMs} ms (FLEET_ANALYSIS_TIMEOUT_MS)`;
      case 'memory':
        return `needed more than ${heapMb} MiB (FLEET_ANALYSIS_HEAP_MB)`;
      case 'crash':
        return 'ended its thread';
    }
  }
}
