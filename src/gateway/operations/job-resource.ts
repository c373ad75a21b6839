import { JobError } from '../../errors.js';
import { existingLocation, type FoundJob, findJob, JOB_ID } from '../../producers/find-job.js';
import type { FleetClient } from '../../producers/fleet-client.js';
import type { QueuedJob } from '../../producers/job-handle.js';
import { summarizeJob } from '../../producers/job-summaries.js';
import { hasEnded, type JobState, type JobView, viewJob } from '../../producers/job-view.js';
import { waitForSummary } from '../../producers/wait-for-job.js';
import { parseJobKey } from '../../queues/job-key.js';
import type { Wait } from '../http/duration.js';
import type { Call, Reply } from '../http/operation.js';
import type { JobResource, Submitted } from './job-schemas.js';

/** How many children of a job are shown. */
const MAX_CHILDREN = 10_000;

/**
 * The queue in an id that this project generated: any other text is no job's id, and might be the name of a key of the queue.
 * @throws JobError `job-not-found`.
 */
export function queueOfId(id: string): string {
  const queue = JOB_ID.exec(id)?.[1];
  if (queue === undefined)
    throw new JobError('job-not-found', `there is no job ${JSON.stringify(id.slice(0, 200))}`);
  return queue;
}

/** @throws JobError `job-not-found`. */
function findById(fleet: FleetClient, id: string): Promise<FoundJob> {
  return findJob(fleet, id, queueOfId(id));
}

/** A job as the API shows it. @throws JobError `job-not-found`. */
export async function jobResource(fleet: FleetClient, id: string): Promise<JobResource> {
  const found = await findById(fleet, id);
  return withChildren(fleet, found, await viewJob(fleet, found));
}

/** The state of a job, without a look at its result. @throws JobError `job-not-found`. */
export async function stateOf(fleet: FleetClient, id: string): Promise<JobState> {
  return (await summarizeJob(fleet, await existingLocation(fleet, id, queueOfId(id)))).state;
}

async function withChildren(fleet: FleetClient, { queue }: FoundJob, view: JobView): Promise<JobResource> {
  const key = queue.toKey(view.id);
  const [waited, waiting, ignored] = await Promise.all([
    fleet.client.hkeys(`${key}:processed`),
    fleet.client.smembers(`${key}:dependencies`),
    fleet.client.hkeys(`${key}:failed`),
  ]);
  const keys = [...new Set([...waited, ...waiting, ...ignored])].slice(0, MAX_CHILDREN);
  const resource = { ...view, tags: { ...view.tags } } as JobResource;
  return keys.length === 0 ? resource : { ...resource, children: keys.map((child) => parseJobKey(child).id) };
}

/** The parts of a call that waiting for a job needs. */
type Waiting = Pick<Call, 'gateway' | 'signal' | 'roomForAnswer'>;

/** The parts of a call that waiting needs, without its body. */
export function waitingOf({ gateway, signal, roomForAnswer }: Waiting): Waiting {
  return { gateway, signal, roomForAnswer };
}

/**
 * Answers a request that waits: 200 with the job once it has ended, or has its result if nobody waits for follow-ups; 202 with the job as it is when the time is over or
 * the gateway closes.
 */
export async function waitReply(
  { gateway: { fleet }, signal, roomForAnswer }: Waiting,
  id: string,
  { wait: timeoutMs, follow = true }: Wait,
): Promise<Reply> {
  const queue = queueOfId(id);
  try {
    await waitForSummary(fleet, id, { timeoutMs, signal, follow }, queue);
  } catch (thrown) {
    const isTimeUp = (thrown instanceof JobError && thrown.code === 'wait-timeout') || signal.aborted;
    if (!isTimeUp) throw thrown;
  }
  await roomForAnswer();
  const job = await jobResource(fleet, id);
  const isOver = hasEnded(job.state) || (!follow && job.followUps !== undefined);
  return { status: isOver ? 200 : 202, body: job, headers: { location: locationOf(id) } };
}

export function locationOf(id: string): string {
  return `/v1/jobs/${encodeURIComponent(id)}`;
}

/**
 * The result of a submission. A new job is in the state that its submission set.
 * @param parent The job that waits for it, or waited: it knows how a child ended that has been removed.
 */
export async function submitted(
  job: QueuedJob,
  initial: Submitted['state'],
  parent?: QueuedJob,
): Promise<Submitted> {
  const { id, queue: kind, outcome } = job;
  const isNew = outcome === 'created' || outcome === 'replaced';
  const state = isNew
    ? initial
    : await job.state().catch((thrown: unknown) => stateIfGone(thrown, job, initial, parent));
  return { id, kind, state, outcome, ...(outcome === 'existing' ? { duplicateOf: id } : {}) };
}

/**
 * The state of a job of a key that is not stored: a child that was removed after its end; or another submission with `force`
 * removes the job for a moment, and adds it again in its initial state.
 */
async function stateIfGone(
  thrown: unknown,
  job: QueuedJob,
  initial: Submitted['state'],
  parent: QueuedJob | undefined,
): Promise<Submitted['state']> {
  if (!(thrown instanceof JobError && thrown.code === 'job-not-found')) throw thrown;
  return (await parent?.endOfChild(job)) ?? initial;
}
