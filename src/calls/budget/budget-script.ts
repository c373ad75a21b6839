/**
 * Money, as Lua functions that the scripts of `call-scripts.ts` begin with. Amounts are whole nano-dollars, so that
 * sums are exact. A day (`BASE:day:N`, N days since 1970, UTC) and a run (`BASE:run:NAME`) each are one hash:
 * - `spent` for ended calls, `unknown` for calls of which nobody knows the end (their likely price),
 *   `reserved` for calls under way (the most they can cost);
 * - `calls`, `unknownCalls`, `unpricedCalls`, `input`, `output`, `cacheRead`, `cacheWrite` (tokens);
 * - `model:NAME:spent`, `model:NAME:calls`;
 * - `outcome:CLASS` (of days only): how the sendings ended whose end was seen;
 * - `budget`, where there is one.
 * Calls under way stand in one hash: field \`NUMBER JOBKEY\`, value JSON.
 */
export const BUDGET_LUA = `
local DAY_KEPT, RUN_KEPT = 400 * 86400, 90 * 86400

local function spend_add(keys, field, amount)
  if tonumber(amount) == 0 then return end
  for _, key in ipairs(keys) do redis.call('HINCRBY', key, field, amount) end
end

local function spend_subtract(keys, field, amount)
  if tonumber(amount) > 0 then spend_add(keys, field, '-' .. amount) end
end

local function spend_keys(base, day, run)
  local keys = {base .. ':day:' .. day}
  if run ~= '' then keys[2] = base .. ':run:' .. run end
  return keys
end

-- A call under way is no more: its reservation comes back, and it counts at its likely price.
local function spend_unknown(base, flights, member)
  local raw = redis.call('HGET', flights, member)
  if not raw then return end
  redis.call('HDEL', flights, member)
  local flight = cjson.decode(raw)
  local keys = spend_keys(base, flight.day, flight.run)
  spend_subtract(keys, 'reserved', flight.amount)
  spend_add(keys, 'unknown', flight.likely)
  spend_add(keys, 'unknownCalls', 1)
end

-- Ends the reservations of runs that no longer hold their job.
local function spend_sweep(base, flights, now)
  local all = redis.call('HGETALL', flights)
  for index = 1, #all, 2 do
    local flight = cjson.decode(all[index + 1])
    local number, job = string.match(all[index], '^(%d+) (.*)$')
    if redis.call('GET', job .. ':lock') ~= flight.token then
      spend_unknown(base, flights, all[index])
      ledger_forget(job, number, flight.by, now)
    end
  end
end

-- Room for an amount below a limit: 'free', 'wait' (only once calls under way have ended), or 'over'.
local function spend_room(key, limit, amount)
  local sums = redis.call('HMGET', key, 'spent', 'unknown', 'reserved')
  local spent = tonumber(sums[1] or '0') + tonumber(sums[2] or '0')
  local reserved = tonumber(sums[3] or '0')
  if spent + amount > limit then return 'over', spent, reserved end
  if spent + reserved + amount > limit then return 'wait', spent, reserved end
  return 'free', spent, reserved
end

-- The tightest of the budgets that a call is under.
local function spend_check(base, flights, now, day, run, dayLimit, runLimit, amount)
  local keys = spend_keys(base, day, run)
  local limits = {dayLimit, runLimit}
  if keys[2] and not runLimit then limits[2] = tonumber(redis.call('HGET', keys[2], 'budget') or '') end
  local waits
  for index, key in ipairs(keys) do
    if limits[index] then
      local scope = index == 1 and 'day' or 'run'
      local room, spent, reserved = spend_room(key, limits[index], amount)
      if room == 'wait' then
        spend_sweep(base, flights, now)
        room, spent, reserved = spend_room(key, limits[index], amount)
      end
      if room == 'over' then return {room, scope, limits[index], spent, reserved} end
      if room == 'wait' then waits = {room, scope, limits[index], spent, reserved} end
    end
  end
  return waits or {'free'}
end

-- Budgets are kept with the sums, so that whoever reads these sees what they are held to.
local function spend_reserve(base, flights, member, flight, dayBudget, runBudget)
  local keys = spend_keys(base, flight.day, flight.run)
  redis.call('HSET', flights, member, cjson.encode(flight))
  spend_add(keys, 'reserved', flight.amount)
  redis.call('EXPIRE', keys[1], DAY_KEPT)
  if dayBudget ~= '' then redis.call('HSET', keys[1], 'budget', dayBudget) end
  if not keys[2] then return end
  redis.call('EXPIRE', keys[2], RUN_KEPT)
  if runBudget ~= '' then redis.call('HSET', keys[2], 'budget', runBudget) end
end

-- The end of a call is known: 'paid' at a cost ('' without a known price), 'free', or 'unknown'.
local function spend_settle(base, flights, member, billed, cost, tokens, model, outcome)
  local raw = redis.call('HGET', flights, member)
  if not raw then return end
  local flight = cjson.decode(raw)
  local keys = spend_keys(base, flight.day, flight.run)
  redis.call('HINCRBY', keys[1], 'outcome:' .. outcome, 1)
  if billed == 'unknown' then return spend_unknown(base, flights, member) end
  redis.call('HDEL', flights, member)
  spend_subtract(keys, 'reserved', flight.amount)
  if billed == 'free' then return end
  spend_add(keys, 'calls', 1)
  spend_add(keys, 'model:' .. model .. ':calls', 1)
  if cost == '' then
    spend_add(keys, 'unpricedCalls', 1)
  else
    spend_add(keys, 'spent', cost)
    spend_add(keys, 'model:' .. model .. ':spent', cost)
  end
  for index, field in ipairs({'input', 'output', 'cacheRead', 'cacheWrite'}) do
    spend_add(keys, field, tokens[index])
  end
end
`;
