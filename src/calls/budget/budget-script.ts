/**
 * Money, as Lua functions that the scripts of `call-scripts.ts` begin with. Amounts are whole nano-dollars, so that
 * sums are exact (up to 2^53 of them, nine million dollars). The account of a day (`BASE:day:N`, N days since 1970, UTC)
 * or of a run (`BASE:run:NAME`) is one hash:
 * - `spent` for ended calls, `inDoubt` for calls in doubt (their likely price),
 *   `reserved` for calls under way (the most they can cost), `assumed` for ended calls whose cost is not known;
 * - `calls`, `callsInDoubt`, `unpricedCalls`, `input`, `output`, `cacheRead`, `cacheWrite` (tokens);
 * - `inBatch`, `batchCalls`, `batchSpent` (`batches/line-scripts.ts`); `reusedCalls`, `reusedSpent` (`reuse/answer-scripts.ts`);
 * - `model:NAME:spent`, `model:NAME:calls`;
 * - `outcome:CLASS` (of days only): how many sends ended so, of those whose end was seen;
 * - `tenant:NAME` (of runs only): a bound tenant has an account of its own for its part (`run-account.ts`);
 * - `budget`, where there is one; `keptSince`: the day on which its expiry was last put off.
 * Each call under way has a reservation in one hash: field \`NUMBER JOBKEY\`, value JSON.
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

-- Releases the reservation of a call that has ended. Returns the reservation, nil if there is none.
local function release_reservation(in_flight, member)
  local raw = redis.call('HGET', in_flight, member)
  if not raw then return nil end
  redis.call('HDEL', in_flight, member)
  return cjson.decode(raw)
end

-- Adds the amounts of an ended call to the accounts of its day and its run; an outcome counts on its day alone.
local function spend_record(base, reservation, fields, amounts, outcome)
  fields[#fields + 1], amounts[#amounts + 1] = 'reserved', -tonumber(reservation.amount)
  local keys = spend_keys(base, reservation.day, reservation.run)
  if keys[2] then spend_add(keys[2], fields, amounts) end
  if outcome then fields[#fields + 1], amounts[#amounts + 1] = 'outcome:' .. outcome, 1 end
  spend_add(keys[1], fields, amounts)
end

-- Records a call in doubt: it counts at its likely price.
local function spend_in_doubt(base, reservation, outcome)
  spend_record(base, reservation, {'inDoubt', 'callsInDoubt'}, {tonumber(reservation.likely), 1}, outcome)
end

-- Releases the reservations of attempts that no longer own the lock of their job.
local function spend_sweep(base, in_flight, now)
  local all = redis.call('HGETALL', in_flight)
  for index = 1, #all, 2 do
    local reservation = cjson.decode(all[index + 1])
    local number, job = string.match(all[index], '^(%d+) (.*)$')
    if redis.call('GET', job .. ':lock') ~= reservation.token then
      redis.call('HDEL', in_flight, all[index])
      spend_in_doubt(base, reservation)
      ledger_mark_in_doubt(job, number, reservation.by, now)
    end
  end
end

-- The accounts that a call counts on: its day, and its run if it has one; \`named\` are their budgets as the call knows
-- them, false where it knows none. A run's budget holds for all its jobs, whichever of them named it.
local function spend_accounts(base, day, run, named)
  local accounts = {}
  for index, key in ipairs(spend_keys(base, day, run)) do
    local sums = redis.call('HMGET', key, 'spent', 'inDoubt', 'reserved', 'budget', 'keptSince', 'assumed')
    local budget = tonumber(sums[4] or '')
    accounts[index] = {
      key = key, reserved = tonumber(sums[3] or '0'),
      spent = tonumber(sums[1] or '0') + tonumber(sums[2] or '0') + tonumber(sums[6] or '0'),
      budget = budget, limit = named[index] or index == 2 and budget, keptSince = sums[5],
    }
  end
  return accounts
end

-- Room for an amount under the tightest of the budgets: 'free', 'wait' (only once calls under way have ended), or 'over'.
local function spend_check(accounts, amount)
  local waits
  for index, account in ipairs(accounts) do
    if account.limit then
      local scope = index == 1 and 'day' or 'run'
      if account.spent + amount > account.limit then return {'over', scope, account.limit, account.spent, account.reserved} end
      if account.spent + account.reserved + amount > account.limit then
        waits = {'wait', scope, account.limit, account.spent, account.reserved}
      end
    end
  end
  return waits or {'free'}
end

-- Adds a reservation to its accounts. Budgets are stored with the sums, so readers see both.
local function spend_reserve(base, accounts, reservation, named)
  for index, account in ipairs(accounts) do
    local written = {'reserved', string.format('%d', account.reserved + tonumber(reservation.amount))}
    local budget = named[index]
    if budget and budget ~= account.budget then
      written[3], written[4] = 'budget', string.format('%d', budget)
    end
    local renewed = account.keptSince ~= reservation.day
    if renewed then
      written[#written + 1] = 'keptSince'
      written[#written + 1] = reservation.day
    end
    redis.call('HSET', account.key, unpack(written))
    if renewed then redis.call('EXPIRE', account.key, index == 1 and DAY_KEPT or RUN_KEPT) end
    -- The run's account lists its bound tenants, so readers find all parts of what the run costs.
    local tenant, run = string.match(reservation.run, '^(%Z*)%z(.*)$')
    if renewed and index == 2 and tenant then
      redis.call('HSET', base .. ':run:' .. run, 'tenant:' .. tenant, '1')
      redis.call('EXPIRE', base .. ':run:' .. run, RUN_KEPT)
    end
  end
end

-- Records how a call ended: 'paid' at a cost, 'free', or 'in-doubt'. If its cost is not known (false), an assumed one
-- counts for the budgets; if that is false too, the most that it could cost.
local function spend_settle(base, reservation, billed, cost, assumed, tokens, model, outcome)
  if billed == 'in-doubt' then return spend_in_doubt(base, reservation, outcome) end
  if billed == 'free' then return spend_record(base, reservation, {}, {}, outcome) end
  local fields = {'calls', 'model:' .. model .. ':calls', 'unpricedCalls'}
  local amounts = {1, 1, 1}
  if cost then
    fields[3], amounts[3] = 'spent', cost
    fields[4], amounts[4] = 'model:' .. model .. ':spent', cost
  else
    fields[4], amounts[4] = 'assumed', assumed or tonumber(reservation.amount)
  end
  for index, field in ipairs({'input', 'output', 'cacheRead', 'cacheWrite'}) do
    if tokens[index] ~= 0 then fields[#fields + 1], amounts[#amounts + 1] = field, tokens[index] end
  end
  spend_record(base, reservation, fields, amounts, outcome)
end
`;
