import type { JobsOptions } from 'bullmq';
import { CONTRACT_VERSION } from '../queues/common.js';

import { KINDS, type KindName, type PayloadOf } from '../queues/registry.js';
import { checkTextSizes, completePayload, parsePayload } from '../queues/validate.js';
import type { FleetConnection } from './fleet-connection.js';
import { JobHandle } from './job-handle.js';
import { newJobId } from './job-id.js';

export interface AddOptions {
  /** 1 is the most urgent, 2,097,151 the least; absent: before all that have one. */
  readonly priority?: number;
  /** Wait before the job may start, in milliseconds. */
  readonly delayMs?: number;
}

/** BullMQ's options of one job: attempts, back-off and retention are the same through every door. */
export function jobOptions(
  fleet: FleetConnection,
  kindName: KindName,
  id: string,
  options: AddOptions,
): JobsOptions {
  const { attempts, backoffMs } = KINDS[kindName].defaults;
  return {
    jobId: id,
    attempts,
    backoff: { type: 'exponential', delay: backoffMs },
    removeOnComplete: { age: fleet.retentionSeconds },
    removeOnFail: { age: fleet.retentionSeconds },
    keepLogs: 500,
    ...(options.priority === undefined ? {} : { priority: options.priority }),
    ...(options.delayMs === undefined ? {} : { delay: options.delayMs }),
  };
}

/**
 * Validates a payload and gives it the present contract version.
 * @throws PayloadError with the path of the field at fault.
 */
export function preparePayload<K extends KindName>(
  fleet: FleetConnection,
  kind: K,
  payload: unknown,
): PayloadOf<K> {
  const parsed = parsePayload(kind, payload);
  checkTextSizes(kind, parsed, fleet.limits);
  return { ...parsed, v: CONTRACT_VERSION };
}

/**
 * Submits one job of a kind.
 * @throws PayloadError where the payload breaks the contract or a size limit; RedisError where Redis is away.
 */
export async function addJob<K extends KindName>(
  fleet: FleetConnection,
  kind: K,
  payload: PayloadOf<K>,
  options: AddOptions = {},
): Promise<JobHandle<K>> {
  const data = completePayload(kind, preparePayload(fleet, kind, payload), []);
  const id = newJobId(kind);
  await fleet.queue(kind).add(kind, data, jobOptions(fleet, kind, id, options));
  return new JobHandle(fleet, kind, id);
}
