/**
 * The limiter of one model, as Lua functions that the scripts of `call-scripts.ts` begin with. All its state is one
 * hash, so that every worker of the fleet sees the same:
 * - `closedUntil`, `closedAt` (ms), `why`: closed by a 429 or 529; `closings`: how often in a row;
 * - `probing`, `probeBy`, `probeAt`, `probeUntil`: after a closing one call is let through to see; its worker renews its
 *   lease as long as it lives and no response has begun, for half a minute at most;
 * - `rampAt`, `rampCount`: when the probe came through, and how many were let through since;
 * - `requests:limit`, `:level`, `:at` and the same for `input` and `output`: buckets that fill up within a minute.
 */
export const LIMITER_LUA = `
local PROBE_LEASE, PROBE_PATIENCE, PROBE_LOOK, RAMP_STEP, RAMP_STEPS = 5000, 30000, 500, 1000, 10
local DIMENSIONS = {'requests', 'input', 'output'}

local function limiter_number(key, field)
  return tonumber(redis.call('HGET', key, field) or '')
end

-- The limits that the provider named, by dimension. A script asks for them often and reads them once.
local learnt_limits
local function limiter_learnt(key, dimension)
  if not learnt_limits then
    learnt_limits = {}
    local found = redis.call('HMGET', key, 'requests:limit', 'input:limit', 'output:limit')
    for index, name in ipairs(DIMENSIONS) do learnt_limits[name] = tonumber(found[index] or '') end
  end
  return learnt_limits[dimension]
end

-- The limit in force and the level of a bucket; nil where no limit is known.
local function limiter_bucket(key, dimension, configured, now)
  local limit = limiter_learnt(key, dimension)
  if configured and (not limit or configured < limit) then limit = configured end
  if not limit or limit <= 0 then return nil end
  local level = limiter_number(key, dimension .. ':level') or limit
  local at = limiter_number(key, dimension .. ':at') or now
  return limit, math.min(limit, level + math.max(0, now - at) * limit / 60000)
end

local function limiter_set_level(key, dimension, level, now)
  redis.call('HSET', key, dimension .. ':level', string.format('%.3f', level), dimension .. ':at', string.format('%.0f', now))
end

-- How long a call has to wait (0: it may go), why, and until when the model is closed.
local function limiter_check(key, now, needs, configured)
  local closed = limiter_number(key, 'closedUntil') or 0
  if closed > now then return closed - now, redis.call('HGET', key, 'why') or 'rate-limited', closed end
  if redis.call('HEXISTS', key, 'probing') == 1 then
    local lease = limiter_number(key, 'probeUntil') or 0
    if lease > now then return math.min(PROBE_LOOK, lease - now), 'probe', closed end
  end
  local ramp = limiter_number(key, 'rampAt')
  if ramp then
    local step = math.floor((now - ramp) / RAMP_STEP)
    if step >= RAMP_STEPS then
      redis.call('HDEL', key, 'rampAt', 'rampCount', 'closings')
    elseif (limiter_number(key, 'rampCount') or 0) >= 2 ^ (step + 1) then
      return RAMP_STEP - (now - ramp) % RAMP_STEP, 'ramp', closed
    end
  end
  for index, dimension in ipairs(DIMENSIONS) do
    local limit, level = limiter_bucket(key, dimension, configured[index], now)
    if limit then
      local need = math.min(needs[index], limit)
      if level < need then return math.ceil((need - level) * 60000 / limit), dimension, closed end
    end
  end
  return 0, '', closed
end

-- Books a call that goes. Returns 1 where it is the probe.
local function limiter_take(key, now, needs, configured, run)
  for index, dimension in ipairs(DIMENSIONS) do
    local limit, level = limiter_bucket(key, dimension, configured[index], now)
    if limit then limiter_set_level(key, dimension, level - math.min(needs[index], limit), now) end
  end
  if redis.call('HEXISTS', key, 'probing') == 1 then
    redis.call('HSET', key, 'probeUntil', string.format('%.0f', now + PROBE_LEASE),
      'probeAt', string.format('%.0f', now), 'probeBy', run)
    return 1
  end
  if redis.call('HEXISTS', key, 'rampAt') == 1 then redis.call('HINCRBY', key, 'rampCount', 1) end
  return 0
end

-- The worker of the probe lives, and waits for it. Returns whether it still is the probe.
local function limiter_renew_probe(key, now, run)
  if redis.call('HGET', key, 'probeBy') ~= run then return false end
  local last = (limiter_number(key, 'probeAt') or 0) + PROBE_PATIENCE
  if last <= now then return false end
  redis.call('HSET', key, 'probeUntil', string.format('%.0f', math.min(now + PROBE_LEASE, last)))
  return true
end

-- A call sent after the last closing came through: the fleet comes back step by step.
local function limiter_accepted(key, now, sentAt)
  if redis.call('HEXISTS', key, 'probing') == 0 then return end
  if sentAt <= (limiter_number(key, 'closedAt') or 0) then return end
  redis.call('HDEL', key, 'probing', 'probeUntil', 'probeAt', 'probeBy')
  redis.call('HSET', key, 'rampAt', string.format('%.0f', now), 'rampCount', 1)
  -- A provider that fails now and then must not be left alone for ever longer; one that keeps failing must.
  redis.call('HSET', key, 'closings', math.floor((limiter_number(key, 'closings') or 0) / 2))
end

-- Closes the model. A call that was sent before the last closing says nothing new unless it names a time.
-- Returns the time until which it is closed.
local function limiter_close(key, now, sentAt, ms, why)
  local closedAt = limiter_number(key, 'closedAt') or 0
  local until_ = limiter_number(key, 'closedUntil') or 0
  local fresh = sentAt > closedAt
  if fresh then
    local closings = redis.call('HINCRBY', key, 'closings', 1)
    if not ms then ms = math.min(1000 * 2 ^ (math.min(closings, 10) - 1), 60000) end
    redis.call('HSET', key, 'closedAt', string.format('%.0f', now))
  end
  if ms and now + ms > until_ then
    until_ = now + ms
    redis.call('HSET', key, 'closedUntil', string.format('%.0f', until_), 'why', why)
  end
  redis.call('HSET', key, 'probing', 1)
  if fresh then redis.call('HDEL', key, 'probeUntil', 'probeAt', 'probeBy', 'rampAt', 'rampCount') end
  return until_
end

-- The probe ended without telling anything about the limit: the next call may be it.
local function limiter_end_probe(key, run)
  if redis.call('HGET', key, 'probeBy') == run then redis.call('HDEL', key, 'probeUntil', 'probeAt', 'probeBy') end
end

-- What a response says about the limits, and what the call used in the end against what was booked for it.
local function limiter_learn(key, now, learnt, booked, used, configured)
  for index, dimension in ipairs(DIMENSIONS) do
    local limit, remaining = learnt[2 * index - 1], learnt[2 * index]
    if limit then
      redis.call('HSET', key, dimension .. ':limit', string.format('%.0f', limit))
      learnt_limits = nil
    end
    local present, level = limiter_bucket(key, dimension, configured[index], now)
    if present then
      level = math.min(present, level + booked[index] - used[index])
      if remaining then level = math.min(level, remaining) end
      limiter_set_level(key, dimension, level, now)
    end
  end
end

-- A model that nobody uses is forgotten a day after it is open again.
local function limiter_keep(key, now)
  local closed = math.max(0, (limiter_number(key, 'closedUntil') or 0) - now)
  redis.call('PEXPIRE', key, string.format('%.0f', closed + 86400000))
end
`;
