import { JobGate } from '../../calls/job-gate.js';
import { lostJob } from '../../calls/refusals.js';
import { JobError, messageOf } from '../../errors.js';
import { abortable } from '../../processors/abortable.js';
import type { KindName, PayloadOf, ResultOf } from '../../queues/registry.js';
import { type ProcessedJob, type ProcessingLog, type ProcessingParts, processJob } from '../process-job.js';
import { forgetDeaths, forgiveRun, markRun } from '../run-marks.js';
import type { RunningJobs } from '../running-jobs.js';
import type { Quarantine } from './quarantine.js';

/** A job in whose runs workers died. */
export interface Suspect extends ProcessedJob {
  /** This run, as the job's marks name it. */
  readonly mark: string;
}

/** What a suspect is processed with. */
export interface SuspectParts extends ProcessingParts {
  readonly running: RunningJobs;
  /** Without it, suspects are processed in this process. */
  readonly quarantine?: Quarantine | undefined;
}

/**
 * Processes a suspect apart where that is possible, so that its guilt is proven or it does its work.
 * @throws JobError `killed-its-worker` where it is: the next run, if a person wants one, then starts with a clean sheet.
 */
export async function runSuspect<K extends KindName>(
  kind: K,
  payload: PayloadOf<K>,
  { mark, ...job }: Suspect,
  signal: AbortSignal,
  log: ProcessingLog,
  parts: SuspectParts,
): Promise<ResultOf<K>> {
  const { running, quarantine } = parts;
  const { client } = parts.calls;
  const pid = quarantine === undefined ? undefined : await startedProcess(quarantine, signal, log);
  if (!(await markRun(client, job.key, job.token, mark))) throw lostJob();
  // A worker that is already stopping may be killed at any time, and that would be no death.
  if (running.draining) await forgiveRun(client, job.key, mark);
  if (quarantine === undefined || pid === undefined)
    return processJob(kind, payload, job, signal, log, parts);
  log.info(`a worker died in an earlier run of this job, so it runs in a process of its own (${pid})`);
  try {
    // The same processor as here, in the same version: its result is checked as any other is.
    return (await quarantine.run({ kind, payload, job }, signal, log)) as ResultOf<K>;
  } catch (thrown) {
    if (thrown instanceof JobError && thrown.code === 'killed-its-worker') {
      await forgetDeaths(client, job.key, mark);
      await new JobGate(parts.calls, {
        ...job,
        hasLedger: true,
        signal,
        warn: (message) => log.warn(message),
      }).forgetOpenCalls();
    }
    throw thrown;
  }
}

/** The id of the quarantine's process; undefined where none can be started. */
async function startedProcess(
  quarantine: Quarantine,
  signal: AbortSignal,
  log: ProcessingLog,
): Promise<number | undefined> {
  try {
    return await abortable(quarantine.open(), signal);
  } catch (thrown) {
    signal.throwIfAborted();
    log.warn(
      `a worker died in an earlier run of this job, and there is no process of its own for it: ${messageOf(thrown)}`,
    );
    return undefined;
  }
}
