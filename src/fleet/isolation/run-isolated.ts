import { abortable } from '../../async.js';
import { JobInterceptor } from '../../calls/job-interceptor.js';
import { lostJob } from '../../calls/refusals.js';
import { JobError, messageOf } from '../../errors.js';
import { clearCrashMarker, resetCrashCount, writeCrashMarker } from '../crash-markers.js';
import { type ProcessedJob, type ProcessingLog, type ProcessingParts, processJob } from '../process-job.js';
import type { RunningJobs } from '../running-jobs.js';
import type { IsolatedProcess } from './isolated-process.js';

/** A job in whose attempts workers crashed. */
export interface JobWithCrash extends ProcessedJob {
  /** This attempt, as the crash marker names it. */
  readonly attempt: string;
}

/** What such a job is processed with. */
export interface IsolationParts extends ProcessingParts {
  readonly running: RunningJobs;
  /** Without it, such jobs are processed in this process. */
  readonly isolatedProcess?: IsolatedProcess | undefined;
}

/**
 * Processes a job with crashes in the isolated process if there is one: it completes there, or proves to be a poison pill.
 * @throws JobError `killed-its-worker` if it is one; its crash count is then reset, so a person can retry it.
 */
export async function runIsolated(
  kind: string,
  payload: Record<string, unknown>,
  { attempt, ...job }: JobWithCrash,
  signal: AbortSignal,
  log: ProcessingLog,
  parts: IsolationParts,
): Promise<unknown> {
  const { running, isolatedProcess } = parts;
  const { client } = parts.calls;
  const pid = isolatedProcess === undefined ? undefined : await startedProcess(isolatedProcess, signal, log);
  if (!(await writeCrashMarker(client, job.key, job.token, attempt))) throw lostJob();
  // A worker that is already stopping may be killed at any time, and that would be no crash.
  if (running.draining) await clearCrashMarker(client, job.key, attempt);
  if (isolatedProcess === undefined || pid === undefined)
    return processJob(kind, payload, job, signal, log, parts);
  log.info(`a worker crashed in an earlier attempt of this job, so it runs in the isolated process (${pid})`);
  try {
    // The same processor as here, in the same version: its result is checked as any other is.
    return await isolatedProcess.run({ kind, payload, job }, signal, log);
  } catch (thrown) {
    if (thrown instanceof JobError && thrown.code === 'killed-its-worker') {
      await resetCrashCount(client, job.key, attempt);
      await new JobInterceptor(parts.calls, {
        ...job,
        hasLedger: true,
        signal,
        warn: (message) => log.warn(message),
      }).recordCallsInDoubt();
    }
    throw thrown;
  }
}

/** The id of the isolated process; undefined if it cannot be started. */
async function startedProcess(
  isolatedProcess: IsolatedProcess,
  signal: AbortSignal,
  log: ProcessingLog,
): Promise<number | undefined> {
  try {
    return await abortable(isolatedProcess.open(), signal);
  } catch (thrown) {
    signal.throwIfAborted();
    log.warn(
      `a worker crashed in an earlier attempt of this job, and the isolated process could not be started: ${messageOf(thrown)}`,
    );
    return undefined;
  }
}
