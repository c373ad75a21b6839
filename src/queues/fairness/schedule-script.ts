import { script } from '../run-script.js';
import { SUBMITTER_LUA } from './submitter-script.js';

/*
 * Start-time fair queueing (Goyal, Vin, Cheng: "Start-time Fair Queueing", 1996) over BullMQ's job priorities, with
 * equal weights and cost 1 for every job. A job's start tag is its BullMQ priority: the lowest goes first.
 *
 *   start = max(virtual time, the tenant's finish tag);   finish tag = start + 1;
 *   virtual time = the highest start tag of a job that a worker has started.
 *
 * Parties share the queue: a party is a tenant, or a submitter that chooses tenant names freely. The tenants of such a
 * submitter share its part (`submitter-script.ts`), so a thousand names get no more than one.
 *
 * Keys of a queue (`BASE` is `PREFIX::fair:QUEUE`):
 * - `BASE:now` virtual time;
 * - `BASE:next` sorted set: party by its finish tag; entries at or below the virtual time have no effect and are removed;
 * - `BASE:tenant:NAME` sorted set: the tenant's jobs by start tag, each as `PRIORITY:ID` with seven digits of priority. Jobs
 *   of priority 0 are not in it (earlier versions wrote them): nothing is more urgent, so they never move.
 */

/** Priority of a job that was added and has no start tag yet: BullMQ's highest number, so it runs after all others. */
export const UNSCHEDULED = 2 ** 21 - 1;

export const MAX_TAG = UNSCHEDULED - 1;

/** Highest priority number that a submission can have, the least urgent. */
export const MAX_PRIORITY = 2 ** 21 - 1;

/** Priority of a submission that names none: there is room for more urgent ones and for less urgent ones. */
export const DEFAULT_PRIORITY = 1_000;

/** Once the virtual time is this high, all tags are lowered by it as soon as the queue has few jobs. */
export const REBASE_AT = 2 ** 16;

/** Number of jobs whose tags can be lowered without a noticeable delay. */
const FEW_JOBS = 2_000;

/** Once the virtual time is this high, tags are lowered with any number of jobs: seconds, once per million jobs. */
const REBASE_LATEST = 2 ** 21 - 2 ** 18;

/** Maximum number of waiting jobs of a tenant that a more urgent job moves, by one position each; the last goes to the end. */
const MAX_MOVED = 100;

const LIBRARY = `
local function tag_of(key, id)
  return tonumber(redis.call('HGET', key .. id, 'priority') or '0') or 0
end

local function set_tag(queue, id, tag)
  local count = redis.call('INCR', queue .. 'pc') % 4294967296
  redis.call('ZADD', queue .. 'prioritized', tag * 4294967296 + count, id)
  redis.call('HSET', queue .. id, 'priority', tag)
end

-- A job without a tag: its score if it waits, else true; nil for any other job.
local function unscheduled(queue, id)
  local score = redis.call('ZSCORE', queue .. 'prioritized', id)
  if score then return tonumber(score) >= ${UNSCHEDULED} * 4294967296 and score or nil end
  return tag_of(queue, id) == ${UNSCHEDULED} or nil
end

-- Sets a job's first tag. A waiting job moves; of jobs with the same tag, the one that was added first stays first.
local function schedule(queue, id, score, tag)
  if score ~= true then redis.call('ZADD', queue .. 'prioritized', tag * 4294967296 + score % 4294967296, id) end
  redis.call('HSET', queue .. id, 'priority', tag)
end

-- Whether all tags are to be lowered now.
local function rebase_due(queue, now, early)
  if now <= early then return false end
  if now > ${REBASE_LATEST} then return true end
  local jobs = redis.call('LLEN', queue .. 'active')
  for _, set in ipairs({'prioritized', 'delayed', 'waiting-children', 'failed'}) do
    jobs = jobs + redis.call('ZCARD', queue .. set)
  end
  return jobs <= ${FEW_JOBS}
end

-- Key of the order of a submitter's jobs.
local function order_key(base, party) return base .. ':order:' .. party end

-- Key of the jobs with a priority of one of its tenants.
local function tenant_key(base, party, tenant) return base .. ':own:' .. tenant .. ':' .. party end

-- Lowers every tag of the queue and keeps their order.
local function rebase(base, queue, by)
  local waiting = redis.call('ZRANGE', queue .. 'prioritized', 0, -1, 'WITHSCORES')
  for at = 1, #waiting, 2 do
    local score = tonumber(waiting[at + 1])
    local tag = math.floor(score / 4294967296)
    if tag < ${UNSCHEDULED} then
      local moved = math.max(1, tag - by)
      redis.call('ZADD', queue .. 'prioritized', moved * 4294967296 + score % 4294967296, waiting[at])
      redis.call('HSET', queue .. waiting[at], 'priority', moved)
    end
  end
  -- Jobs that may return to the queue with their current tag.
  local others = redis.call('LRANGE', queue .. 'active', 0, -1)
  for _, set in ipairs({'delayed', 'waiting-children', 'failed'}) do
    for _, id in ipairs(redis.call('ZRANGE', queue .. set, 0, -1)) do others[#others + 1] = id end
  end
  for _, id in ipairs(others) do
    local tag = tag_of(queue, id)
    if tag > 0 and tag < ${UNSCHEDULED} then redis.call('HSET', queue .. id, 'priority', math.max(1, tag - by)) end
  end
  local tenants = redis.call('ZRANGE', base .. ':next', 0, -1, 'WITHSCORES')
  for at = 1, #tenants, 2 do
    redis.call('ZADD', base .. ':next', math.max(1, tonumber(tenants[at + 1]) - by), tenants[at])
    local index = base .. ':tenant:' .. tenants[at]
    local jobs = redis.call('ZRANGE', index, 0, -1, 'WITHSCORES')
    for job = 1, #jobs, 2 do
      redis.call('ZADD', index, math.max(1, tonumber(jobs[job + 1]) - by), jobs[job])
    end
    local order = order_key(base, tenants[at])
    local ranked = redis.call('ZRANGE', order, 0, -1, 'WITHSCORES')
    for job = 1, #ranked, 2 do
      local tag = math.max(1, tonumber(ranked[job + 1]) - by)
      redis.call('ZADD', order, tag, ranked[job])
      local priority, tenant = string.match(ranked[job], '^%d+:(%d+):([^:]*):')
      if tonumber(priority) > 0 then redis.call('ZADD', tenant_key(base, tenants[at], tenant), tag, ranked[job]) end
    end
  end
end

-- Index of the tenant's first job that is less urgent.
local function first_less_urgent(index, priority)
  local low, high = 0, redis.call('ZCARD', index)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local member = redis.call('ZRANGE', index, middle, middle)[1]
    if tonumber(string.sub(member, 1, 7)) > priority then high = middle else low = middle + 1 end
  end
  return low
end

-- Tags for jobs that go before the tenant's less urgent ones: each of those moves back by the number of new jobs, and the
-- last of them get the new \`tags\`.
local function before_less_urgent(index, queue, priority, tags)
  local last = redis.call('ZRANGE', index, -1, -1)[1]
  if not last or tonumber(string.sub(last, 1, 7)) <= priority then return tags end
  local start = first_less_urgent(index, priority)
  local most = math.max(${MAX_MOVED}, 2 * #tags)
  local found = redis.call('ZRANGE', index, start, start + most - 1, 'WITHSCORES')
  local moved, slots = {}, {}
  for at = 1, #found, 2 do
    -- A job that is not waiting (any more, or yet) keeps its tag.
    if redis.call('ZSCORE', queue .. 'prioritized', string.sub(found[at], 9)) then
      moved[#moved + 1] = found[at]
      slots[#slots + 1] = tonumber(found[at + 1])
    end
  end
  for _, tag in ipairs(tags) do slots[#slots + 1] = tag end
  for at, member in ipairs(moved) do
    redis.call('ZADD', index, slots[at + #tags], member)
    set_tag(queue, string.sub(member, 9), slots[at + #tags])
  end
  return slots
end
`;

/**
 * Assigns start tags to jobs that have the priority `UNSCHEDULED`.
 * KEYS: 1 base. ARGV: 1 prefix of the queue's keys (`PREFIX:QUEUE:`), 2 seconds without submissions after which a tenant's
 * state is removed, 3 virtual time above which tags may be lowered, then for each group of jobs of one tenant and priority:
 * party, tenant within it or '', priority, number of jobs, and their ids.
 */
export const SCHEDULE_JOBS = script(
  LIBRARY,
  SUBMITTER_LUA,
  `
local base, queue = KEYS[1], ARGV[1]
local now = tonumber(redis.call('GET', base .. ':now') or '')
if not now then
  -- There is no state: start at the tag of the first waiting job.
  local head = redis.call('ZRANGE', queue .. 'prioritized', 0, 0, 'WITHSCORES')
  now = math.max(1, math.floor(tonumber(head[2] or '0') / 4294967296))
  if now >= ${UNSCHEDULED} then now = 1 end
end
if rebase_due(queue, now, tonumber(ARGV[3])) then
  rebase(base, queue, now - 1)
  now = 1
end
redis.call('SET', base .. ':now', now, 'EX', ARGV[2])
redis.call('ZREMRANGEBYSCORE', base .. ':next', '-inf', now)
local at = 4
while at < #ARGV do
  local party, inner, priority, size = ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
  local ids, scores = {}, {}
  for number = 1, size do
    local id = ARGV[at + 3 + number]
    local score = unscheduled(queue, id)
    if score then ids[#ids + 1], scores[#scores + 1] = id, score end
  end
  at = at + 4 + size
  local count, tags = #ids, {}
  if count > 0 then
    local start = math.max(now, tonumber(redis.call('ZSCORE', base .. ':next', party) or '0'))
    for number = 1, count do tags[number] = math.min(start + number - 1, ${MAX_TAG}) end
    redis.call('ZADD', base .. ':next', math.min(start + count, ${MAX_TAG}), party)
  end
  if count > 0 and inner ~= '' then
    tags = within_submitter(base, queue, party, inner, priority, ids, tags, now, ARGV[2])
  elseif count > 0 then
    local index = base .. ':tenant:' .. party
    redis.call('ZREMRANGEBYSCORE', index, '-inf', '(' .. now)
    tags = before_less_urgent(index, queue, priority, tags)
    if priority > 0 then
      local urgency, members = string.format('%07d:', priority), {}
      for number, id in ipairs(ids) do
        members[2 * number - 1], members[2 * number] = tags[number], urgency .. id
      end
      redis.call('ZADD', index, unpack(members))
      redis.call('EXPIRE', index, ARGV[2])
    end
  end
  for number, id in ipairs(ids) do schedule(queue, id, scores[number], tags[number]) end
end
redis.call('EXPIRE', base .. ':next', ARGV[2])`,
);
