import type { AgentRunner, WorkLog } from '../agents/agent-runner.js';
import type { ScriptAnalyst } from '../agents/script-analyst.js';
import type { JobFiles } from '../agents/workspace/job-files.js';
import type { ContaminationChecker } from '../contamination/contamination-checker.js';
import type { KindName, PayloadOf, ResultOf } from '../queues/registry.js';

/** What a processor gets besides its payload. */
export interface Work {
  readonly runner: AgentRunner;
  /** Analyzes whole scripts and outputs, if that takes long outside the worker's event loop. */
  readonly analyst: ScriptAnalyst;
  /** What the job's agents may read. */
  readonly files?: JobFiles;
  /** Checks outputs against the fleet's known solutions. */
  readonly contamination: ContaminationChecker;
  /** Aborted when the job is cancelled, or its worker must stop. */
  readonly signal: AbortSignal;
  /** Lines go to the job (the dashboard shows them) and to the worker's log. */
  readonly log: WorkLog;
  /** Reports the current step, as in `correcting 2/3`. */
  progress(step: string): void;
}

/** Turns a validated payload into a result. Throws a FleetError if it cannot. */
export type Processor<K extends KindName> = (payload: PayloadOf<K>, work: Work) => Promise<ResultOf<K>>;
