/**
 * Money, as Lua functions that the scripts of `call-scripts.ts` begin with. Amounts are whole nano-dollars, so that
 * sums are exact (up to 2^53 of them, nine million dollars). A day (`BASE:day:N`, N days since 1970, UTC) and a run
 * (`BASE:run:NAME`) each are one hash:
 * - `spent` for ended calls, `inDoubt` for calls in doubt (their likely price),
 *   `reserved` for calls under way (the most they can cost), `assumed` for ended calls whose cost is not known;
 * - `calls`, `callsInDoubt`, `unpricedCalls`, `input`, `output`, `cacheRead`, `cacheWrite` (tokens);
 * - `model:NAME:spent`, `model:NAME:calls`;
 * - `outcome:CLASS` (of days only): how the sends ended whose end was seen;
 * - `tenant:NAME` (of runs only): a bound tenant has an account of its own for its part (`run-account.ts`);
 * - `budget`, where there is one; `keptSince`: the day on which its expiry was last put off.
 * Calls under way stand in one hash: field \`NUMBER JOBKEY\`, value JSON.
 */
export const BUDGET_LUA = `
local DAY_KEPT, RUN_KEPT = 400 * 86400, 90 * 86400

-- Adds amounts to fields of one hash: one command that reads and one that writes, however many fields.
local function spend_add(key, fields, amounts)
  local sums = redis.call('HMGET', key, unpack(fields))
  local written = {}
  for index, field in ipairs(fields) do
    written[2 * index - 1] = field
    written[2 * index] = string.format('%d', tonumber(sums[index] or '0') + amounts[index])
  end
  redis.call('HSET', key, unpack(written))
end

local function spend_keys(base, day, run)
  local keys = {base .. ':day:' .. day}
  if run ~= '' then keys[2] = base .. ':run:' .. run end
  return keys
end

-- A call under way is no more: its reservation comes back. Returns what was known of it, nil where it was none.
local function release_reservation(in_flight, member)
  local raw = redis.call('HGET', in_flight, member)
  if not raw then return nil end
  redis.call('HDEL', in_flight, member)
  return cjson.decode(raw)
end

-- Books amounts for a call that is no more, on its day and its run; an outcome counts on its day alone.
local function spend_record(base, call_in_flight, fields, amounts, outcome)
  fields[#fields + 1], amounts[#amounts + 1] = 'reserved', -tonumber(call_in_flight.amount)
  local keys = spend_keys(base, call_in_flight.day, call_in_flight.run)
  if keys[2] then spend_add(keys[2], fields, amounts) end
  if outcome then fields[#fields + 1], amounts[#amounts + 1] = 'outcome:' .. outcome, 1 end
  spend_add(keys[1], fields, amounts)
end

-- Nobody knows how a call ended: it counts at its likely price.
local function spend_in_doubt(base, call_in_flight, outcome)
  spend_record(base, call_in_flight, {'inDoubt', 'callsInDoubt'}, {tonumber(call_in_flight.likely), 1}, outcome)
end

-- Ends the reservations of runs that no longer hold their job.
local function spend_sweep(base, in_flight, now)
  local all = redis.call('HGETALL', in_flight)
  for index = 1, #all, 2 do
    local call_in_flight = cjson.decode(all[index + 1])
    local number, job = string.match(all[index], '^(%d+) (.*)$')
    if redis.call('GET', job .. ':lock') ~= call_in_flight.token then
      redis.call('HDEL', in_flight, all[index])
      spend_in_doubt(base, call_in_flight)
      ledger_forget(job, number, call_in_flight.by, now)
    end
  end
end

-- The books that a call is under: its day, and its run where it has one; \`named\` are their budgets as the call knows
-- them, false where it knows none. A run's budget holds for all its jobs, whichever of them named it.
local function spend_totals(base, day, run, named)
  local books = {}
  for index, key in ipairs(spend_keys(base, day, run)) do
    local sums = redis.call('HMGET', key, 'spent', 'inDoubt', 'reserved', 'budget', 'keptSince', 'assumed')
    local budget = tonumber(sums[4] or '')
    books[index] = {
      key = key, reserved = tonumber(sums[3] or '0'),
      spent = tonumber(sums[1] or '0') + tonumber(sums[2] or '0') + tonumber(sums[6] or '0'),
      budget = budget, limit = named[index] or index == 2 and budget, kept = sums[5],
    }
  end
  return books
end

-- Room for an amount under the tightest of the budgets: 'free', 'wait' (only once calls under way have ended), or 'over'.
local function spend_check(books, amount)
  local waits
  for index, sums in ipairs(books) do
    if sums.limit then
      local scope = index == 1 and 'day' or 'run'
      if sums.spent + amount > sums.limit then return {'over', scope, sums.limit, sums.spent, sums.reserved} end
      if sums.spent + sums.reserved + amount > sums.limit then
        waits = {'wait', scope, sums.limit, sums.spent, sums.reserved}
      end
    end
  end
  return waits or {'free'}
end

-- Budgets are kept with the sums, so that whoever reads these sees what they are held to.
local function spend_reserve(base, books, in_flight, member, call_in_flight, named)
  redis.call('HSET', in_flight, member, cjson.encode(call_in_flight))
  for index, sums in ipairs(books) do
    local written = {'reserved', string.format('%d', sums.reserved + tonumber(call_in_flight.amount))}
    local budget = named[index]
    if budget and budget ~= sums.budget then
      written[3], written[4] = 'budget', string.format('%d', budget)
    end
    local renewed = sums.kept ~= call_in_flight.day
    if renewed then
      written[#written + 1] = 'keptSince'
      written[#written + 1] = call_in_flight.day
    end
    redis.call('HSET', sums.key, unpack(written))
    if renewed then redis.call('EXPIRE', sums.key, index == 1 and DAY_KEPT or RUN_KEPT) end
    -- A bound tenant's part of a run is named there, for whoever reads what the whole run costs.
    local tenant, run = string.match(call_in_flight.run, '^(%Z*)%z(.*)$')
    if renewed and index == 2 and tenant then
      redis.call('HSET', base .. ':run:' .. run, 'tenant:' .. tenant, '1')
      redis.call('EXPIRE', base .. ':run:' .. run, RUN_KEPT)
    end
  end
end

-- The end of a call is known: 'paid' at a cost, 'free', or 'in-doubt'. Where its cost is not known (false), an assumed one
-- counts for the budgets; where that is false too, the most that it could cost.
local function spend_settle(base, in_flight, member, billed, cost, assumed, tokens, model, outcome)
  local call_in_flight = release_reservation(in_flight, member)
  if not call_in_flight then return end
  if billed == 'in-doubt' then return spend_in_doubt(base, call_in_flight, outcome) end
  if billed == 'free' then return spend_record(base, call_in_flight, {}, {}, outcome) end
  local fields = {'calls', 'model:' .. model .. ':calls', 'unpricedCalls'}
  local amounts = {1, 1, 1}
  if cost then
    fields[3], amounts[3] = 'spent', cost
    fields[4], amounts[4] = 'model:' .. model .. ':spent', cost
  else
    fields[4], amounts[4] = 'assumed', assumed or tonumber(call_in_flight.amount)
  end
  for index, field in ipairs({'input', 'output', 'cacheRead', 'cacheWrite'}) do
    if tokens[index] ~= 0 then fields[#fields + 1], amounts[#amounts + 1] = field, tokens[index] end
  end
  spend_record(base, call_in_flight, fields, amounts, outcome)
end
`;
