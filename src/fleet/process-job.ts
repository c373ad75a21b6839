import type { AgentRunner, WorkLog } from '../agents/agent-runner.js';
import { JobFiles } from '../agents/workspace/job-files.js';
import type { WorkspacePolicy } from '../agents/workspace/workspace-policy.js';
import type { CallControl } from '../calls/call-control.js';
import type { CallingJob } from '../calls/job-interceptor.js';
import { jobInterceptors } from '../calls/job-interceptors.js';
import { loadProcessor } from '../processors/registry.js';
import type { KindName, PayloadOf, ResultOf } from '../queues/registry.js';
import type { AnalysisThread } from './analysis-thread.js';
import type { ContaminationThreads } from './contamination-threads.js';
import type { HeldSlots } from './held-slots.js';
import { interceptedRunner } from './intercepted-runner.js';

/** What a process needs to have to process jobs. */
export interface ProcessingParts {
  readonly runner: AgentRunner;
  readonly contamination: ContaminationThreads;
  readonly analysis: AnalysisThread;
  /** Makes up for the slots of jobs that wait for long computations; absent: nobody waits for a slot here. */
  readonly heldSlots?: HeldSlots;
  /** What agent calls are held to. */
  readonly calls: CallControl;
  /** Where agents may read. */
  readonly workspaces: WorkspacePolicy;
}

/** Whose calls they are and who pays for them: plain data. */
export interface ProcessedJob extends Omit<CallingJob, 'signal' | 'warn'> {
  /** For whom the job is done; tenants take turns at threads. */
  readonly tenant: string;
}

/** Where the lines and steps of a job go. */
export interface ProcessingLog extends WorkLog {
  progress(step: string): void;
}

/** Runs the processor of a kind in this process; its calls pass the job's interceptors. */
export async function processJob<K extends KindName>(
  kind: K,
  payload: PayloadOf<K>,
  job: ProcessedJob,
  signal: AbortSignal,
  log: ProcessingLog,
  { runner, contamination, analysis, calls, workspaces, heldSlots }: ProcessingParts,
): Promise<ResultOf<K>> {
  const processor = await loadProcessor(kind);
  const callingJob = { ...job, signal, warn: (message: string) => log.warn(message) };
  const owner = { tenant: job.tenant, signal, ...(heldSlots && { hold: heldSlots.ofJob(kind) }) };
  const files = new JobFiles(workspaces);
  try {
    return await processor(payload, {
      // Many a job asks no agent and reads no script: what these need is made for the first that does.
      runner: interceptedRunner(runner, () => jobInterceptors(calls, callingJob)),
      get analyst() {
        return analysis.analystFor(owner);
      },
      files,
      contamination: contamination.checkerFor(owner),
      signal,
      log,
      progress: (step) => log.progress(step),
    });
  } finally {
    await files.close();
  }
}
