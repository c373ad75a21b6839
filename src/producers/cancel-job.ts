import type { Job, Queue } from 'bullmq';
import { FleetError, JobError, messageOf } from '../errors.js';
import { flagCancelled } from '../queues/job-flags.js';
import { parseJobKey } from '../queues/job-key.js';
import { cancelChannel } from '../queues/redis-keys.js';
import { runScript, script } from '../queues/run-script.js';
import { CANCELLED_EVENT } from './end-events.js';
import { endWaiting } from './end-waiting.js';
import { findJob } from './find-job.js';
import type { FleetClient } from './fleet-client.js';

/**
 * Cancels a job in any state, and the children it still waits for. The cancellation is final: the worker that owns the
 * job's lock aborts a running call, a waiting job ends at once, and neither is retried. Cancelling it once more changes nothing.
 * @throws JobError `job-not-found`, or `job-already-ended`.
 */
export async function cancelJob(fleet: FleetClient, id: string, queueName?: string): Promise<void> {
  const { queue, job } = await findJob(fleet, id, queueName);
  const outcome = await flagCancelled(fleet.client, queue.toKey(id));
  if (outcome === 'gone') throw new JobError('job-not-found', `there is no job ${id}`, { jobId: id });
  if (outcome === 'was-cancelled') return;
  if (outcome === 'ended') {
    throw new JobError('job-already-ended', `job ${id} has ended before it could be cancelled`, {
      jobId: id,
    });
  }
  await announce(fleet, queue, id);
  // In any state: a job that starts children may be about to wait for them, and its worker may be killed.
  await cancelChildren(fleet, queue.toKey(id));
  // Its children that waited have ended, so it may have begun to wait for a worker.
  if (await endWaiting(fleet, queue, id)) return;
  // A worker ends a cancelled job when it takes it, so a delayed job is made due now.
  if ((await job.getState()) === 'delayed') await makeDue(job);
}

/** Makes a delayed job due now, unless it became due by itself or was removed. */
export async function makeDue(job: Job): Promise<void> {
  try {
    await job.promote();
  } catch (thrown) {
    if (!/is not in the delayed state/.test(messageOf(thrown))) throw thrown;
  }
}

/** Cancels the children that have not ended; `jobKey` is the key of their parent's hash. */
export async function cancelChildren(fleet: FleetClient, jobKey: string): Promise<void> {
  // BullMQ's method for this would read the result of every child.
  const unprocessed = await fleet.client.smembers(`${jobKey}:dependencies`);
  await Promise.all(unprocessed.map((key) => cancelChild(fleet, key)));
}

/** Maximum number of stored events of a queue, the same as BullMQ's. */
const MAX_EVENTS = 10_000;

/**
 * Publishes an event of a queue. The stream is trimmed first: a full Redis accepts a script whose first write needs no
 * memory. KEYS: 1 stream. ARGV: 1 name of the event, 2 job id, 3 maximum number of stored events.
 */
const PUBLISH_END = script(`
redis.call('XTRIM', KEYS[1], 'MAXLEN', '~', ARGV[3])
return redis.call('XADD', KEYS[1], '*', 'event', ARGV[1], 'jobId', ARGV[2])`);

async function announce(fleet: FleetClient, queue: Queue, id: string): Promise<void> {
  await fleet.client.publish(cancelChannel(fleet.prefix), id);
  await runScript(fleet.client, PUBLISH_END, [queue.toKey('events')], [CANCELLED_EVENT, id, MAX_EVENTS]);
}

const OVER: ReadonlySet<string> = new Set(['job-already-ended', 'job-not-found']);

async function cancelChild(fleet: FleetClient, key: string): Promise<void> {
  const { queue, id } = parseJobKey(key);
  try {
    await cancelJob(fleet, id, queue);
  } catch (thrown) {
    // A child that ended while its parent was being cancelled needs no cancelling.
    const isOver = thrown instanceof FleetError && OVER.has(thrown.code);
    if (!isOver) throw thrown;
  }
}
