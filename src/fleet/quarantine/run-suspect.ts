import { JobGate } from '../../calls/job-gate.js';
import { lostJob } from '../../calls/refusals.js';
import { JobError, messageOf } from '../../errors.js';
import { abortable } from '../../processors/abortable.js';
import type { KindName, PayloadOf, ResultOf } from '../../queues/registry.js';
import { type ProcessedJob, type ProcessingLog, type ProcessingParts, processJob } from '../process-job.js';
import { forgetDeaths, forgiveRun, markRun } from '../run-marks.js';
import type { Quarantine } from './quarantine.js';

/** A job in whose runs workers died. */
export interface Suspect extends ProcessedJob {
  /** This run, as the job's marks name it. */
  readonly mark: string;
}

/**
 * Processes a suspect apart, so that its guilt is proven or it does its work.
 * @throws JobError `killed-its-worker` where it is: the next run, if a person wants one, then starts with a clean sheet.
 */
export async function runSuspect<K extends KindName>(
  quarantine: Quarantine,
  kind: K,
  payload: PayloadOf<K>,
  { mark, ...job }: Suspect,
  signal: AbortSignal,
  log: ProcessingLog,
  parts: ProcessingParts,
): Promise<ResultOf<K>> {
  const { client } = parts.calls;
  // Until the job is processed it can kill nobody: a worker that dies meanwhile has another reason.
  await forgiveRun(client, job.key, mark);
  const pid = await startedProcess(quarantine, signal, log);
  if (!(await markRun(client, job.key, job.token, mark))) throw lostJob();
  if (pid === undefined) return processJob(kind, payload, job, signal, log, parts);
  log.info(`a worker died in an earlier run of this job, so it runs in a process of its own (${pid})`);
  try {
    // The same processor as here, in the same version: its result is checked as any other is.
    return (await quarantine.run({ kind, payload, job }, signal, log)) as ResultOf<K>;
  } catch (thrown) {
    if (thrown instanceof JobError && thrown.code === 'killed-its-worker') {
      await forgetDeaths(client, job.key, mark);
      await new JobGate(parts.calls, { ...job, hasLedger: true, signal, warn: log.warn }).forgetOpenCalls();
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
