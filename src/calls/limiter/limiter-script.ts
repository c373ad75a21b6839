import { MAX_COOLDOWN_MS } from './rate-headers.js';

/**
 * The limiter of one model, as Lua functions that the scripts of `call-scripts.ts` begin with. All its state is one
 * hash, so that every worker of the fleet sees the same:
 * - `blockedUntil`, `openedAt` (ms), `why`: the circuit was opened by a 429 or 529; `openCount`: how often in a row;
 * - `probing`, `probeBy`, `probeAt`, `probeUntil`: the half-open probe, one call that is sent when the time is over;
 *   its worker renews `probeUntil` until it ends, for half a minute at most; only a call that ended well closes the circuit;
 * - `slowStartAt`, `slowStartCount`: when the probe succeeded, and how many calls were admitted since;
 * - `requests:limit`, `:level`, `:at` and the same for `input` and `output`: buckets that fill up within a minute;
 * - `keptUntil`: when the hash expires, at the earliest.
 * A script reads it once, with `limiter_load`, and writes what has changed once, with `limiter_store`: every command
 * inside a script costs Redis a microsecond, and each call of the fleet passes here twice.
 */
export const LIMITER_LUA = `
local PROBE_EXPIRY, MAX_PROBE_WAIT, PROBE_LOOK, SLOW_START_STEP, SLOW_START_STEPS = 5000, 30000, 500, 1000, 10
local KEPT, KEPT_SPARE = 86400000, 3600000
local MAX_BLOCKED_MS = ${MAX_COOLDOWN_MS}
local DIMENSIONS = {'requests', 'input', 'output'}

-- The limiter of this script, as texts; its changed fields; its removed fields.
local limiter, limiter_changed, limiter_gone

local function limiter_load(key)
  limiter, limiter_changed, limiter_gone = {}, {}, {}
  local all = redis.call('HGETALL', key)
  for index = 1, #all, 2 do limiter[all[index]] = all[index + 1] end
end

local function limiter_number(field)
  return tonumber(limiter[field] or '')
end

-- Until when the circuit is open; 0 if it is not, or if the stored value is impossible.
local function limiter_blocked_until(now)
  local blocked_until = limiter_number('blockedUntil') or 0
  if blocked_until > 0 and blocked_until - now <= MAX_BLOCKED_MS then return blocked_until end
  return 0
end

local function limiter_set(field, value)
  if type(value) == 'number' then value = string.format('%.0f', value) end
  if limiter[field] == value then return end
  limiter[field], limiter_changed[field], limiter_gone[field] = value, value, nil
end

local function limiter_drop(...)
  for _, field in ipairs({...}) do
    if limiter[field] then limiter[field], limiter_changed[field], limiter_gone[field] = nil, nil, true end
  end
end

-- Writes what has changed. The limiter of an unused model expires a day after its circuit closed.
local function limiter_store(key, now)
  if next(limiter) ~= nil then
    local needed = math.max(now, limiter_blocked_until(now)) + KEPT
    local kept = limiter_number('keptUntil') or 0
    if not (kept >= needed and kept - needed <= KEPT + MAX_BLOCKED_MS) then limiter_set('keptUntil', needed + KEPT_SPARE) end
  end
  local gone, changed = {}, {}
  for field in pairs(limiter_gone) do gone[#gone + 1] = field end
  for field, value in pairs(limiter_changed) do
    changed[#changed + 1] = field
    changed[#changed + 1] = value
  end
  if #gone > 0 then redis.call('HDEL', key, unpack(gone)) end
  if #changed > 0 then redis.call('HSET', key, unpack(changed)) end
  if limiter_changed.keptUntil then
    redis.call('PEXPIRE', key, string.format('%.0f', limiter_number('keptUntil') - now))
  end
end

-- The limit in force and the level of a bucket; nil where no limit is known.
local function limiter_bucket(dimension, configured, now)
  local limit = limiter_number(dimension .. ':limit')
  if configured and (not limit or configured < limit) then limit = configured end
  if not limit or limit <= 0 then return nil end
  local level = limiter_number(dimension .. ':level') or limit
  local at = limiter_number(dimension .. ':at') or now
  return limit, math.min(limit, level + math.max(0, now - at) * limit / 60000)
end

local function limiter_set_level(dimension, level, now)
  limiter_set(dimension .. ':level', string.format('%.3f', level))
  limiter_set(dimension .. ':at', now)
end

-- How long a call has to wait (0: it may go), why, and until when its circuit is or was open.
local function limiter_check(now, needs, configured)
  local blocked_until = limiter_blocked_until(now)
  if blocked_until > now then return blocked_until - now, limiter.why or 'rate-limited', blocked_until end
  if limiter.probing then
    local probe_until = limiter_number('probeUntil') or 0
    if probe_until > now then return math.min(PROBE_LOOK, probe_until - now), 'probe', blocked_until end
  end
  local started = limiter_number('slowStartAt')
  if started then
    local step = math.floor((now - started) / SLOW_START_STEP)
    if step >= SLOW_START_STEPS then
      limiter_drop('slowStartAt', 'slowStartCount', 'openCount')
    elseif (limiter_number('slowStartCount') or 0) >= 2 ^ (step + 1) then
      return SLOW_START_STEP - (now - started) % SLOW_START_STEP, 'slow-start', blocked_until
    end
  end
  for index, dimension in ipairs(DIMENSIONS) do
    local limit, level = limiter_bucket(dimension, configured[index], now)
    if limit then
      local need = math.min(needs[index], limit)
      if level < need then return math.ceil((need - level) * 60000 / limit), dimension, blocked_until end
    end
  end
  return 0, '', blocked_until
end

-- Counts an admitted call. Returns 1 if it is the half-open probe.
local function limiter_admit(now, needs, configured, by)
  for index, dimension in ipairs(DIMENSIONS) do
    local limit, level = limiter_bucket(dimension, configured[index], now)
    if limit then limiter_set_level(dimension, level - math.min(needs[index], limit), now) end
  end
  if limiter.probing then
    limiter_set('probeUntil', now + PROBE_EXPIRY)
    limiter_set('probeAt', now)
    limiter_set('probeBy', by)
    return 1
  end
  if limiter.slowStartAt then limiter_set('slowStartCount', (limiter_number('slowStartCount') or 0) + 1) end
  return 0
end

-- The worker of the probe is alive and waits for it. Returns whether this is still the probe.
local function limiter_renew_probe(now, by)
  if limiter.probeBy ~= by then return false end
  local last = (limiter_number('probeAt') or 0) + MAX_PROBE_WAIT
  if last <= now then return false end
  limiter_set('probeUntil', math.min(now + PROBE_EXPIRY, last))
  return true
end

-- A call sent after the circuit last opened has ended well: slow start begins. That its response began is not enough, because
-- an overload may be told inside the stream.
local function limiter_accepted(now, sentAt)
  if not limiter.probing then return end
  if sentAt <= (limiter_number('openedAt') or 0) then return end
  limiter_drop('probing', 'probeUntil', 'probeAt', 'probeBy')
  limiter_set('slowStartAt', now)
  limiter_set('slowStartCount', 1)
  -- The cooldown must not grow for a provider that fails now and then, only for one that keeps failing.
  limiter_set('openCount', math.floor((limiter_number('openCount') or 0) / 2))
end

-- Opens the circuit. A call that was sent before it last opened says nothing new unless it names a time.
local function limiter_open_circuit(now, sentAt, ms, why)
  local openedAt = limiter_number('openedAt') or 0
  local until_ = limiter_blocked_until(now)
  local fresh = sentAt > openedAt
  if fresh then
    local openCount = (limiter_number('openCount') or 0) + 1
    limiter_set('openCount', openCount)
    if not ms then ms = math.min(1000 * 2 ^ (math.min(openCount, 10) - 1), 60000) end
    limiter_set('openedAt', now)
  end
  if ms and now + ms > until_ then
    until_ = now + ms
    limiter_set('blockedUntil', until_)
    limiter_set('why', why)
  end
  limiter_set('probing', '1')
  if fresh then limiter_drop('probeUntil', 'probeAt', 'probeBy', 'slowStartAt', 'slowStartCount') end
end

-- The probe ended without saying anything about the limit: the next call may be the probe.
local function limiter_end_probe(by)
  if limiter.probeBy == by then limiter_drop('probeUntil', 'probeAt', 'probeBy') end
end

-- Learns from a response: its limits, and what the call used compared with what was reserved for it.
local function limiter_learn(now, learned, reserved, used, configured)
  for index, dimension in ipairs(DIMENSIONS) do
    local limit, remaining = learned[2 * index - 1], learned[2 * index]
    if limit then limiter_set(dimension .. ':limit', limit) end
    local present, level = limiter_bucket(dimension, configured[index], now)
    if present then
      level = math.min(present, level + reserved[index] - used[index])
      if remaining then level = math.min(level, remaining) end
      limiter_set_level(dimension, level, now)
    end
  end
end
`;
