import type { JobsOptions } from 'bullmq';
import { z } from 'zod';
import { deadlineOf } from '../queues/deadline.js';
import { UNSCHEDULED } from '../queues/fairness/schedule-script.js';
import { readRecord } from '../queues/read-record.js';
import type { AddOptions } from './add-options.js';
import type { FleetClient } from './fleet-client.js';
import { sizeOf } from './memory-admission.js';
import type { Submission } from './submit-once.js';

/** What the fleet stores among BullMQ's options of a job; it is written atomically with the job. */
export interface FleetJobOptions {
  readonly fleet?: Pick<AddOptions, 'tenant' | 'budgetUsd' | 'priority' | 'submitter' | 'reuse'> & {
    /** By when the result is needed, in ISO 8601. */
    readonly deadline?: string;
    /** The key as its submitter named the work, for lists. */
    readonly key?: string;
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
    /** Digest of everything that was submitted under the key of the job: its flow, or its batch. */
    readonly content?: string;
    /**
     * What a claim hands out of a job in a pipeline queue that has no script to evaluate: the outcomes of the candidates
     * before it, or its data alone. Absent: the job is an evaluation, and must have a checked script.
     */
    readonly handOut?: 'outcomes' | 'data';
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
  const { key, tenant, budgetUsd, priority, submitter, deadline, reuse } = options;
  const { attempts, backoffMs } = fleet.kinds.get(kindName).defaults;
  const fleetOptions = {
    ...(key === undefined ? {} : { key: shownKey(key, tenant) }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(budgetUsd === undefined ? {} : { budgetUsd }),
    ...(priority === undefined ? {} : { priority }),
    ...(submitter === undefined ? {} : { submitter }),
    ...storedDeadline(deadline),
    ...(reuse === undefined ? {} : { reuse }),
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

/**
 * A key as its submitter knows it: without the tenant that a bound token's keys have before them, and with the position of a
 * candidate whose key is derived from its batch's.
 */
export function shownKey(key: string, tenant: string | undefined): string {
  const [named = '', position] = key.split('\0');
  const own = withoutTenant(named, tenant);
  return position === undefined ? own : `${own}#${position}`;
}

function withoutTenant(key: string, tenant: string | undefined): string {
  const before = tenant === undefined ? undefined : `[${JSON.stringify(tenant)},`;
  if (before === undefined || !key.startsWith(before) || !key.endsWith(']')) return key;
  return readRecord(z.string(), key.slice(before.length, -1))?.value ?? key;
}

/** The deadline as it is stored: a duration counts from now. */
export function storedDeadline(deadline: string | undefined): { readonly deadline?: string } {
  const at = deadline === undefined ? undefined : deadlineOf(deadline, Date.now());
  return at === undefined ? {} : { deadline: new Date(at).toISOString() };
}

/** How long ended jobs are stored. */
export function retention(fleet: FleetClient): Pick<JobsOptions, 'removeOnComplete' | 'removeOnFail'> {
  return { removeOnComplete: { age: fleet.retentionSeconds }, removeOnFail: { age: fleet.retentionSeconds } };
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
