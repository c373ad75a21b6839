import type { Redis } from 'ioredis';
import { z } from 'zod';
import { JobError } from '../../errors.js';
import { CONTRACT_VERSION } from '../../queues/common.js';
import { MAX_FOLLOW_UPS } from '../../queues/follow-ups/contract.js';
import { CANCELLED_FIELD, CHILD_FAILURES_FIELD, CHILDREN_FIELD } from '../../queues/job-flags.js';
import { readRecord } from '../../queues/read-record.js';
import { replyList, replyText, runScript, type ScriptReply, script } from '../../queues/run-script.js';

/** A child that an earlier attempt started. */
export interface StartedChild {
  readonly name: string;
  /** Contract version of the worker that started it. */
  readonly version: number;
}

/** The children that a job has started; none if its record cannot be read, which `beginChildren` reports. */
export function startedChildren(record: string | undefined): StartedChild[] {
  if (record === undefined || record === '') return [];
  const children = readRecord(z.record(z.string(), z.string()), record)?.value ?? {};
  return Object.entries(children).map(([name, value]) => ({ name, version: Number.parseInt(value, 10) }));
}

/** Maximum number of children of one job. */
export const MAX_CHILDREN = 100;
/** Maximum number of children with declared follow-ups, which must find room once the result of their job is paid for. */
export const MAX_WITH_FOLLOW_UPS = MAX_CHILDREN + MAX_FOLLOW_UPS;

/** A child that a processor requests. */
export interface RequestedChild {
  readonly name: string;
  /** Digest of its queue and payload. */
  readonly digest: string;
  /** Key of its hash. */
  readonly key: string;
}

/** State of a child: `missing` if it has to be added again or run again, `new` if there is no such job. */
export type ChildState = {
  /** Digest of the failure that an earlier attempt received; empty if none was. */
  readonly received: string;
} & (
  | { readonly state: 'new' | 'missing' | 'pending' }
  | { readonly state: 'completed'; readonly result: string }
  | { readonly state: 'failed'; readonly reason: string }
);

/**
 * Records the children that a job starts, before they are added, and reads their states. The job waits only for children
 * that have not ended: a child of an earlier job with the same key may have ended before it became a child of this one.
 * KEYS: 1 job hash, 2 job lock. ARGV: 1 lock token, 2 name of the field, 3 maximum number of children,
 * 4 contract version, then name, digest and key of each.
 * Returns 'lost', 'cancelled', 'broken', 'changed' or 'limit' and a name, or for each child a state, a value, and the digest
 * of the failure that an earlier attempt received.
 */
const BEGIN_CHILDREN = script(`
if redis.call('GET', KEYS[2]) ~= ARGV[1] or redis.call('EXISTS', KEYS[1]) == 0 then return {'lost', ''} end
if redis.call('HEXISTS', KEYS[1], '${CANCELLED_FIELD}') == 1 then return {'cancelled', ''} end
local isRead, children = pcall(cjson.decode, redis.call('HGET', KEYS[1], ARGV[2]) or '{}')
if not isRead or type(children) ~= 'table' then return {'broken', ''} end
local count, isNew, reply = 0, false, {}
local isKnown, received = pcall(cjson.decode, redis.call('HGET', KEYS[1], '${CHILD_FAILURES_FIELD}') or '{}')
if not isKnown or type(received) ~= 'table' then received = {} end
for _ in pairs(children) do count = count + 1 end
for at = 5, #ARGV, 3 do
  local name, digest, key = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local before = children[name]
  if before and string.match(before, ':(.*)$') ~= digest then return {'changed', name} end
  local state, value = 'missing', ''
  local isThere = redis.call('EXISTS', key) == 1
  local result = redis.call('HGET', KEYS[1] .. ':processed', key)
  local reason = redis.call('HGET', KEYS[1] .. ':failed', key)
  if result then state, value = 'completed', result
  elseif reason then state, value = 'failed', reason
  elseif redis.call('SISMEMBER', KEYS[1] .. ':dependencies', key) == 1 then
    if isThere and redis.call('HEXISTS', key, 'finishedOn') == 0 then state = 'pending' end
  elseif not isThere then state = 'new' end
  if not before then
    count, isNew, children[name] = count + 1, true, ARGV[4] .. ':' .. digest
    if count > tonumber(ARGV[3]) then return {'limit', name} end
  end
  for _, field in ipairs({state, value, received[name] or ''}) do reply[#reply + 1] = field end
end
if isNew then redis.call('HSET', KEYS[1], ARGV[2], cjson.encode(children)) end
return reply`);

/**
 * Records children of a job as started, unless they are, and reads their states.
 * @throws JobError `lock-lost`; `job-cancelled`; `child-changed` if an earlier attempt started a child with that name and another payload;
 *   `child-limit`, `broken-record`.
 */
export async function beginChildren(
  client: Redis,
  job: { readonly key: string; readonly token: string; readonly id: string },
  children: readonly RequestedChild[],
  max = MAX_CHILDREN,
): Promise<ChildState[]> {
  const args = children.flatMap(({ name, digest, key }) => [name, digest, key]);
  const reply = replyList(
    await runScript(
      client,
      BEGIN_CHILDREN,
      [job.key, `${job.key}:lock`],
      [job.token, CHILDREN_FIELD, max, CONTRACT_VERSION, ...args],
    ),
  );
  const [first, name] = [replyText(reply[0]), replyText(reply[1]) ?? ''];
  const details = { jobId: job.id, field: name };
  if (first === 'lost') {
    throw new JobError('lock-lost', 'another worker owns the job', { jobId: job.id });
  }
  if (first === 'cancelled') {
    throw new JobError('job-cancelled', 'the job was cancelled', { jobId: job.id });
  }
  if (first === 'broken') {
    const message = `the children of job ${job.id} in ${job.key} (${CHILDREN_FIELD}) cannot be read`;
    throw new JobError('broken-record', message, { jobId: job.id, field: CHILDREN_FIELD });
  }
  if (first === 'changed') {
    throw new JobError(
      'child-changed',
      `an earlier attempt started the child "${name}" with another payload; a processor must start the same children each time`,
      details,
    );
  }
  if (first === 'limit') {
    throw new JobError(
      'child-limit',
      `the child "${name}" is one too many: a job has at most ${max} children`,
      details,
    );
  }
  return children.map((_, at) => childState(reply, at * 3));
}

function childState(reply: readonly ScriptReply[], at: number): ChildState {
  const state = replyText(reply[at]);
  const value = replyText(reply[at + 1]) ?? '';
  const received = replyText(reply[at + 2]) ?? '';
  if (state === 'completed') return { state, result: value, received };
  if (state === 'failed') return { state, reason: value, received };
  return { state: state === 'pending' || state === 'new' ? state : 'missing', received };
}

/**
 * Records the failure that the processor receives. If an earlier attempt received another one, a person has retried the child,
 * and the children that followed from it may change: they are forgotten.
 * KEYS: 1 job hash, 2 job lock. ARGV: 1 lock token, 2 name of the child, 3 digest of the failure or '', then the names
 * of the children that this attempt has requested. Returns 1 if children were forgotten, 0 if not, -1 if the lock is lost.
 */
const TELL = script(`
if redis.call('GET', KEYS[2]) ~= ARGV[1] or redis.call('EXISTS', KEYS[1]) == 0 then return -1 end
local function read(field)
  local isRead, value = pcall(cjson.decode, redis.call('HGET', KEYS[1], field) or '{}')
  return isRead and type(value) == 'table' and value or {}
end
local received = read('${CHILD_FAILURES_FIELD}')
local isChange = received[ARGV[2]] ~= nil and received[ARGV[2]] ~= ARGV[3]
received[ARGV[2]] = ARGV[3] ~= '' and ARGV[3] or nil
if isChange then
  local children, left = read('${CHILDREN_FIELD}'), {}
  for at = 4, #ARGV do left[ARGV[at]] = children[ARGV[at]] end
  for name in pairs(received) do if not left[name] then received[name] = nil end end
  redis.call('HSET', KEYS[1], '${CHILDREN_FIELD}', cjson.encode(left))
end
redis.call('HSET', KEYS[1], '${CHILD_FAILURES_FIELD}', cjson.encode(received))
return isChange and 1 or 0`);

/**
 * Records what the processor receives about a child.
 * @param failure Digest of its failure; empty if it has completed.
 * @param requested Names of the children that this attempt has requested.
 * @returns whether other children were forgotten.
 * @throws JobError `lock-lost`.
 */
export async function recordReceived(
  client: Redis,
  job: { readonly key: string; readonly token: string; readonly id: string },
  name: string,
  failure: string,
  requested: Iterable<string>,
): Promise<boolean> {
  const keys = [job.key, `${job.key}:lock`];
  const reply = await runScript(client, TELL, keys, [job.token, name, failure, ...requested]);
  if (reply === -1) throw new JobError('lock-lost', 'another worker owns the job', { jobId: job.id });
  return reply === 1;
}
