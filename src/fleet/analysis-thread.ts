import { analystBy, type ScriptAnalyst } from '../agents/script-analyst.js';
import type { ScriptInput, ScriptResults, ScriptTask } from '../agents/script-tasks.js';
import type { AnalysisTask } from './analysis-task.js';
import type { TaskOwner } from './compute-lane.js';
import { ANALYSIS } from './start-analysis-thread.js';
import { type ComputeLimits, DEFAULT_COMPUTE_LIMITS, TwoLanes } from './two-lanes.js';

/** Texts with more characters than this in total count as long: they may take seconds. */
const MAX_SHORT_CHARACTERS = 16_384;

/**
 * Analyzes scripts and outputs in threads: short texts in one, long ones and those that turned out to be slow in another.
 * The contamination threads are separate: neither waits for the other's tasks, and a worker of one kind starts only the
 * threads that it needs.
 */
export class AnalysisThread {
  readonly #lanes: TwoLanes<AnalysisTask, unknown>;

  /** @param alone Whether one thread analyzes texts of any length, since they are all of one tenant. */
  constructor(limits: ComputeLimits = DEFAULT_COMPUTE_LIMITS, { alone = false } = {}) {
    this.#lanes = new TwoLanes('the static analysis of the text', limits, {
      short: ANALYSIS,
      long: ANALYSIS,
      alone,
    });
  }

  /**
   * The analyst for one job.
   * @param owner The job: its signal aborts the task, also while the thread computes.
   */
  analystFor(owner: TaskOwner): ScriptAnalyst {
    const analyst = analystBy(<T extends ScriptTask>(task: T, input: ScriptInput[T]) => {
      const isShort = charactersIn(input) <= MAX_SHORT_CHARACTERS;
      // The thread runs the task with the same table, whose types give each result.
      return this.#lanes.run({ task, input }, isShort, owner) as Promise<ScriptResults[T]>;
    }, owner);
    const { trackWait } = owner;
    if (trackWait === undefined) return analyst;
    const parses = (text: string) => {
      const parsed = analyst.parses(text);
      return text.length <= MAX_SHORT_CHARACTERS ? parsed : trackWait(parsed);
    };
    return { ...analyst, parses };
  }

  /** Starts the thread of most tasks before there is one. */
  warm(): void {
    this.#lanes.warm();
  }

  close(): Promise<void> {
    return this.#lanes.close();
  }
}

/** Characters of all texts in plain data. */
function charactersIn(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, inner) => sum + charactersIn(inner), 0);
}
