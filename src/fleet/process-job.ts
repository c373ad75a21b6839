import type { AgentRunner, WorkLog } from '../agents/agent-runner.js';
import { JobFiles } from '../agents/workspace/job-files.js';
import type { WorkspacePolicy } from '../agents/workspace/workspace-policy.js';
import type { CallControl } from '../calls/call-control.js';
import { type CallingJob, JobInterceptor } from '../calls/job-interceptor.js';
import { messageOf } from '../errors.js';
import { askAgents } from '../processors/ask-agents.js';
import type { Kind } from '../processors/define-kind.js';
import type { Work } from '../processors/processor.js';
import type { KindRegistry } from '../queues/registry.js';
import type { Trials } from '../trial/trials.js';
import type { AnalysisThread } from './analysis-thread.js';
import { ChildJobs, type ParentJob } from './children/child-jobs.js';
import type { ChildProducer } from './children/child-submission.js';
import { WaitForChildren } from './children/wait-for-children.js';
import type { ContaminationThreads } from './contamination-threads.js';
import type { ExtraSlots } from './extra-slots.js';
import { ForgottenWork } from './forgotten-work.js';
import { interceptedRunner } from './intercepted-runner.js';
import { isOfFleet, processorError } from './processor-error.js';

/** What a process needs to process jobs. */
export interface ProcessingParts {
  /** The kinds that it knows. */
  readonly kinds: KindRegistry<Kind>;
  readonly runner: AgentRunner;
  readonly contamination: ContaminationThreads;
  readonly analysis: AnalysisThread;
  /** Provides extra slots while jobs wait for long computations; absent: no job waits for a slot here. */
  readonly extraSlots?: ExtraSlots;
  /** Controls of agent calls: budget, limits, calls in doubt. */
  readonly calls: CallControl;
  /** Adds the children of jobs. */
  readonly childProducer: () => Promise<ChildProducer>;
  /** Where agents may read. */
  readonly workspaces: WorkspacePolicy;
  /** Runs scripts in a sandbox. */
  readonly trials: Trials;
}

/** The job that makes the calls and the account that pays for them: plain data. */
export interface ProcessedJob
  extends Omit<CallingJob, 'signal' | 'warn'>,
    Pick<ParentJob, 'id' | 'startedChildren' | 'heritage'> {
  /** For whom the job is done; threads serve tenants in rotation. */
  readonly tenant: string;
}

/** Receives the log lines and steps of a job. */
export interface ProcessingLog extends WorkLog {
  progress(step: string): void;
}

/** Runs the processor of a kind in this process; its calls pass the job's interceptors. */
export async function processJob(
  kind: string,
  payload: Record<string, unknown>,
  job: ProcessedJob,
  signal: AbortSignal,
  log: ProcessingLog,
  {
    kinds,
    runner,
    contamination,
    analysis,
    calls,
    childProducer,
    workspaces,
    trials,
    extraSlots,
  }: ProcessingParts,
): Promise<unknown> {
  const callingJob = { ...job, signal, warn: (message: string) => log.warn(message) };
  const owner = { tenant: job.tenant, signal, ...(extraSlots && { trackWait: extraSlots.ofJob(kind) }) };
  const files = new JobFiles(workspaces);
  const checker = contamination.checkerFor(owner);
  const forgotten = new ForgottenWork(job.id, log);
  const request = <T>(made: Promise<T>) => forgotten.request(made);
  const jobs = new ChildJobs(calls.client, childProducer, job, request);
  try {
    const work: Work = {
      // Many jobs call no agent and analyze no script: both are created at their first use.
      runner: interceptedRunner(runner, () => [new JobInterceptor(calls, callingJob)], request),
      get analyst() {
        return forgotten.analyst(analysis.analystFor(owner));
      },
      files,
      contamination: { check: (input) => request(checker.check(input)) },
      jobs,
      trials,
      signal,
      log,
      progress: (step) => log.progress(step),
      ask: (...input) => request(ask(...input)),
    };
    const ask = askAgents(() => work);
    const result = await kinds.get(kind).process(payload, work);
    await jobs.assertAllStarted();
    await forgotten.assertNoneFailed();
    return result;
  } catch (thrown) {
    // A processor that caught the wait waits as well.
    if (await jobs.isWaiting()) throw new WaitForChildren();
    throw isOfFleet(thrown, signal) ? thrown : processorError(kind, messageOf(thrown), thrown);
  } finally {
    forgotten.end();
    await files.close();
  }
}
