import type { Response } from 'express';
import { z } from 'zod';
import { JobError, PayloadError, RequestError } from '../../errors.js';
import type { AddOptions } from '../../producers/add-options.js';
import { readRecord } from '../../queues/read-record.js';
import { submitterOfTenant } from '../../queues/submitter.js';
import type { Gateway } from '../gateway.js';
import { queueOfId } from '../operations/job-resource.js';
import type { Caller } from './caller.js';

/**
 * Operations that a token bound to a tenant may use: they only concern that tenant's jobs. A run and its page read no others.
 */
const OF_ONE_TENANT = [
  /^submit-/,
  /^add-(refinement-step|guarded-evaluation|candidate-batch)$/,
  /^(get|cancel|retry)-job$/,
  /^job-events$/,
  /^get-run$/,
  /^run-page$/,
];

/** The field of a job's options that names its tenant. */
const OptionsSchema = z.looseObject({ fleet: z.looseObject({ tenant: z.string().optional() }).optional() });

type Bound = Pick<Caller, 'id' | 'tenant'>;

/** The name under which a caller's jobs are counted and scheduled: tokens of one tenant are one submitter. */
export function submitterOf({ id, tenant }: Bound): string {
  return tenant === undefined ? `token ${id}` : submitterOfTenant(tenant);
}

/** Who sent an admitted request. */
export function callerOf(response: Response): Caller {
  return response.locals.caller as Caller;
}

export function submitterOfResponse(response: Response): string {
  return submitterOf(callerOf(response));
}

/**
 * Options of a submission within its caller's rights. A token bound to a tenant submits only for that tenant, and its keys
 * name only that tenant's jobs.
 * @throws PayloadError `tenant-not-allowed`.
 */
export function ownSubmission<T extends AddOptions>(response: Response, options: T): T & AddOptions {
  const caller = callerOf(response);
  const { tenant } = caller;
  const submitter = submitterOf(caller);
  if (tenant === undefined) return { ...options, submitter };
  if (options.tenant !== undefined && options.tenant !== tenant) {
    throw new PayloadError(
      'tenant-not-allowed',
      `tenant: this token submits for ${JSON.stringify(tenant)} only`,
      {
        field: 'tenant',
      },
    );
  }
  const key = ownKey(response, options.key);
  return { ...options, ...(key === undefined ? {} : { key }), submitter, tenant };
}

/** A key as a tenant's own: the same key of another tenant is another job. */
export function ownKey(response: Response, key: string | undefined): string | undefined {
  return key === undefined ? undefined : ownKeyOf(callerOf(response).tenant, key);
}

/** The same for a tenant. */
export function ownKeyOf(tenant: string | undefined, key: string): string {
  return tenant === undefined ? key : JSON.stringify([tenant, key]);
}

/**
 * Keeps a token bound to a tenant from the jobs of others; besides this, only a run and its page do.
 * @throws RequestError `forbidden` for an operation that shows or changes jobs of all tenants; JobError `job-not-found` for
 *   another tenant's job.
 */
export async function assertOwnTenant(
  operationId: string,
  params: Readonly<Record<string, unknown>>,
  gateway: Gateway,
  { tenant }: Caller,
): Promise<void> {
  if (tenant === undefined) return;
  if (!OF_ONE_TENANT.some((pattern) => pattern.test(operationId))) {
    throw new RequestError(
      'forbidden',
      `this token is bound to the tenant ${JSON.stringify(tenant)}, and this is not`,
    );
  }
  const { id } = params;
  if (typeof id !== 'string') return;
  const { fleet } = gateway;
  const stored = await fleet.client.hget(fleet.jobKey(queueOfId(id), id), 'opts');
  if (readRecord(OptionsSchema, stored)?.value?.fleet?.tenant === tenant) return;
  throw new JobError('job-not-found', `there is no job ${id}`, { jobId: id });
}
