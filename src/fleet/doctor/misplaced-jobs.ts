import type { Redis } from 'ioredis';
import { replyList, replyText, runScript, script } from '../../queues/run-script.js';
import type { Problem } from './problem.js';

const LISTS = ['wait', 'active'] as const;
const SETS = ['prioritized', 'delayed', 'waiting-children', 'completed', 'failed'] as const;
const SCAN_STEP = 500;

/** One script for each job: a job that changes its state is never seen in both states or in none. */
const STATES_LUA = `
local function states_of(queue, id)
  local found = {}
  for _, name in ipairs({${LISTS.map((name) => `'${name}'`).join(',')}}) do
    if redis.call('LPOS', queue .. name, id) then found[#found + 1] = name end
  end
  for _, name in ipairs({${SETS.map((name) => `'${name}'`).join(',')}}) do
    if redis.call('ZSCORE', queue .. name, id) then found[#found + 1] = name end
  end
  return found
end
`;

/**
 * The states of jobs. KEYS: 1 prefix of the queue's keys. ARGV: ids. Returns for each: its states separated by spaces,
 * 'ghost' if a state lists it and it does not exist, false if it was removed; then '1' if a worker has its lock.
 */
const LOOK = script(
  STATES_LUA,
  `
local found = {}
for _, id in ipairs(ARGV) do
  local key = KEYS[1] .. id
  -- A key of another type than a job's is no job.
  if redis.pcall('HEXISTS', key, 'opts') == 1 then
    found[#found + 1] = table.concat(states_of(KEYS[1], id), ' ')
  else found[#found + 1] = #states_of(KEYS[1], id) > 0 and 'ghost' or false end
  found[#found + 1] = tostring(redis.call('EXISTS', key .. ':lock'))
end
return found`,
);

/**
 * Puts a job into the one state that its fields indicate. KEYS: 1 prefix of the queue's keys. ARGV: 1 id, 2 now (ms).
 * Returns the state; '' if nothing had to be done.
 */
const SETTLE = script(
  STATES_LUA,
  `
local queue, id = KEYS[1], ARGV[1]
local key = queue .. id
local there = redis.pcall('HEXISTS', key, 'opts') == 1
local states = states_of(queue, id)
local locked = redis.call('EXISTS', key .. ':lock') == 1
if there and #states == 1 and (states[1] ~= 'active' or locked) then return '' end
local ended = there and redis.call('HGET', key, 'finishedOn')
local state
if not there then state = 'gone'
elseif ended then state = redis.call('HEXISTS', key, 'failedReason') == 1 and 'failed' or 'completed'
elseif locked then state = 'active'
elseif redis.call('SCARD', key .. ':dependencies') > 0 then state = 'waiting-children'
else state = 'prioritized' end
for _, name in ipairs(states) do
  if name == 'wait' or name == 'active' then redis.call('LREM', queue .. name, 0, id)
  else redis.call('ZREM', queue .. name, id) end
end
redis.call('SREM', queue .. 'stalled', id)
if state == 'active' then redis.call('LPUSH', queue .. 'active', id)
elseif state == 'prioritized' then
  local tag = math.max(1, tonumber(redis.call('HGET', key, 'priority') or '1') or 1)
  redis.call('HSET', key, 'priority', tag)
  redis.call('ZADD', queue .. 'prioritized', tag * 4294967296, id)
  redis.call('ZADD', queue .. 'marker', 0, '0')
elseif state ~= 'gone' then redis.call('ZADD', queue .. state, ended or ARGV[2], id) end
return state`,
);

/** Jobs of the fleet's kinds that are in no state or in several, do not exist, or run without a worker. */
export async function findMisplacedJobs(
  client: Redis,
  prefix: string,
  kinds: readonly string[],
): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const kind of kinds) {
    const queue = `${prefix}:${kind}:`;
    const ids = new Set<string>();
    for await (const page of jobIds(client, queue, kind)) for (const id of page) ids.add(id);
    for (const name of LISTS) for (const id of await client.lrange(queue + name, 0, -1)) ids.add(id);
    for (const name of SETS) for (const id of await client.zrange(queue + name, '0', '-1')) ids.add(id);
    const all = [...ids];
    for (let start = 0; start < all.length; start += SCAN_STEP) {
      const page = all.slice(start, start + SCAN_STEP);
      const reply = replyList(await runScript(client, LOOK, [queue], page));
      for (const [at, id] of page.entries()) {
        const problem = problemOf(kind, id, replyText(reply[2 * at]), replyText(reply[2 * at + 1]) === '1');
        if (problem !== undefined) problems.push(problem);
      }
    }
  }
  return problems;
}

function problemOf(
  queue: string,
  id: string,
  states: string | undefined,
  isLocked: boolean,
): Problem | undefined {
  if (states === undefined) return undefined;
  if (states === 'ghost') return { problem: 'ghost', queue, id, detail: 'a state lists it, but it is gone' };
  if (states === '') return { problem: 'no-state', queue, id, detail: 'it is in no state' };
  if (states.includes(' '))
    return { problem: 'two-states', queue, id, detail: `it is ${states.replaceAll(' ', ' and ')}` };
  if (states === 'active' && !isLocked)
    return { problem: 'no-owner', queue, id, detail: 'its worker is gone' };
  return undefined;
}

/** Puts a misplaced job into its right state. Returns the state, or undefined if nothing was left to do. */
export async function settleJob(
  client: Redis,
  prefix: string,
  { queue, id }: Problem,
): Promise<string | undefined> {
  const reply = await runScript(client, SETTLE, [`${prefix}:${queue}:`], [id, Date.now()]);
  return replyText(reply) || undefined;
}

async function* jobIds(client: Redis, queue: string, kind: string): AsyncGenerator<string[]> {
  const pattern = `${queue.replace(/[\\*?[\]]/g, '\\$&')}${kind}-*`;
  let cursor = '0';
  do {
    const [next, keys] = await client.scan(cursor, 'MATCH', pattern, 'COUNT', SCAN_STEP, 'TYPE', 'hash');
    // Keys that start with a job's key contain its children's results and other parts of it.
    yield keys.map((key) => key.slice(queue.length)).filter((id) => !id.includes(':'));
    cursor = next;
  } while (cursor !== '0');
}
