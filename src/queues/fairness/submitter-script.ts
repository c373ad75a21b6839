/*
 * Turns of tenants within those of their submitter. The submitter has a tag for each of its jobs; which job has which tag
 * is decided here. Every job has a rank among the submitter's, given as the tags are given among parties:
 *
 *   rank = max(rank of the submitter's next job, the tenant's finish rank);   finish rank = rank + 1.
 *
 * The jobs have the submitter's tags in the order of their ranks. A job that comes late with a low rank takes the tag of
 * the next one, which takes that of the one after it, and so on. A tenant's jobs then swap their places by priority.
 *
 * Keys of a party:
 * - `BASE:order:PARTY` sorted set: the submitter's jobs by tag, each as `RANK:PRIORITY:TENANT:ID`;
 * - `BASE:inner:PARTY` sorted set: tenant by its finish rank;
 * - `BASE:own:TENANT:PARTY` sorted set: those of the jobs in the order that are one tenant's and have a priority, so that
 *   less urgent ones are found without a look at all others.
 */

/** Waiting jobs of a submitter that one job of another tenant moves by a place each; the last of them goes to the end. */
const MAX_MOVED = 50;

/** How many of a tenant's next jobs with a priority are looked at for less urgent ones. */
const MAX_SCANNED = 200;

/** Jobs that were begun, and leave the order, in one run. */
const MAX_REMOVED = 1_000;

export const SUBMITTER_LUA = `
local function parse(member)
  local rank, priority, tenant, id = string.match(member, '^(%d+):(%d+):([^:]*):(.*)$')
  return {rank = tonumber(rank), priority = tonumber(priority), tenant = tenant, id = id, member = member}
end

local function member_of(job)
  return string.format('%.0f:%.0f:', job.rank, job.priority) .. job.tenant .. ':' .. job.id
end

-- Index of the first of the submitter's jobs with a higher rank.
local function first_above(order, rank)
  local low, high = 0, redis.call('ZCARD', order)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local member = redis.call('ZRANGE', order, middle, middle)[1]
    if tonumber(string.match(member, '^%d+')) > rank then high = middle else low = middle + 1 end
  end
  return low
end

-- Jobs of a range of the order that wait, and so may be moved.
local function waiting_jobs(order, queue, first, last)
  local found, jobs = redis.call('ZRANGE', order, first, last, 'WITHSCORES'), {}
  for at = 1, #found, 2 do
    local job = parse(found[at])
    job.tag = tonumber(found[at + 1])
    if redis.call('ZSCORE', queue .. 'prioritized', job.id) then jobs[#jobs + 1] = job end
  end
  return jobs, #found / 2
end

-- Where the jobs of a submitter are kept in their order, and those of one of its tenants that have a priority. The digest
-- of a tenant has no colon.
local function order_of(base, queue, party)
  return {key = order_key(base, party), queue = queue, own = function(tenant) return own_key(base, party, tenant) end}
end

local function remove_member(order, job)
  redis.call('ZREM', order.key, job.member)
  if job.priority > 0 then redis.call('ZREM', order.own(job.tenant), job.member) end
end

-- Removes jobs that were begun. What is left of them is removed by later runs.
local function remove_begun(order, now)
  local begun = redis.call('ZRANGEBYSCORE', order.key, '-inf', '(' .. now, 'LIMIT', 0, ${MAX_REMOVED})
  for _, member in ipairs(begun) do
    local job = parse(member)
    if job.priority > 0 then redis.call('ZREM', order.own(job.tenant), member) end
  end
  if #begun > 0 then redis.call('ZREMRANGEBYRANK', order.key, 0, #begun - 1) end
end

-- Writes a job's place in the order, and its tag where it is there already.
local function put(order, job, rank, tag)
  if job.member and rank ~= job.rank then remove_member(order, job) end
  job.rank = rank
  local member = member_of(job)
  redis.call('ZADD', order.key, tag, member)
  if job.priority > 0 then redis.call('ZADD', order.own(job.tenant), tag, member) end
  -- A fresh job may not be there yet, or be delayed.
  if job.tag and job.tag ~= tag and not job.fresh then set_tag(order.queue, job.id, tag) end
  job.tag, job.member = tag, member
end

-- Gives the places of the fresh jobs to less urgent ones of the same tenant, and theirs to the fresh ones.
local function swap_by_priority(order, fresh, now)
  local priority, own = fresh[1].priority, order.own(fresh[1].tenant)
  local less = {}
  local found = redis.call('ZRANGEBYSCORE', own, now, '+inf', 'WITHSCORES', 'LIMIT', 0, ${MAX_SCANNED})
  for at = 1, #found, 2 do
    local job = parse(found[at])
    job.tag = tonumber(found[at + 1])
    if job.priority > priority and #less < 2 * ${MAX_MOVED} then
      if redis.call('ZSCORE', order.queue .. 'prioritized', job.id) then less[#less + 1] = job end
    end
  end
  if #less == 0 then return end
  local places, jobs = {}, {}
  for _, job in ipairs(fresh) do jobs[#jobs + 1] = job end
  for _, job in ipairs(less) do jobs[#jobs + 1] = job end
  for at, job in ipairs(jobs) do
    job.at = at
    places[at] = {rank = job.rank, tag = job.tag}
    remove_member(order, job)
  end
  table.sort(places, function(a, b) return a.tag < b.tag end)
  -- The most urgent first, and each in the order in which it was.
  table.sort(jobs, function(a, b)
    if a.priority ~= b.priority then return a.priority < b.priority end
    if a.tag ~= b.tag then return a.tag < b.tag end
    return a.at < b.at
  end)
  for at, job in ipairs(jobs) do
    job.member = nil
    put(order, job, places[at].rank, places[at].tag)
  end
end

-- Places jobs of one tenant of a submitter, which has given its last \`tags\` for them. Returns their tags.
local function within_submitter(base, queue, party, tenant, priority, ids, tags, now, seconds)
  local order, inner = order_of(base, queue, party), base .. ':inner:' .. party
  remove_begun(order, now)
  local head = redis.call('ZRANGEBYSCORE', order.key, now, '+inf', 'LIMIT', 0, 1)[1]
  local rank = 0
  if head then
    rank = tonumber(string.match(head, '^%d+'))
    redis.call('ZREMRANGEBYSCORE', inner, '-inf', rank)
  else
    redis.call('DEL', inner)
  end
  local first = math.max(rank, tonumber(redis.call('ZSCORE', inner, tenant) or '0'))
  redis.call('ZADD', inner, first + #ids, tenant)
  local fresh = {}
  for number, id in ipairs(ids) do
    fresh[number] = {fresh = true, rank = first + number - 1, priority = priority, tenant = tenant, id = id}
  end
  local start, size = first_above(order.key, first), redis.call('ZCARD', order.key)
  local most = math.max(${MAX_MOVED}, 2 * #ids)
  local moved, seen = {}, 0
  if start < size then moved, seen = waiting_jobs(order.key, queue, start, start + most - 1) end
  -- What goes after jobs that are not moved must not seem to be before them.
  local last = 0
  if start + seen < size then
    last = tonumber(string.match(redis.call('ZRANGE', order.key, -1, -1)[1], '^%d+'))
  end
  local places = {}
  for _, job in ipairs(moved) do places[#places + 1] = job.tag end
  for _, tag in ipairs(tags) do places[#places + 1] = tag end
  local ours, theirs = 1, 1
  for at, tag in ipairs(places) do
    local job = moved[theirs]
    if job and (not fresh[ours] or job.rank <= fresh[ours].rank) then theirs = theirs + 1
    else
      job = fresh[ours]
      ours = ours + 1
    end
    put(order, job, at > #moved and math.max(job.rank, last) or job.rank, tag)
  end
  swap_by_priority(order, fresh, now)
  if priority > 0 then redis.call('EXPIRE', order.own(tenant), seconds) end
  redis.call('EXPIRE', order.key, seconds)
  redis.call('EXPIRE', inner, seconds)
  local placed = {}
  for number, job in ipairs(fresh) do placed[number] = job.tag end
  return placed
end
`;
