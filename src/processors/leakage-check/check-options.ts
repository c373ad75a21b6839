import type { WorkLog } from '../../agents/agent-runner.js';
import type { ScriptAnalyst } from '../../agents/script-analyst.js';
import type { JobFiles } from '../../agents/workspace/job-files.js';
import type { OptionNames } from '../../known-options.js';
import type { CorrectionWay, Opinion } from '../../queues/solution-check.js';
import type { Trials } from '../../trial/trials.js';

export interface LeakageCheckOptions {
  /** Directory below which the agent may read files. */
  readonly workspace?: string;
  readonly model?: string;
  /** Whose findings count beside a model; default: the runner's. */
  readonly opinion?: Opinion;
  /** With `static-first`: share of the scripts that the agent is asked about although the analysis is certain, from 0 to 1; default: the runner's. */
  readonly auditFraction?: number;
  /** How corrections are asked for; default: the runner's. */
  readonly corrections?: CorrectionWay;
  /** The job's files; default: the workspace above. */
  readonly files?: JobFiles;
  readonly signal?: AbortSignal;
  readonly log?: WorkLog;
  /** Runs the static analysis; default: in this thread. */
  readonly analyst?: ScriptAnalyst;
  /** Runs each corrected script beside the original, in a sandbox; default: nothing is run. */
  readonly trials?: Trials;
  readonly onProgress?: (step: string) => void;
}

export const CHECK_OPTIONS: OptionNames<LeakageCheckOptions> = {
  workspace: true,
  model: true,
  opinion: true,
  auditFraction: true,
  corrections: true,
  files: true,
  signal: true,
  log: true,
  analyst: true,
  trials: true,
  onProgress: true,
};
