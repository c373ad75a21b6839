import type { Worker } from 'bullmq';
import { messageOf } from '../errors.js';
import { watchStalls } from './event-loop-stalls.js';
import type { Logger } from './logger.js';
import type { RunningJobs } from './running-jobs.js';

/**
 * Handles jobs whose lock could not be renewed, because this process was stopped, its event loop was blocked, or Redis was
 * unreachable: it takes back the lock if no other worker has taken the job; otherwise it aborts the job at once.
 *
 * @param queueKey the queue's key prefix, as in `fleet:extract`
 */
export function watchLocks(
  worker: Worker,
  queueKey: string,
  running: RunningJobs,
  lockMs: number,
  logger: Logger,
): void {
  const stalls = watchStalls();
  worker.on('locksRenewed', () => stalls.reset());
  worker.on('closed', () => stalls.stop());
  worker.on('error', ({ message }) => {
    if (!/\block\b/i.test(message)) return;
    logger.warn(`a job was lost with its lock (event loop lag: up to ${stalls.maxMs()} ms): ${message}`);
    const jobId = /\bjob (\S+?)[.\s]/.exec(message)?.[1];
    if (jobId !== undefined) running.clearMarkerOfEnded(`${queueKey}:${jobId}`, logger);
  });
  worker.on('lockRenewalFailed', (jobIds: string[]) => {
    const eventLoopLagMs = stalls.maxMs();
    for (const jobId of jobIds) {
      running.reclaimLock(queueKey, jobId, lockMs).then(
        (reclaimed) => {
          const what = reclaimed
            ? 'the lock of a job ran out; no worker had taken the job, so it goes on here'
            : running.stopLost(`${queueKey}:${jobId}`)
              ? 'the lock of a job is lost to another worker; its attempt here is aborted'
              : 'the lock of a job ran out, and this worker took it again; its first attempt goes on';
          logger.warn({ jobId, eventLoopLagMs }, `${what} (event loop lag: up to ${eventLoopLagMs} ms)`);
        },
        (thrown: unknown) => {
          logger.warn({ jobId, reason: messageOf(thrown) }, 'the lock of a job could not be renewed');
        },
      );
    }
  });
}
