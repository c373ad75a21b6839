import type { JobsOptions } from 'bullmq';
import { CONTRACT_VERSION } from '../queues/common.js';
import { UNSCHEDULED } from '../queues/fairness/schedule-script.js';
import { isKindName, KINDS, type KindName, type PayloadOf } from '../queues/registry.js';
import { checkTextSizes, completePayload, parsePayload } from '../queues/validate.js';
import type { FleetClient } from './fleet-client.js';
import { JobHandle } from './job-handle.js';
import { chooseJobId } from './job-id.js';
import { withTags } from './job-tags.js';
import { sizeOf } from './memory-admission.js';
import { indexRuns } from './run-index.js';
import { scheduleSubmitted } from './schedule-submitted.js';
import { checkSubmission } from './submission-fields.js';
import { existingJob, removeEnded, runAgain, type Submission, type SubmitOutcome } from './submit-once.js';

/** How a submission is named. */
export interface KeyOptions {
  /**
   * The pipeline's own name for the work. The same key and payload is the same job: it gives its result while it
   * is kept, runs again after a failure, and is refused with another payload.
   */
  readonly key?: string;
  /** Runs a job anew although the key's job has ended. */
  readonly force?: boolean;
  /** For whom the job is done; jobs of several tenants take turns. Default: the run in its tags. */
  readonly tenant?: string;
  /**
   * Who submits, where tenants are only its own word, as the HTTP API says of its tokens: submitters take turns, and
   * tenants within each. Default: nobody in particular; each tenant takes turns of its own.
   */
  readonly submitter?: string;
}

export interface AddOptions extends KeyOptions {
  /** 1 is the most urgent, 2,097,151 the least; absent: before all that have one. */
  readonly priority?: number;
  /** Wait before the job may start, in milliseconds. */
  readonly delayMs?: number;
  /** What the agent calls of the job may cost, in US dollars. */
  readonly budgetUsd?: number;
}

/** What the fleet keeps among BullMQ's options of a job, where it is stored in the same step as the job. */
export interface FleetJobOptions {
  readonly fleet?: Pick<AddOptions, 'tenant' | 'budgetUsd' | 'priority' | 'submitter'> & {
    /** The job's labels, null where it has none. */
    readonly tags?: Readonly<Record<string, string>> | null;
    /** Size of the job's texts in characters, where some of them are stored apart. */
    readonly bytes?: number;
  };
}

/**
 * BullMQ's options of one job: attempts, back-off and retention are the same through every entry point. The job is added
 * as `UNSCHEDULED`; `scheduleSubmitted` gives it its place among the jobs of other tenants.
 * @param bytes Size of its texts, if some of them are stored separately.
 */
export function jobOptions(
  fleet: FleetClient,
  kindName: KindName,
  id: string,
  options: AddOptions = {},
  bytes?: number,
): JobsOptions & FleetJobOptions {
  const { tenant, budgetUsd, priority, submitter } = options;
  const { attempts, backoffMs } = KINDS[kindName].defaults;
  const own = {
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
    // A stack would repeat the failure's message, at every attempt; where it was thrown stands in the worker's log.
    stackTraceLimit: 0,
    priority: UNSCHEDULED,
    ...(options.delayMs === undefined ? {} : { delay: options.delayMs }),
    ...(Object.keys(own).length === 0 ? {} : { fleet: own }),
  };
}

/** How long ended jobs are kept. */
export function retention(fleet: FleetClient): Pick<JobsOptions, 'removeOnComplete' | 'removeOnFail'> {
  return { removeOnComplete: { age: fleet.retentionSeconds }, removeOnFail: { age: fleet.retentionSeconds } };
}

/**
 * Validates a payload and gives it the present contract version.
 * @throws PayloadError with the path of the field at fault.
 */
export function preparePayload<K extends KindName>(
  fleet: FleetClient,
  kind: K,
  payload: unknown,
): PayloadOf<K> {
  const parsed = parsePayload(kind, payload);
  checkTextSizes(kind, parsed, fleet.limits);
  return { ...parsed, v: CONTRACT_VERSION };
}

/**
 * Submits one job of a kind.
 * @throws PayloadError where the payload breaks the contract or a size limit; JobError `key-conflict` where the
 *   key names a job with another payload.
 */
export async function addJob<K extends KindName>(
  fleet: FleetClient,
  kind: K,
  payload: PayloadOf<K>,
  options: AddOptions = {},
): Promise<JobHandle<K>> {
  checkSubmission(options);
  const data = completePayload(kind, preparePayload(fleet, kind, payload), []);
  const submission = { queue: kind, id: chooseJobId(kind, options.key), data };
  const create = async () => {
    await indexRuns(fleet, [[submission]]);
    const stored = await storedData(fleet, submission);
    const jobOpts = jobOptions(fleet, kind, submission.id, options, bytesApart(data, stored));
    await fleet.queue(kind).add(kind, stored, withTags(jobOpts, data));
    await scheduleSubmitted(fleet, [{ ...submission, ...options }]);
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
 * What a job carries: its data, with references in the place of long texts, which are stored before the job is. Jobs of
 * the pipeline's own queues are read by its own workers and carry everything.
 */
export async function storedData(
  fleet: FleetClient,
  { queue, id, data }: Submission,
): Promise<Record<string, unknown>> {
  return isKindName(queue) ? fleet.payloads.offload(data, [`${fleet.prefix}:${queue}:${id}`]) : data;
}

/** Size of the texts of a job's data where some of them are stored apart from it. */
export function bytesApart(data: unknown, stored: unknown): number | undefined {
  return stored === data ? undefined : sizeOf(data);
}

async function submitByKey(
  fleet: FleetClient,
  submission: Submission,
  { force }: KeyOptions,
  create: () => Promise<void>,
): Promise<SubmitOutcome> {
  const job = await existingJob(fleet, submission);
  if (job === undefined) {
    await fleet.memory.admitJobs([submission.data]);
    await create();
    // Somebody else may have been first: BullMQ then kept that job, which must be the same one.
    await existingJob(fleet, submission);
    return 'created';
  }
  // A job is only removed where there is room for the one that replaces it.
  if (force) await fleet.memory.admitJobs([submission.data]);
  if (force && (await removeEnded(job))) {
    await create();
    return 'replaced';
  }
  return (await runAgain(fleet, submission.queue, job)) ? 'retried' : 'existing';
}
