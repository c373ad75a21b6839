import { script } from '../queues/run-script.js';
import { BUDGET_LUA } from './budget/budget-script.js';
import { LEDGER_LUA } from './ledger/ledger-script.js';
import { LIMITER_LUA } from './limiter/limiter-script.js';

/*
 * What the fleet writes around a call. Ledger, limiter and budget change together or not at all, and each script
 * first looks whether the caller still holds the job: so one script before a call and one behind it, which are its
 * two round trips.
 */

const SHARED = `${LEDGER_LUA}${LIMITER_LUA}${BUDGET_LUA}
-- The time in ms: as given (tests), else the one clock that all workers share.
local function now_ms(given)
  if given ~= '' then return tonumber(given) end
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

local function numbers(first, count)
  local list = {}
  for index = 1, count do list[index] = tonumber(ARGV[first + index - 1]) or false end
  return list
end
`;

/**
 * Opens a job's ledger for a new run of the job: what an earlier run sent and never saw answered becomes `unknown`.
 *
 * KEYS: 1 job hash, 2 job lock, 3 calls under way.
 * ARGV: 1 lock token, 2 run (`by`), 3 base of the spending keys, 4 time or ''.
 * Returns: 'lost' where another worker holds the job; else 'open', then for each call what was asked, how it ended,
 * its answer, whether a person was asked about it (false where there is none).
 */
export const OPEN_LEDGER = script(
  SHARED,
  `
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return {'lost'} end
local now = now_ms(ARGV[4])
local found = {'open'}
local takeovers = tonumber(redis.call('HGET', KEYS[1], 'stc') or '0')
for number = 1, tonumber(redis.call('HGET', KEYS[1], LEDGER) or '0') do
  local field = LEDGER .. ':' .. number
  local by = redis.call('HGET', KEYS[1], field .. ':by')
  if by and by ~= ARGV[2] and ledger_forget(KEYS[1], number, by, now) then
    spend_unknown(ARGV[3], KEYS[3], number .. ' ' .. KEYS[1])
  end
  for _, value in ipairs(redis.call('HMGET', KEYS[1], field, field .. ':end', field .. ':answer')) do
    found[#found + 1] = value
  end
  -- A job that was taken over since it was to ask has not come to ask: its worker died before it failed.
  local asked = redis.call('HGET', KEYS[1], field .. ':asked')
  found[#found + 1] = asked and tonumber(asked) >= takeovers and asked
end
return found`,
);

/**
 * Lets a call leave, or says what it has to wait for. A call that may go is written as \`sent\`, booked in the limiter,
 * and its most possible cost is reserved.
 *
 * KEYS: 1 job hash, 2 job lock, 3 calls under way, 4 limiter of the model.
 * ARGV: 1 lock token, 2 run, 3 base of the spending keys, 4 time or '', 5 number of the call, 6 what is asked (JSON),
 *   7 most it can cost, 8 what it likely costs, 9 budget of the day or '', 10 name of the run or '', 11 its budget or '',
 *   12-14 booked requests, input and output tokens, 15-17 configured limits of these a minute or '',
 *   18 longest time in ms that it may wait for the limiter. Money in nano-dollars.
 * Returns: {'sent', now, 1 where it is the probe}; {'lost'}; {'wait', ms, why, closed until};
 *   {'late', ms waited}: it waited longer than it may; {'over' or 'busy', scope, limit, spent, reserved}: a budget has
 *   no room, for good or until calls under way have ended.
 */
export const ADMIT_CALL = script(
  SHARED,
  `
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return {'lost'} end
-- The first write decides whether a Redis that is full takes the script: this one asks for memory, so no call leaves.
redis.call('HSETNX', KEYS[1], LEDGER, '0')
local now = now_ms(ARGV[4])
if ledger_has_sent(KEYS[1], ARGV[5], ARGV[6], ARGV[2]) then return {'sent', now, 0} end
local needs, configured = numbers(12, 3), numbers(15, 3)
local wait, why, closed = limiter_check(KEYS[4], now, needs, configured)
if wait > 0 then
  redis.call('HSETNX', KEYS[1], 'fleet:held', string.format('%.0f', now))
  -- The time for which the model was closed is not held against a job that never had its turn.
  local since = math.max(tonumber(redis.call('HGET', KEYS[1], 'fleet:held')), closed)
  if now - since > tonumber(ARGV[18]) then return {'late', now - since} end
  return {'wait', math.ceil(wait), why, closed}
end
local amount = tonumber(ARGV[7])
local day = string.format('%.0f', math.floor(now / 86400000))
local room = spend_check(ARGV[3], KEYS[3], now, day, ARGV[10], tonumber(ARGV[9]), tonumber(ARGV[11]), amount)
if room[1] ~= 'free' then
  return {room[1] == 'over' and 'over' or 'busy', room[2], string.format('%.0f', room[3]), string.format('%.0f', room[4]), string.format('%.0f', room[5])}
end
local probe = limiter_take(KEYS[4], now, needs, configured, ARGV[2])
limiter_keep(KEYS[4], now)
spend_reserve(ARGV[3], KEYS[3], ARGV[5] .. ' ' .. KEYS[1],
  {token = ARGV[1], by = ARGV[2], amount = ARGV[7], likely = ARGV[8], day = day, run = ARGV[10]}, ARGV[9], ARGV[11])
ledger_sent(KEYS[1], ARGV[5], ARGV[6], ARGV[2])
return {'sent', now, probe}`,
);

/**
 * Writes how a call ended, before anything is made of it. Nothing is written for a run that has lost the job. A lock
 * that has lapsed without a successor is no loss: the answer is paid for and stands for whoever comes next.
 *
 * KEYS: 1 job hash, 2 job lock, 3 calls under way, 4 limiter of the model.
 * ARGV: 1 lock token, 2 run, 3 base of the spending keys, 4 time or '', 5 number of the call, 6 how it ended (JSON),
 *   7 the answer or '', 8 'paid', 'free' or 'unknown', 9 cost or '', 10-13 tokens (input, output, cache read, cache
 *   write), 14 model, 15 'answered', 'closed' or 'other', 16 ms to close for or '', 17 class of the outcome, 18 when it was sent,
 *   19-24 learnt limit and rest of requests, input, output or '', 25-27 booked, 28-30 used, 31-33 configured limits,
 *   34 longest time in ms that it may wait for the limiter.
 * Returns: {'kept', closed until}, {'late', ms waited}, {'lost'}.
 */
export const SETTLE_CALL = script(
  SHARED,
  `
local now = now_ms(ARGV[4])
local field = LEDGER .. ':' .. ARGV[5]
local sentAt, closed = tonumber(ARGV[18]), 0
-- The first write decides whether a Redis that is full takes the script: this one asks for no memory, so that an answer
-- which is paid for is written all the same.
redis.call('HDEL', KEYS[1], field .. ':asked')
-- What the provider said about its limits is true whoever heard it.
limiter_learn(KEYS[4], now, numbers(19, 6), numbers(25, 3), numbers(28, 3), numbers(31, 3))
if ARGV[15] == 'answered' then
  limiter_accepted(KEYS[4], now, sentAt)
elseif ARGV[15] == 'closed' then
  closed = limiter_close(KEYS[4], now, sentAt, tonumber(ARGV[16]), ARGV[17])
else
  limiter_end_probe(KEYS[4], ARGV[2])
end
limiter_keep(KEYS[4], now)
if redis.call('HGET', KEYS[1], field .. ':by') ~= ARGV[2] then
  if redis.call('HGET', KEYS[1], field .. ':end') == ARGV[6] then return {'kept', closed} end
  return {'lost'}
end
local lock = redis.call('GET', KEYS[2])
if lock and lock ~= ARGV[1] then return {'lost'} end
ledger_ended(KEYS[1], ARGV[5], ARGV[6], ARGV[7])
spend_settle(ARGV[3], KEYS[3], ARGV[5] .. ' ' .. KEYS[1], ARGV[8], ARGV[9], {ARGV[10], ARGV[11], ARGV[12], ARGV[13]}, ARGV[14], ARGV[17])
if ARGV[15] == 'answered' then
  redis.call('HDEL', KEYS[1], 'fleet:held')
elseif ARGV[15] == 'closed' then
  redis.call('HSETNX', KEYS[1], 'fleet:held', string.format('%.0f', now))
  local waited = now - tonumber(redis.call('HGET', KEYS[1], 'fleet:held'))
  if waited > tonumber(ARGV[34]) then return {'late', waited} end
end
return {'kept', closed}`,
);

/**
 * The response of a probe has begun: the fleet need not wait for its end.
 *
 * KEYS: 1 limiter of the model. ARGV: 1 when the probe was sent, 2 time or ''. Returns nothing of use.
 */
export const PROBE_ACCEPTED = script(
  SHARED,
  `
limiter_accepted(KEYS[1], now_ms(ARGV[2]), tonumber(ARGV[1]))
return 1`,
);

/**
 * Keeps the probe's turn for a worker that lives and waits for it.
 *
 * KEYS: 1 limiter of the model. ARGV: 1 run that sent the probe, 2 time or ''. Returns 1, or 0 where it is the probe no longer.
 */
export const RENEW_PROBE = script(
  SHARED,
  `
return limiter_renew_probe(KEYS[1], now_ms(ARGV[2]), ARGV[1]) and 1 or 0`,
);

/**
 * Writes that a person is asked about a call whose end is unknown, and how often the job had been taken over by then; a
 * later run then sends it again.
 *
 * KEYS: 1 job hash, 2 job lock. ARGV: 1 lock token, 2 number of the call. Returns 1, or 0 where the job is lost.
 */
export const PARK_CALL = script(`
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'fleet:ledger:' .. ARGV[2] .. ':asked', redis.call('HGET', KEYS[1], 'stc') or 0)
return 1`);

/**
 * Ends the reservations of runs that no longer hold their job. Needed by nobody to go on, since a call that finds no room
 * does it too; it makes a fleet at rest show nothing reserved.
 *
 * KEYS: 1 calls under way. ARGV: 1 base of the spending keys, 2 time or ''. Returns how many calls are still under way.
 */
export const SWEEP_RESERVATIONS = script(
  SHARED,
  `
spend_sweep(ARGV[1], KEYS[1], now_ms(ARGV[2]))
return redis.call('HLEN', KEYS[1])`,
);
