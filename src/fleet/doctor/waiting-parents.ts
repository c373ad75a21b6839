import { type Job, Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { parseJobKey } from '../../queues/job-key.js';
import { replyList, replyText, runScript, script } from '../../queues/run-script.js';
import { describeUnserved, servedKinds, unservedChild } from '../../queues/unserved-children.js';
import type { Problem } from './problem.js';

/** A job that waits for children which are gone or have ended, so it would never go on. */
export interface OrphanedParent {
  readonly queue: string;
  readonly id: string;
  /** Keys of the children that are gone. */
  readonly missing: readonly string[];
  /** Keys of children that have ended without a notification to the job. If this and `missing` are empty, it waits for nothing. */
  readonly ended: readonly string[];
}

/** Number of keys that one SCAN step checks. */
const SCAN_STEP = 1_000;
/** Number of waiting jobs that are read at once. */
const PAGE = 500;

/** Names of all queues under a prefix with jobs that wait for children, including pipeline queues. */
async function queuesWithWaitingParents(client: Redis, prefix: string): Promise<string[]> {
  const suffix = ':waiting-children';
  const names = new Set<string>();
  // The prefix may contain special characters of patterns, such as `[`.
  const pattern = `${prefix.replace(/[\\*?[\]]/g, '\\$&')}:*${suffix}`;
  let cursor = '0';
  do {
    const [next, keys] = await client.scan(cursor, 'MATCH', pattern, 'COUNT', SCAN_STEP);
    for (const key of keys) names.add(key.slice(prefix.length + 1, -suffix.length));
    cursor = next;
  } while (cursor !== '0');
  return [...names].sort();
}

/**
 * The children that a job waits for in vain, in one script: a child that ends meanwhile is not reported.
 * KEYS: 1 the job's hash, 2 the set of its queue's waiting parents. ARGV: 1 id.
 * Returns false if it does not wait (any more), otherwise {children that are gone, children that have ended, others}.
 */
const LOOK = script(`
if not redis.call('ZSCORE', KEYS[2], ARGV[1]) then return false end
local missing, ended, others = {}, {}, 0
for _, child in ipairs(redis.call('SMEMBERS', KEYS[1] .. ':dependencies')) do
  if redis.call('EXISTS', child) == 0 then missing[#missing + 1] = child
  elseif redis.call('HEXISTS', child, 'finishedOn') == 1 then ended[#ended + 1] = child
  else others = others + 1 end
end
return {missing, ended, others}`);

async function examineParent(
  client: Redis,
  prefix: string,
  queue: string,
  id: string,
): Promise<OrphanedParent | undefined> {
  const keys = [`${prefix}:${queue}:${id}`, `${prefix}:${queue}:waiting-children`];
  const reply = await runScript(client, LOOK, keys, [id]);
  if (reply === null) return undefined;
  const [gone, over, others] = replyList(reply);
  const missing = replyList(gone ?? []).map((key) => replyText(key) ?? '');
  const ended = replyList(over ?? []).map((key) => replyText(key) ?? '');
  if (missing.length + ended.length === 0 && Number(others) > 0) return undefined;
  return { queue, id, missing, ended };
}

/** Jobs that wait for a child of a kind that no worker serves, though workers are connected. */
export async function findUnservedChildren(
  client: Redis,
  prefix: string,
  kinds: readonly string[],
): Promise<Problem[]> {
  const served = await servedKinds(client, prefix);
  if (served === undefined) return [];
  const problems: Problem[] = [];
  for await (const { queue, id } of waitingParents(client, prefix)) {
    const child = await unservedChild(
      client,
      `${prefix}:${queue}:${id}`,
      (name) => kinds.includes(name),
      served,
    );
    if (child !== undefined)
      problems.push({ problem: 'unserved-child', queue, id, detail: describeUnserved(child) });
  }
  return problems;
}

/** Every job under the prefix that waits for children in vain. */
export async function findOrphanedParents(client: Redis, prefix: string): Promise<OrphanedParent[]> {
  const orphans: OrphanedParent[] = [];
  for await (const { queue, id } of waitingParents(client, prefix)) {
    const orphan = await examineParent(client, prefix, queue, id);
    if (orphan !== undefined) orphans.push(orphan);
  }
  return orphans;
}

async function* waitingParents(
  client: Redis,
  prefix: string,
): AsyncGenerator<{ readonly queue: string; readonly id: string }> {
  for (const queue of await queuesWithWaitingParents(client, prefix)) {
    for (let start = 0; ; start += PAGE) {
      const ids = await client.zrange(
        `${prefix}:${queue}:waiting-children`,
        String(start),
        String(start + PAGE - 1),
      );
      for (const id of ids) yield { queue, id };
      if (ids.length < PAGE) break;
    }
  }
}

/**
 * Notifies a parent of a child that has ended. KEYS: 1 the parent's hash, 2 the child's. Returns 1, or 0 if it has not ended.
 */
const NOTIFY_PARENT = script(`
if redis.call('HEXISTS', KEYS[2], 'finishedOn') == 0 then return 0 end
if redis.call('SREM', KEYS[1] .. ':dependencies', KEYS[2]) == 0 then return 0 end
local failed = redis.call('HGET', KEYS[2], 'failedReason')
-- BullMQ's name for ignoreDependencyOnFailure in a child's link to its parent.
local isRead, link = pcall(cjson.decode, redis.call('HGET', KEYS[2], 'parent') or '')
if failed and isRead and type(link) == 'table' and link.idof then
  redis.call('HSET', KEYS[1] .. ':failed', KEYS[2], failed)
elseif failed then
  redis.call('ZADD', KEYS[1] .. ':unsuccessful', redis.call('HGET', KEYS[2], 'finishedOn'), KEYS[2])
  redis.call('HSET', KEYS[1], 'defa', 'child ' .. KEYS[2] .. ' failed')
else redis.call('HSET', KEYS[1] .. ':processed', KEYS[2], redis.call('HGET', KEYS[2], 'returnvalue') or 'null') end
return 1`);

/**
 * Releases a job from children that are over. It is notified of those that have ended. Each child that is gone is added
 * again as an empty job and then removed the regular way, so BullMQ's scripts release the parent. The parent then runs,
 * and fails if it needed the child's result.
 */
export async function freeOrphanedParent(
  client: Redis,
  prefix: string,
  orphan: OrphanedParent,
): Promise<void> {
  const parentKey = `${prefix}:${orphan.queue}:${orphan.id}`;
  const parent = JSON.stringify({ id: orphan.id, queueKey: `${prefix}:${orphan.queue}` });
  for (const child of orphan.ended) await runScript(client, NOTIFY_PARENT, [parentKey, child], []);
  // BullMQ releases a parent when a child is removed; if none is left, a placeholder is used.
  const placeholder = `${parentKey}-released`;
  const missing = orphan.missing.length > 0 ? orphan.missing : [placeholder];
  if (missing[0] === placeholder) await client.sadd(`${parentKey}:dependencies`, placeholder);
  for (const key of missing) {
    const { queue: name, id, prefix: childPrefix } = parseJobKey(key);
    const created = await client.hsetnx(key, 'parentKey', parentKey);
    // The child was added again in the meantime: then the parent waits for it.
    if (created === 0) continue;
    await client.hset(key, {
      name,
      data: '{}',
      opts: '{}',
      timestamp: Date.now(),
      delay: 0,
      priority: 0,
      parent,
    });
    const queue = new Queue(name, { connection: client, prefix: childPrefix, skipMetasUpdate: true });
    try {
      const stub: Job | undefined = await queue.getJob(id);
      await stub?.remove();
    } finally {
      await queue.close();
    }
  }
}
