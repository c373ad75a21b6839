import type { Redis } from 'ioredis';
import { pipelineQueuesKey, queueClaimsKey, queueOwnersKey } from './redis-keys.js';
import { replyList, replyText, runScript, script } from './run-script.js';

/*
 * Names of the pipeline queues with jobs.
 * - `PREFIX::queues`: set of the names;
 * - `PREFIX::queue-owners`: hash, by name the id of the token that used it first.
 */
function nameKeys(prefix: string): [string, string] {
  return [pipelineQueuesKey(prefix), queueOwnersKey(prefix)];
}

/** Maximum number of remembered names in total, and of those that one token was the first to use. */
export const MAX_QUEUES = 1_000;
export const MAX_QUEUES_PER_TOKEN = 250;

/** KEYS: 1 names, 2 owners. ARGV: 1 owner. Returns the number of all names and of the owner's. */
const COUNT = script(`
local owned = 0
for _, owner in ipairs(redis.call('HVALS', KEYS[2])) do
  if owner == ARGV[1] then owned = owned + 1 end
end
return {redis.call('SCARD', KEYS[1]), owned}`);

/** KEYS: 1 names, 2 owners. ARGV: 1 name, 2 owner. */
const REMEMBER = script(`
-- A producer without a gateway owns none: the first token that submits to its queue does.
if redis.call('SADD', KEYS[1], ARGV[1]) == 1 or redis.call('HGET', KEYS[2], ARGV[1]) == '' then
  redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
end
return 1`);

/** KEYS: 1 names, 2 owners. ARGV: 1 maximum number of names, 2… names of queues without an owner. */
const NOTE = script(`
for at = 2, #ARGV do
  if redis.call('SCARD', KEYS[1]) < tonumber(ARGV[1]) and redis.call('SADD', KEYS[1], ARGV[at]) == 1 then
    redis.call('HSET', KEYS[2], ARGV[at], '')
  end
end
return 1`);

/**
 * Removes the names of queues without jobs, with the keys that BullMQ leaves. Settings of a queue (paused, a limit) stay.
 * KEYS: 1 names, 2 owners, 3 times of claims. ARGV: 1 prefix of all keys, 2… names. Returns the names that were removed.
 */
const FORGET = script(`
local forgotten = {}
local harmless = {['opts.maxLenEvents'] = true, version = true}
for at = 2, #ARGV do
  local queue = ARGV[1] .. ':' .. ARGV[at] .. ':'
  local jobs = 0
  for _, list in ipairs({'wait', 'active', 'paused'}) do jobs = jobs + redis.call('LLEN', queue .. list) end
  for _, set in ipairs({'prioritized', 'delayed', 'waiting-children', 'completed', 'failed', 'repeat'}) do
    jobs = jobs + redis.call('ZCARD', queue .. set)
  end
  if jobs == 0 then
    redis.call('SREM', KEYS[1], ARGV[at])
    redis.call('HDEL', KEYS[2], ARGV[at])
    redis.call('HDEL', KEYS[3], ARGV[at])
    redis.call('DEL', queue .. 'events', queue .. 'marker', queue .. 'id', queue .. 'pc')
    local isSet = false
    for _, field in ipairs(redis.call('HKEYS', queue .. 'meta')) do isSet = isSet or not harmless[field] end
    if not isSet then redis.call('DEL', queue .. 'meta') end
    forgotten[#forgotten + 1] = ARGV[at]
  end
end
return forgotten`);

/** Names that are checked in one script. */
const PAGE = 100;

export interface QueueCounts {
  readonly all: number;
  readonly ofOwner: number;
}

/** How many names are remembered. */
export async function countQueues(client: Redis, prefix: string, owner: string): Promise<QueueCounts> {
  const [all, ofOwner] = replyList(await runScript(client, COUNT, nameKeys(prefix), [owner]));
  return { all: Number(all), ofOwner: Number(ofOwner) };
}

export async function isRememberedQueue(client: Redis, prefix: string, queue: string): Promise<boolean> {
  return (await client.sismember(nameKeys(prefix)[0], queue)) === 1;
}

export async function rememberQueue(
  client: Redis,
  prefix: string,
  queue: string,
  owner: string,
): Promise<void> {
  await runScript(client, REMEMBER, nameKeys(prefix), [queue, owner]);
}

/**
 * Remembers the queues of jobs that a producer without a gateway has added, if there is room. Without it only lists and the
 * board lack them, so a failure is not reported.
 */
export function noteQueues(client: Redis, prefix: string, queues: Iterable<string>): void {
  const names = [...new Set(queues)];
  if (names.length === 0) return;
  runScript(client, NOTE, nameKeys(prefix), [MAX_QUEUES, ...names]).catch(() => undefined);
}

/** Names, in alphabetical order. */
export async function rememberedQueues(client: Redis, prefix: string): Promise<string[]> {
  return (await client.smembers(nameKeys(prefix)[0])).sort();
}

/**
 * Removes the names of queues that have no more jobs, so other names can be remembered.
 * @returns the names.
 */
export async function forgetEmptyQueues(client: Redis, prefix: string): Promise<string[]> {
  const names = await client.smembers(nameKeys(prefix)[0]);
  const forgotten: string[] = [];
  for (let start = 0; start < names.length; start += PAGE) {
    const page = names.slice(start, start + PAGE);
    const reply = await runScript(
      client,
      FORGET,
      [...nameKeys(prefix), queueClaimsKey(prefix)],
      [prefix, ...page],
    );
    forgotten.push(...replyList(reply).map((name) => replyText(name) ?? ''));
  }
  return forgotten;
}
