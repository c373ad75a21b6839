import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { fairBase } from '../redis-keys.js';
import { runScript } from '../run-script.js';
import { MAX_TAG, REBASE_AT, SCHEDULE_JOBS } from './schedule-script.js';

/** A job that was added as `UNSCHEDULED` and needs a start tag. */
export interface SchedulingRequest {
  readonly id: string;
  /** For whom the job is done. */
  readonly tenant: string;
  /** Who names the tenant: submitters share the queue fairly, and the tenants of each share its part. '': tenants share the queue directly. */
  readonly submitter: string;
  /** Order within the tenant: 1 is the most urgent, 2,097,151 the least. */
  readonly priority: number;
}

/** State of tenants that submit nothing for this long is removed, in seconds. */
const TENANT_TTL_SECONDS = 30 * 86_400;

/** Maximum number of jobs, and of groups of submitters, in one script run: Redis serves other clients in between. */
const MAX_JOBS_A_RUN = 500;
const MAX_GROUPS_A_RUN = 10;

const MAX_TENANT_LENGTH = 100;

/** The name of a tenant in keys: long names are replaced by their digest. */
function tenantName(tenant: string): string {
  return tenant.length <= MAX_TENANT_LENGTH ? tenant : createHash('sha256').update(tenant).digest('hex');
}

/** The name of a tenant in a submitter's order: short, and without a colon. */
function tenantDigest(tenant: string): string {
  return createHash('sha256').update(tenant).digest('base64url').slice(0, 16);
}

/** The order in which tags are assigned: urgent jobs first, so jobs of one call do not move each other. */
function inOrder(requests: readonly SchedulingRequest[]): SchedulingRequest[] {
  const compare = (a: string, b: string) => (a === b ? 0 : a < b ? -1 : 1);
  return [...requests].sort(
    (a, b) => compare(a.submitter, b.submitter) || compare(a.tenant, b.tenant) || a.priority - b.priority,
  );
}

/** Index after the last request of one script run. A submitter's group may move many jobs, so groups are limited too. */
function endOfRun(requests: readonly SchedulingRequest[], start: number): number {
  let groups = 1;
  let end = start + 1;
  for (; end < requests.length && end - start < MAX_JOBS_A_RUN; end += 1) {
    const request = requests[end] as SchedulingRequest;
    if (request.submitter !== '' && !isAlike(request, requests[end - 1])) groups += 1;
    if (groups > MAX_GROUPS_A_RUN) break;
  }
  return end;
}

function isAlike(one: SchedulingRequest, other: SchedulingRequest | undefined): boolean {
  return other?.tenant === one.tenant && other.submitter === one.submitter && other.priority === one.priority;
}

/** Arguments of the script: for each group of one submitter, tenant and priority, its description and job ids. */
function groupArguments(requests: readonly SchedulingRequest[]): (string | number)[] {
  const args: (string | number)[] = [];
  for (let start = 0, end = 0; start < requests.length; start = end) {
    const first = requests[start] as SchedulingRequest;
    const { tenant, submitter, priority } = first;
    while (isAlike(first, requests[end])) end += 1;
    const [party, inner] =
      submitter === '' ? [tenantName(tenant), ''] : [`\0${submitter}`, tenantDigest(tenant)];
    args.push(party, inner, Math.min(priority, MAX_TAG), end - start);
    for (const { id } of requests.slice(start, end)) args.push(id);
  }
  return args;
}

/**
 * Gives jobs of one queue that have the priority `UNSCHEDULED` their start tags. Tenants then share the queue fairly,
 * however many jobs each has waiting, and the jobs of each tenant run in the order of their priority. Jobs that have a
 * tag, or are gone, are left alone.
 * @param rebaseAt Virtual time above which all tags may be lowered.
 */
export async function scheduleJobs(
  client: Redis,
  prefix: string,
  queue: string,
  requests: readonly SchedulingRequest[],
  rebaseAt = REBASE_AT,
): Promise<void> {
  const ordered = inOrder(requests);
  const runs: Promise<unknown>[] = [];
  for (let start = 0, end = 0; start < ordered.length; start = end) {
    end = endOfRun(ordered, start);
    const groups = groupArguments(ordered.slice(start, end));
    const args = [`${prefix}:${queue}:`, TENANT_TTL_SECONDS, rebaseAt, ...groups];
    runs.push(runScript(client, SCHEDULE_JOBS, [fairBase(prefix, queue)], args));
  }
  await Promise.all(runs);
}
