import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { replyList, runScript } from '../run-script.js';
import { MAX_TAG, REBASE_AT, TAKE_TURNS } from './priority-script.js';

/** A job that wants its place among those of other tenants. */
export interface TurnRequest {
  readonly id: string;
  /** For whom the job is done. */
  readonly tenant: string;
  /** Whose word the tenant is: submitters take turns, and their tenants within them. '': tenants take turns themselves. */
  readonly submitter: string;
  /** Order within the tenant: 0 is the most urgent, 2,097,151 the least. */
  readonly priority: number;
}

/** Tenants that submit nothing for so long are forgotten, in seconds. */
const TENANT_KEPT_SECONDS = 30 * 86_400;

/** Jobs of one script run, and different tenants or priorities of submitters, so that Redis answers others in between. */
const MAX_JOBS_A_RUN = 500;
const MAX_GROUPS_A_RUN = 10;

const MAX_TENANT_LENGTH = 100;

export function fairBase(prefix: string, queue: string): string {
  return `${prefix}::fair:${queue}`;
}

/** Key of a queue's virtual time. */
export function virtualTimeKey(prefix: string, queue: string): string {
  return `${fairBase(prefix, queue)}:now`;
}

/** Tenants have any names; long ones are known by their digest. */
function tenantName(tenant: string): string {
  return tenant.length <= MAX_TENANT_LENGTH ? tenant : createHash('sha256').update(tenant).digest('hex');
}

/** A tenant as the jobs of its submitter name it: short, and without a colon. */
function tenantDigest(tenant: string): string {
  return createHash('sha256').update(tenant).digest('base64url').slice(0, 16);
}

/** Requests in the order in which their turns are taken: jobs that come together make no room for each other. */
export function inOrderOfTurns(requests: readonly TurnRequest[]): TurnRequest[] {
  const compare = (a: string, b: string) => (a === b ? 0 : a < b ? -1 : 1);
  return [...requests].sort(
    (a, b) => compare(a.submitter, b.submitter) || compare(a.tenant, b.tenant) || a.priority - b.priority,
  );
}

/** Keys and arguments of `TAKE_TURNS`. */
interface TurnCall {
  readonly keys: readonly [string];
  readonly args: readonly (string | number)[];
}

/**
 * The calls of the script that give jobs of one queue their turns.
 * @param added Whether the jobs are there as `UNSCHEDULED`, and are given their places with their turns.
 */
export function turnCalls(
  prefix: string,
  queue: string,
  requests: readonly TurnRequest[],
  { added, rebaseAt = REBASE_AT }: { readonly added: boolean; readonly rebaseAt?: number },
): TurnCall[] {
  const calls: TurnCall[] = [];
  for (let start = 0, end = 0; start < requests.length; start = end) {
    end = endOfRun(requests, start);
    const jobs = groupArguments(requests.slice(start, end), added);
    calls.push({
      keys: [fairBase(prefix, queue)],
      args: [`${prefix}:${queue}:`, TENANT_KEPT_SECONDS, rebaseAt, added ? '1' : '', ...jobs],
    });
  }
  return calls;
}

/** Where a run ends: each group of a submitter may move many jobs, so they are counted as well as the jobs. */
function endOfRun(requests: readonly TurnRequest[], start: number): number {
  let groups = 1;
  let end = start + 1;
  for (; end < requests.length && end - start < MAX_JOBS_A_RUN; end += 1) {
    const request = requests[end] as TurnRequest;
    if (request.submitter !== '' && !isAlike(request, requests[end - 1])) groups += 1;
    if (groups > MAX_GROUPS_A_RUN) break;
  }
  return end;
}

function isAlike(one: TurnRequest, other: TurnRequest | undefined): boolean {
  return other?.tenant === one.tenant && other.submitter === one.submitter && other.priority === one.priority;
}

/** Requests of one submitter, one tenant and one priority that come together, as the script takes them. */
function groupArguments(requests: readonly TurnRequest[], added: boolean): (string | number)[] {
  const args: (string | number)[] = [];
  for (let start = 0, end = 0; start < requests.length; start = end) {
    const first = requests[start] as TurnRequest;
    const { tenant, submitter, priority } = first;
    while (isAlike(first, requests[end])) end += 1;
    const [party, inner] =
      submitter === '' ? [tenantName(tenant), ''] : [`\0${submitter}`, tenantDigest(tenant)];
    args.push(party, inner, Math.min(priority, MAX_TAG), end - start);
    if (added || priority > 0 || inner !== '') for (const { id } of requests.slice(start, end)) args.push(id);
  }
  return args;
}

/**
 * Gives jobs of one queue their turns, so that tenants are served in rotation however many jobs each has waiting, and
 * every tenant's own in the order of their priority.
 * @returns BullMQ priorities, 1 to 2,097,151, in the order of the requests.
 */
export async function assignPriorities(
  client: Redis,
  prefix: string,
  queue: string,
  requests: readonly TurnRequest[],
  rebaseAt?: number,
): Promise<number[]> {
  const tags: number[] = [];
  const options = { added: false, ...(rebaseAt === undefined ? {} : { rebaseAt }) };
  for (const { keys, args } of turnCalls(prefix, queue, requests, options)) {
    const reply = replyList(await runScript(client, TAKE_TURNS, keys, args));
    tags.push(...reply.map(Number));
  }
  return tags;
}
