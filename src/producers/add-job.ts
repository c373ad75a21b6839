import type { JobsOptions } from 'bullmq';
import { PayloadError } from '../errors.js';
import { contractVersionOf } from '../queues/contract-version.js';
import { UNSCHEDULED } from '../queues/fairness/schedule-script.js';
import { namedQueues } from '../queues/queue-fields.js';
import { type KindRef, kindNameOf, type PayloadInputOf } from '../queues/registry.js';
import { checkFollowUps, checkTextSizes, completePayload, parsePayload } from '../queues/validate.js';
import type { FleetClient } from './fleet-client.js';
import { JobHandle } from './job-handle.js';
import { chooseJobId } from './job-id.js';
import { withTags } from './job-tags.js';
import { sizeOf } from './memory-admission.js';
import { indexRuns } from './run-index.js';
import { scheduleSubmitted } from './schedule-submitted.js';
import { storeBudget } from './store-budget.js';
import { checkSubmission } from './submission-fields.js';
import { existingJob, removeEnded, runAgain, type Submission, type SubmitOutcome } from './submit-once.js';

/** Options that name a submission. */
export interface KeyOptions {
  /**
   * The pipeline's name for the work. The same key and payload is the same job: it returns its result while the job is
   * stored, runs again after a failure, and is rejected with another payload.
   */
  readonly key?: string;
  /**
   * Runs the key's job again even if it has ended. A job that runs, or that started one that runs, is left as it is: the
   * outcome is then `existing`.
   */
  readonly force?: boolean;
  /** For whom the job is done; jobs of several tenants are scheduled fairly. Default: the run in its tags. */
  readonly tenant?: string;
  /**
   * Who submits, if the submitter chooses tenant names freely. The HTTP API sets it for its tokens: submitters share the
   * queue fairly, and the tenants of each submitter share its part. Default: none; tenants share the queue directly.
   */
  readonly submitter?: string;
  /** Follow-ups belong in the payload. */
  readonly then?: never;
}

export interface AddOptions extends KeyOptions {
  /** 1 is the most urgent, 2,097,151 the least; default: before all jobs with a priority. */
  readonly priority?: number;
  /** Wait before the job may start, in milliseconds. */
  readonly delayMs?: number;
  /**
   * Maximum cost of the job's agent calls, in US dollars. A submission that runs the key's failed or cancelled job again
   * replaces it; what the job has spent still counts.
   */
  readonly budgetUsd?: number;
}

/** What the fleet stores among BullMQ's options of a job; it is written atomically with the job. */
export interface FleetJobOptions {
  readonly fleet?: Pick<AddOptions, 'tenant' | 'budgetUsd' | 'priority' | 'submitter'> & {
    /** The job's labels, null if it has none. */
    readonly tags?: Readonly<Record<string, string>> | null;
    /** How many jobs above this one wait for each other. */
    readonly depth?: number;
    /** The job without a run whose budget pays for this one. */
    readonly budgetJob?: string;
    /** Whether a child's queue is that of a kind: a program that reads it may not know the kind. */
    readonly isKind?: boolean;
    /** Size of the job's texts in characters, if some of them are stored separately. */
    readonly bytes?: number;
  };
}

/**
 * BullMQ's options of one job: attempts, back-off and retention are the same through every entry point. The job is added
 * as `UNSCHEDULED`; `scheduleSubmitted` then gives it its start tag.
 * @param bytes Size of its texts, if some of them are stored separately.
 */
export function jobOptions(
  fleet: FleetClient,
  kindName: string,
  id: string,
  options: AddOptions = {},
  bytes?: number,
): JobsOptions & FleetJobOptions {
  const { tenant, budgetUsd, priority, submitter } = options;
  const { attempts, backoffMs } = fleet.kinds.get(kindName).defaults;
  const fleetOptions = {
    ...(tenant === undefined ? {} : { tenant }),
    ...(budgetUsd === undefined ? {} : { budgetUsd }),
    ...(priority === undefined ? {} : { priority }),
    ...(submitter === undefined ? {} : { submitter }),
    ...(bytes === undefined ? {} : { bytes }),
  };
  return {
    jobId: id,
    attempts,
    backoff: { type: 'exponential', delay: backoffMs },
    ...retention(fleet),
    keepLogs: 500,
    // A stack would repeat the failure's message at every attempt; the worker's log has the stack.
    stackTraceLimit: 0,
    priority: UNSCHEDULED,
    ...(options.delayMs === undefined ? {} : { delay: options.delayMs }),
    ...(Object.keys(fleetOptions).length === 0 ? {} : { fleet: fleetOptions }),
  };
}

/** How long ended jobs are stored. */
export function retention(fleet: FleetClient): Pick<JobsOptions, 'removeOnComplete' | 'removeOnFail'> {
  return { removeOnComplete: { age: fleet.retentionSeconds }, removeOnFail: { age: fleet.retentionSeconds } };
}

/**
 * Validates a payload and adds the contract version that it needs.
 * @throws PayloadError with the path of the invalid field.
 */
export function preparePayload(
  fleet: FleetClient,
  kindName: string,
  payload: unknown,
): Record<string, unknown> {
  const kind = fleet.kinds.get(kindName);
  const parsed = parsePayload(kind, payload);
  checkFollowUps(fleet.kinds, kind, parsed);
  checkTextSizes(kind, parsed, fleet.limits);
  for (const { field, queue } of namedQueues(fleet.kinds, kind, parsed)) {
    if (!fleet.kinds.has(queue)) continue;
    const problem = `"${queue}" is a queue of the fleet; name a pipeline queue`;
    throw new PayloadError('invalid-payload', `${kind.name}: ${field}: ${problem}`, { field });
  }
  return { ...parsed, v: contractVersionOf(kind, parsed) };
}

/**
 * The stored data of a job without children.
 * @throws PayloadError naming the invalid or missing field; UsageError `unknown-kind`.
 */
export function prepareData(fleet: FleetClient, kindName: string, payload: unknown): Record<string, unknown> {
  return completePayload(fleet.kinds.get(kindName), preparePayload(fleet, kindName, payload), []);
}

/**
 * Submits one job of a kind, named or by its definition.
 * @throws UsageError `unknown-kind` if the client does not know the kind; PayloadError if the payload breaks the contract or a size limit; JobError `key-conflict` if the key names a job
 *   with another payload.
 */
export async function addJob<K extends KindRef>(
  fleet: FleetClient,
  kind: K,
  payload: PayloadInputOf<K>,
  options: AddOptions = {},
): Promise<JobHandle<K>> {
  checkSubmission(options);
  const name = kindNameOf(kind);
  const data = prepareData(fleet, name, payload);
  const submission = { queue: name, id: chooseJobId(name, options.key), data };
  const create = async () => {
    await indexRuns(fleet, [[submission]]);
    const stored = await storedData(fleet, submission);
    const jobOpts = jobOptions(fleet, name, submission.id, options, separateBytes(data, stored));
    await fleet.queue(name).add(name, stored, withTags(jobOpts, data));
    scheduleSubmitted(fleet, [{ ...submission, ...options }]);
  };
  const outcome =
    options.key === undefined ? 'created' : await submitByKey(fleet, submission, options, create);
  if (options.key === undefined) {
    await fleet.memory.admitJobs([data]);
    await create();
  }
  return new JobHandle(fleet, kind, submission.id, outcome);
}

/**
 * The stored data of a job: long texts are replaced by references, and are stored before the job. Jobs in pipeline queues
 * are read by the pipeline's workers, so they contain all texts.
 */
export async function storedData(
  fleet: FleetClient,
  { queue, id, data }: Submission,
): Promise<Record<string, unknown>> {
  return fleet.kinds.has(queue) ? fleet.payloads.offload(data, [`${fleet.prefix}:${queue}:${id}`]) : data;
}

/** Size of the texts of a job's data if some of them are stored separately. */
export function separateBytes(data: unknown, stored: unknown): number | undefined {
  return stored === data ? undefined : sizeOf(data);
}

async function submitByKey(
  fleet: FleetClient,
  submission: Submission,
  { force, budgetUsd }: AddOptions,
  create: () => Promise<void>,
): Promise<SubmitOutcome> {
  const job = await existingJob(fleet, submission);
  if (job === undefined) {
    await fleet.memory.admitJobs([submission.data]);
    await create();
    // Another submission may have been first: BullMQ then kept that job, which must have the same payload.
    await existingJob(fleet, submission);
    return 'created';
  }
  // A job is only removed if there is room for the one that replaces it.
  if (force) await fleet.memory.admitJobs([submission.data]);
  if (force && (await removeEnded(job))) {
    await create();
    return 'replaced';
  }
  const { queue, id } = submission;
  const withBudget = () => storeBudget(fleet, queue, id, { budgetUsd });
  return (await runAgain(fleet, queue, job, withBudget)) ? 'retried' : 'existing';
}
