import type { JobsOptions } from 'bullmq';
import { JobError, messageOf } from '../errors.js';
import { readJob } from '../queues/damaged-job.js';
import { DEFAULT_PRIORITY } from '../queues/fairness/schedule-script.js';
import { clearCancelled } from '../queues/job-flags.js';
import { parseJobKey } from '../queues/job-key.js';
import { noteQueues } from '../queues/pipeline-queues.js';
import { prepareData } from './add-job.js';
import type { FleetClient } from './fleet-client.js';
import { GUARD_FIELD } from './flows/evaluation-guard.js';
import { jobIdForKey } from './job-id.js';
import { type FleetJobOptions, jobOptions, retention, separateBytes, storedData } from './job-options.js';
import { lineageTags, withTags } from './job-tags.js';
import { requeueWithNewPriority } from './requeue-with-new-priority.js';
import { indexRuns } from './run-index.js';
import { scheduleSubmitted } from './schedule-submitted.js';
import { storeTerms, type Terms } from './store-terms.js';
import type { Submission } from './submit-once.js';

/** What a child inherits from its parent: plain data. */
export interface ChildHeritage extends NonNullable<FleetJobOptions['fleet']> {
  /** Key of the parent's hash. */
  readonly parentKey: string;
}

/** Maximum depth of jobs that wait for each other. */
export const MAX_CHILD_DEPTH = 8;

/**
 * The id of a child is derived from its parent, its name and the digest of its queue and payload. So a child that is added
 * twice is one job, and a parent that is removed and submitted again never gets the result of another payload.
 */
export function childId(parentKey: string, queue: string, name: string, digest: string): string {
  return jobIdForKey(queue, childKey(parentKey, name, digest));
}

export function childKey(parentKey: string, name: string, digest: string): string {
  return `${parentKey}\0${name}\0${digest}`;
}

/**
 * The validated data of a child.
 * @throws PayloadError with the path of the invalid field.
 */
export function prepareChild(
  fleet: FleetClient,
  { parentKey, tags }: ChildHeritage,
  queue: string,
  payload: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const childTags = payload.tags as Record<string, string> | undefined;
  const lineage = lineageTags({ id: parseJobKey(parentKey).id, tags: tags ?? {} });
  const data = { ...payload, tags: { ...lineage, ...childTags } };
  return fleet.kinds.has(queue) ? prepareData(fleet, queue, data) : data;
}

/**
 * Adds a child that its parent waits for. An existing child goes on unchanged, and one that has failed is run again, under the
 * budget and deadline that its parent has now.
 * @param how.isNew Whether there is no such job; then nobody looks whether it has failed.
 * @param how.runAgain Runs it again if it has failed.
 * @throws JobError `lock-lost` if the parent is gone; `child-limit` if jobs are nested too deeply.
 */
export async function addChild(
  fleet: FleetClient,
  heritage: ChildHeritage,
  child: Submission & { readonly attempts?: number; readonly isKind?: boolean },
  {
    isNew = false,
    runAgain = () => runFailedAgain(fleet, child, heritage),
  }: { readonly isNew?: boolean; readonly runAgain?: () => Promise<void> } = {},
): Promise<void> {
  const { parentKey, tags: _tags, bytes: _bytes, depth = 0, ...inherited } = heritage;
  const parent = parseJobKey(parentKey);
  assertChildDepth(heritage, 1);
  const { queue, id, data, attempts, isKind } = child;
  await indexRuns(fleet, [[child]]);
  const stored = await storedData(fleet, child);
  const options = fleet.kinds.has(queue)
    ? jobOptions(fleet, queue, id, inherited, separateBytes(data, stored))
    : {
        jobId: id,
        ...retention(fleet),
        priority: inherited.priority ?? DEFAULT_PRIORITY,
        ...(attempts === undefined ? {} : attemptOptions(attempts)),
      };
  const isPipelineJob = isKind !== true && !fleet.kinds.has(queue);
  const withDepth: FleetJobOptions = {
    fleet: {
      ...(options as FleetJobOptions).fleet,
      ...inherited,
      depth: depth + 1,
      ...(isKind === true && { isKind }),
      // An evaluation has a guard, and its claim must have a checked script.
      ...(isPipelineJob && !(GUARD_FIELD in data) && { handOut: 'data' as const }),
    },
  };
  try {
    await fleet.queue(queue).add(queue, stored, {
      ...withTags({ ...options, ...withDepth }, data),
      parent: { id: parent.id, queue: `${parent.prefix}:${parent.queue}` },
      // The parent runs again when all its children have ended, successfully or not, and reads the outcome of each.
      ignoreDependencyOnFailure: true,
    });
  } catch (thrown) {
    if (!/Missing key for parent job/.test(messageOf(thrown))) throw thrown;
    throw new JobError('lock-lost', `job ${parent.id} was removed while it ran`, { jobId: parent.id });
  }
  if (isPipelineJob) noteQueues(fleet.client, fleet.prefix, [queue]);
  scheduleSubmitted(fleet, [{ queue, id, data, ...inherited }]);
  if (!isNew) await runAgain();
}

/** First wait before another attempt of a job in a pipeline queue, in milliseconds. */
const BACKOFF_MS = 2_000;

/** Options of a job in a pipeline queue that may have several attempts. */
export function attemptOptions(attempts: number): Pick<JobsOptions, 'attempts' | 'backoff'> {
  return { attempts, backoff: { type: 'exponential', delay: BACKOFF_MS } };
}

/** @throws JobError `child-limit` if so many levels of jobs below this one would be too deep. */
export function assertChildDepth({ parentKey, depth = 0 }: ChildHeritage, levels: number): void {
  if (depth + levels <= MAX_CHILD_DEPTH) return;
  const { id } = parseJobKey(parentKey);
  const message = `job ${id} is at depth ${depth}; at most ${MAX_CHILD_DEPTH} jobs may wait for each other`;
  throw new JobError('child-limit', message, { jobId: id });
}

/** A failed or cancelled child that is added again runs again: its parent was retried, or submitted again. */
async function runFailedAgain(fleet: FleetClient, { queue, id }: Submission, terms: Terms): Promise<void> {
  const key = fleet.jobKey(queue, id);
  const job = await readJob(fleet.queue(queue), id);
  if (job === undefined || (await job.getState()) !== 'failed') return;
  await storeTerms(fleet, queue, id, terms);
  await clearCancelled(fleet.client, key);
  await requeueWithNewPriority(fleet, queue, job);
}
