/*
 * Fair queueing of tenants within their submitter. The submitter has a tag for each of its jobs; this script decides which
 * job gets which tag. Every job has a rank among the submitter's jobs, assigned in the same way as tags among parties:
 *
 *   rank = max(rank of the submitter's next job, the tenant's finish rank);   finish rank = rank + 1.
 *
 * The jobs have the submitter's tags in the order of their ranks. A late job with a low rank gets the tag of the next one,
 * which gets that of the one after it, and so on. Then the jobs of a tenant are ordered by priority among themselves.
 *
 * Keys of a party:
 * - `BASE:order:PARTY` sorted set: the submitter's jobs by tag, each as `RANK:PRIORITY:TENANT:ID`;
 * - `BASE:inner:PARTY` sorted set: tenant by its finish rank;
 * - `BASE:own:TENANT:PARTY` sorted set: one tenant's jobs in the order that have a priority, so less urgent ones are found
 *   without reading all others.
 */

/** Maximum number of a submitter's waiting jobs that a job of another tenant moves, by one position each; the last goes to the end. */
const MAX_MOVED = 50;

/** How many of a tenant's jobs are searched from the first less urgent one on: some of them may have started. */
const MAX_SCANNED = 200;

/** Maximum number of started jobs that one run removes from the order. */
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

-- Jobs of a range of the order that wait and may therefore be moved.
local function waiting_jobs(order, queue, first, last)
  local found, jobs = redis.call('ZRANGE', order, first, last, 'WITHSCORES'), {}
  for at = 1, #found, 2 do
    local job = parse(found[at])
    job.tag = tonumber(found[at + 1])
    if redis.call('ZSCORE', queue .. 'prioritized', job.id) then jobs[#jobs + 1] = job end
  end
  return jobs, #found / 2
end

-- The keys of a submitter's order, and of one tenant's jobs with a priority. The digest of a tenant has no colon.
local function order_of(base, queue, party)
  return {key = order_key(base, party), queue = queue, of_tenant = function(tenant) return tenant_key(base, party, tenant) end}
end

local function remove_member(order, job)
  redis.call('ZREM', order.key, job.member)
  if job.priority > 0 then redis.call('ZREM', order.of_tenant(job.tenant), job.member) end
end

-- Removes jobs that were started. Later runs remove the rest.
local function remove_started(order, now)
  local started = redis.call('ZRANGEBYSCORE', order.key, '-inf', '(' .. now, 'LIMIT', 0, ${MAX_REMOVED})
  for _, member in ipairs(started) do
    local job = parse(member)
    if job.priority > 0 then redis.call('ZREM', order.of_tenant(job.tenant), member) end
  end
  if #started > 0 then redis.call('ZREMRANGEBYRANK', order.key, 0, #started - 1) end
end

-- Writes a job's position in the order, and its tag if the job is already in the queue.
local function put(order, job, rank, tag)
  if job.member and rank ~= job.rank then remove_member(order, job) end
  job.rank = rank
  local member = member_of(job)
  redis.call('ZADD', order.key, tag, member)
  if job.priority > 0 then redis.call('ZADD', order.of_tenant(job.tenant), tag, member) end
  -- A fresh job may not exist yet, or be delayed.
  if job.tag and job.tag ~= tag and not job.fresh then set_tag(order.queue, job.id, tag) end
  job.tag, job.member = tag, member
end

-- Index of a tenant's first job that is less urgent.
local function first_less_urgent_of(of_tenant, priority)
  local low, high = 0, redis.call('ZCARD', of_tenant)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local member = redis.call('ZRANGE', of_tenant, middle, middle)[1]
    if parse(member).priority > priority then high = middle else low = middle + 1 end
  end
  return low
end

-- Swaps the positions of the fresh jobs with those of less urgent ones of the same tenant.
local function swap_by_priority(order, fresh, now)
  local priority, of_tenant = fresh[1].priority, order.of_tenant(fresh[1].tenant)
  local less = {}
  local start = first_less_urgent_of(of_tenant, priority)
  local found = redis.call('ZRANGE', of_tenant, start, start + ${MAX_SCANNED} - 1, 'WITHSCORES')
  for at = 1, #found, 2 do
    local job = parse(found[at])
    job.tag = tonumber(found[at + 1])
    if job.priority > priority and job.tag >= now and #less < 2 * ${MAX_MOVED} then
      if redis.call('ZSCORE', order.queue .. 'prioritized', job.id) then less[#less + 1] = job end
    end
  end
  if #less == 0 then return end
  local positions, jobs = {}, {}
  for _, job in ipairs(fresh) do jobs[#jobs + 1] = job end
  for _, job in ipairs(less) do jobs[#jobs + 1] = job end
  for at, job in ipairs(jobs) do
    job.at = at
    positions[at] = {rank = job.rank, tag = job.tag}
    remove_member(order, job)
  end
  table.sort(positions, function(a, b) return a.tag < b.tag end)
  -- The most urgent first; equally urgent jobs keep their order.
  table.sort(jobs, function(a, b)
    if a.priority ~= b.priority then return a.priority < b.priority end
    if a.tag ~= b.tag then return a.tag < b.tag end
    return a.at < b.at
  end)
  for at, job in ipairs(jobs) do
    job.member = nil
    put(order, job, positions[at].rank, positions[at].tag)
  end
end

-- Inserts jobs of one tenant into the order of its submitter, whose last \`tags\` are reserved for them. Returns their tags.
local function within_submitter(base, queue, party, tenant, priority, ids, tags, now, seconds)
  local order, inner = order_of(base, queue, party), base .. ':inner:' .. party
  remove_started(order, now)
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
  -- A job that goes after jobs that are not moved must not get a rank below theirs.
  local last = 0
  if start + seen < size then
    last = tonumber(string.match(redis.call('ZRANGE', order.key, -1, -1)[1], '^%d+'))
  end
  local slots = {}
  for _, job in ipairs(moved) do slots[#slots + 1] = job.tag end
  for _, tag in ipairs(tags) do slots[#slots + 1] = tag end
  local ours, theirs = 1, 1
  for at, tag in ipairs(slots) do
    local job = moved[theirs]
    if job and (not fresh[ours] or job.rank <= fresh[ours].rank) then theirs = theirs + 1
    else
      job = fresh[ours]
      ours = ours + 1
    end
    put(order, job, at > #moved and math.max(job.rank, last) or job.rank, tag)
  end
  swap_by_priority(order, fresh, now)
  if priority > 0 then redis.call('EXPIRE', order.of_tenant(tenant), seconds) end
  redis.call('EXPIRE', order.key, seconds)
  redis.call('EXPIRE', inner, seconds)
  local assigned = {}
  for number, job in ipairs(fresh) do assigned[number] = job.tag end
  return assigned
end
`;
