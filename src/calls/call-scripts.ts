import { MAX_RECORDED_CALLS } from '../queues/call-record.js';
import { script } from '../queues/run-script.js';
import { BUDGET_LUA } from './budget/budget-script.js';
import { LIMITER_LUA } from './limiter/limiter-script.js';
import { PREFIX_LUA } from './prompt-cache/prefix-scripts.js';

/**
 * The ledger of a job, as Lua functions that the scripts of `call-scripts.ts` begin with. Its fields are described in
 * `src/queues/call-record.ts`. `by` is the id of the attempt that sent a call: the job's lock token, `#`, a nonce.
 */
const LEDGER_LUA = `
local LEDGER = 'fleet:ledger'

-- Records that a call is in doubt. Returns whether it had no end yet.
local function ledger_mark_in_doubt(job, number, by, now)
  local field = LEDGER .. ':' .. number
  if redis.call('HGET', job, field .. ':by') ~= by then return false end
  redis.call('HDEL', job, field .. ':by')
  redis.call('HSET', job, field .. ':end', '{"state":"in-doubt","at":' .. string.format('%.0f', now) .. '}')
  return true
end

-- The last number of a ledger; what was last sent under this number, and by which attempt; since when the call waits for the
-- prompt cache; since when the job is throttled.
local function ledger_read(job, number)
  local field = LEDGER .. ':' .. number
  local found = redis.call('HMGET', job, LEDGER, field, field .. ':by', 'fleet:throttledSince', field .. ':cacheSince')
  return {
    last = tonumber(found[1] or '') or 0, content = found[2], by = found[3], throttled_since = found[4], cache_since = found[5],
  }
end

local function ledger_sent(job, number, content, by, before)
  local field = LEDGER .. ':' .. number
  if before.last < number then
    redis.call('HSET', job, field, content, field .. ':by', by, LEDGER, number)
  else
    redis.call('HSET', job, field, content, field .. ':by', by)
  end
  if before.content then redis.call('HDEL', job, field .. ':end', field .. ':answer') end
  if before.cache_since then redis.call('HDEL', job, field .. ':cacheSince') end
end
`;

/*
 * What the fleet writes around a call. Ledger, limiter and budget change together or not at all, and each script
 * first checks that the caller still owns the job's lock. So a call takes two round trips: one script before it and one
 * after it.
 */

export const SHARED = `${LEDGER_LUA}${LIMITER_LUA}${BUDGET_LUA}
-- The time in ms: a fixed one in tests, else the clock of Redis, which all workers share.
local function now_ms(fixed)
  if fixed ~= '' then return tonumber(fixed) end
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

local function day_of(now) return string.format('%.0f', math.floor(now / 86400000)) end

-- The accounts of a call if its budgets have room for an amount; otherwise nil and what the script returns.
local function find_room(base, in_flight, day, run, budgets, amount, job, now)
  local accounts = spend_accounts(base, day, run, budgets)
  local room = spend_check(accounts, amount)
  if room[1] == 'wait' then
    redis.call('HSETNX', job, LEDGER, '0')
    spend_sweep(base, in_flight, now)
    accounts = spend_accounts(base, day, run, budgets)
    room = spend_check(accounts, amount)
  end
  if room[1] == 'free' then return accounts end
  return nil, {room[1] == 'over' and 'over' or 'busy', room[2], string.format('%.0f', room[3]), string.format('%.0f', room[4]), string.format('%.0f', room[5])}
end
`;

/**
 * Opens a job's ledger for a new attempt: calls that an earlier attempt left without an end become `in-doubt`.
 *
 * KEYS: 1 job hash, 2 job lock, 3 calls under way.
 * ARGV: 1 lock token, 2 id of the attempt (`by`), 3 base of the spending keys, 4 time or ''.
 * Returns: 'lost' if another worker owns the lock; else 'open', then for each call what was sent, how it ended,
 * its answer, whether the job was parked for it, its line in a batch, the attempt that used the answer of that line (false if
 * there is none).
 */
export const OPEN_LEDGER = script(
  SHARED,
  `
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return {'lost'} end
local now = now_ms(ARGV[4])
local found = {'open'}
local stalledCount = tonumber(redis.call('HGET', KEYS[1], 'stc') or '') or 0
local last = tonumber(redis.call('HGET', KEYS[1], LEDGER) or '') or 0
for number = 1, math.min(last, ${MAX_RECORDED_CALLS}) do
  local field = LEDGER .. ':' .. number
  local by = redis.call('HGET', KEYS[1], field .. ':by')
  if by and by ~= ARGV[2] and ledger_mark_in_doubt(KEYS[1], number, by, now) then
    local reservation = release_reservation(KEYS[3], number .. ' ' .. KEYS[1])
    if reservation then spend_in_doubt(ARGV[3], reservation) end
  end
  for _, value in ipairs(redis.call('HMGET', KEYS[1], field, field .. ':end', field .. ':answer')) do
    found[#found + 1] = value
  end
  -- If the job has stalled since it was parked, its worker crashed before the job failed, and no person saw it.
  local asked = redis.call('HGET', KEYS[1], field .. ':asked')
  found[#found + 1] = asked and (tonumber(asked) or 0) >= stalledCount and asked
  for _, value in ipairs(redis.call('HMGET', KEYS[1], field .. ':line', field .. ':used')) do found[#found + 1] = value end
end
return found`,
);

/** What a call is, in numbers; false means not known or not limited. Money in nano-dollars. */
export interface AdmittedCall {
  /** Number of the call in the job's ledger. */
  readonly number: number;
  /** The most it can cost. */
  readonly maxCost: number;
  readonly likelyCost: number;
  /** Budgets of the day and of the run. */
  readonly budgets: readonly [day: number | false, run: number | false];
  /** Requests, input and output tokens that the limiter reserves for it. */
  readonly reserved: readonly number[];
  /** Configured limits of these a minute. */
  readonly limits: readonly (number | false)[];
  /** Longest time in ms that it may wait for the limiter. */
  readonly maxWaitMs: number | false;
  /** Longest time in ms that it waits for the state of its prompt prefix. */
  readonly maxCacheWaitMs: number;
}

/**
 * Admits a call, or says what it has to wait for. For an admitted call the ledger says `sent`, the limiter reserves its
 * tokens and the budgets reserve the most that it can cost.
 *
 * KEYS: 1 job hash, 2 job lock, 3 calls under way, 4 limiter of the model, 5 state of its prompt prefix if it may wait for it.
 * ARGV: 1 lock token, 2 id of the attempt, 3 base of the spending keys, 4 time or '', 5 `AdmittedCall` (JSON),
 *   6 `SentCall` (JSON), 7 name of the run or ''.
 * Returns: {'sent', now, 1 if it is the probe, 1 if it is the first of its prefix}; {'lost'}; {'wait', ms, why};
 *   {'late', ms waited}: it waited longer than it may; {'over' or 'busy', scope, limit, spent, reserved}: a budget has
 *   no room, for good or until calls under way have ended.
 */
export const ADMIT_CALL = script(
  SHARED,
  PREFIX_LUA,
  `
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return {'lost'} end
local now = now_ms(ARGV[4])
local call = cjson.decode(ARGV[5])
local before = ledger_read(KEYS[1], call.number)
local name = ARGV[2] .. ' ' .. call.number
-- A command can arrive twice when a connection breaks.
if before.by == ARGV[2] and before.content == ARGV[6] then
  return {'sent', now, 0, KEYS[5] and redis.call('GET', KEYS[5]) == name and 1 or 0}
end
-- A full Redis accepts or rejects a script at its first write. Each one below needs memory, so a full Redis sends no call.
limiter_load(KEYS[4])
local wait, why, blocked_until = limiter_check(now, call.reserved, call.limits)
if wait > 0 then
  if not before.throttled_since then redis.call('HSET', KEYS[1], 'fleet:throttledSince', string.format('%.0f', now)) end
  -- The time for which the circuit was open does not count for a job that could not send a call.
  local since = math.max(tonumber(before.throttled_since or now), blocked_until)
  if call.maxWaitMs and now - since > call.maxWaitMs then return {'late', now - since} end
  return {'wait', math.ceil(wait), why}
end
-- After the limiter and before the budgets: a call that waits holds nothing of either, and only a call that is sent goes first.
local look, is_first
if KEYS[5] then
  local field = LEDGER .. ':' .. call.number .. ':cacheSince'
  look, is_first = prefix_check(KEYS[5], KEYS[1], field, before.cache_since, now, call.maxCacheWaitMs)
  if look then return {'wait', look, 'prompt-cache'} end
end
local day = day_of(now)
local accounts, refused = find_room(ARGV[3], KEYS[3], day, ARGV[7], call.budgets, call.maxCost, KEYS[1], now)
if refused then return refused end
if is_first then prefix_lead(KEYS[5], name) end
ledger_sent(KEYS[1], call.number, ARGV[6], ARGV[2], before)
local reservation = {
  token = ARGV[1], by = ARGV[2], amount = string.format('%.0f', call.maxCost), likely = string.format('%.0f', call.likelyCost),
  day = day, run = ARGV[7],
}
redis.call('HSET', KEYS[3], call.number .. ' ' .. KEYS[1], cjson.encode(reservation))
spend_reserve(ARGV[3], accounts, reservation, call.budgets)
local probe = limiter_admit(now, call.reserved, call.limits, ARGV[2])
limiter_store(KEYS[4], now)
return {'sent', now, probe, is_first and 1 or 0}`,
);

/** How a call ended, in numbers and fixed words; false means not known or not limited. */
export interface SettledNumbers {
  /** Number of the call in the job's ledger. */
  readonly number: number;
  readonly billed: 'paid' | 'free' | 'in-doubt';
  /** In nano-dollars. */
  readonly cost: number | false;
  /** What a budget counts instead where no cost is known; false: the most that the call could cost. */
  readonly assumed: number | false;
  /** Input, output, cache read, cache write. */
  readonly tokens: readonly number[];
  /** What it says about the model: it answers, its circuit opens, or neither. */
  readonly says: 'answered' | 'blocked' | 'other';
  /** How long calls of the model are blocked, if the provider said so. */
  readonly blockedMs: number | false;
  /** Class of the outcome. */
  readonly outcome: string;
  /** When it was sent, by the clock of the scripts. */
  readonly sentAt: number;
  /** Limit and remaining count of requests, of input and of output tokens, as the provider sent them. */
  readonly learned: readonly (number | false)[];
  /** Requests, input and output tokens that were reserved, that were used, and their configured limits a minute. */
  readonly reserved: readonly number[];
  readonly used: readonly number[];
  readonly limits: readonly (number | false)[];
  /** Longest time in ms that the job may wait for the limiter. */
  readonly maxWaitMs: number | false;
}

/**
 * Writes how a call ended, before its answer is used. Nothing is written for an attempt whose lock another worker has
 * taken. If the lock has only expired, the answer is written: it is paid for, and the next attempt can use it.
 *
 * KEYS: 1 job hash, 2 job lock, 3 calls under way, 4 limiter of the model.
 * ARGV: 1 lock token, 2 id of the attempt, 3 base of the spending keys, 4 time or '', 5 `SettledNumbers` (JSON),
 *   6 how it ended (JSON), 7 the answer or '', 8 model that answered, 9 where other jobs find a usable answer, 10 for how long,
 *   in ms, 11 where it is noted who asks for it, or ''.
 * Returns: {'recorded'}, {'late', ms waited}, {'lost'}.
 */
export const SETTLE_CALL = script(
  SHARED,
  `
local now = now_ms(ARGV[4])
local call = cjson.decode(ARGV[5])
local field = LEDGER .. ':' .. call.number
local found = redis.call('HMGET', KEYS[1], field .. ':by', field .. ':end', 'fleet:throttledSince', 'timestamp')
local awaited, throttled_since, submitted = found[1] == ARGV[2], found[3], found[4] or '-'
-- A command can arrive twice when a connection breaks.
if not awaited and found[2] == ARGV[6] then return {'recorded'} end
local lock = redis.call('GET', KEYS[2])
local ours = awaited and (not lock or lock == ARGV[1])
-- A full Redis accepts or rejects a script at its first write. This one needs no memory, so an answer that is paid for is
-- always written.
if ours then
  redis.call('HDEL', KEYS[1], field .. ':by', field .. ':asked', call.says == 'answered' and 'fleet:throttledSince' or '')
  if ARGV[7] ~= '' then
    redis.call('HSET', KEYS[1], field .. ':end', ARGV[6], field .. ':answer', ARGV[7])
  else
    redis.call('HSET', KEYS[1], field .. ':end', ARGV[6])
  end
  local reservation = release_reservation(KEYS[3], call.number .. ' ' .. KEYS[1])
  if reservation then
    spend_settle(ARGV[3], reservation, call.billed, call.cost, call.assumed, call.tokens, ARGV[8], call.outcome)
  end
  if call.outcome == 'answered' then
    -- A job that is removed and submitted again, for another tenant perhaps, has the same key, but not the same time.
    redis.call('SET', ARGV[9], call.number .. ' ' .. submitted .. ' ' .. KEYS[1], 'PX', ARGV[10])
  end
  -- Unless another job asks for it by now.
  if ARGV[11] ~= '' and redis.call('GET', ARGV[11]) == ARGV[1] .. ' ' .. KEYS[1] then redis.call('DEL', ARGV[11]) end
else
  redis.call('HDEL', KEYS[4], '')
end
-- What the provider said about its limits is true even if the lock is lost.
limiter_load(KEYS[4])
limiter_learn(now, call.learned, call.reserved, call.used, call.limits)
if call.says == 'answered' then
  limiter_accepted(now, call.sentAt)
elseif call.says == 'blocked' then
  limiter_open_circuit(now, call.sentAt, call.blockedMs, call.outcome)
else
  limiter_end_probe(ARGV[2])
end
limiter_store(KEYS[4], now)
if not ours then return {'lost'} end
if call.says == 'blocked' then
  if not throttled_since then redis.call('HSET', KEYS[1], 'fleet:throttledSince', string.format('%.0f', now)) end
  local waited = now - tonumber(throttled_since or now)
  if call.maxWaitMs and waited > call.maxWaitMs then return {'late', waited} end
end
return {'recorded'}`,
);

/**
 * Renews a half-open probe for a worker that is alive and waits for its answer.
 *
 * KEYS: 1 limiter of the model. ARGV: 1 id of the attempt that sent the probe, 2 time or ''. Returns 1, or 0 if this is no
 * longer the probe.
 */
export const RENEW_PROBE = script(
  SHARED,
  `
local now = now_ms(ARGV[2])
limiter_load(KEYS[1])
local renewed = limiter_renew_probe(now, ARGV[1])
limiter_store(KEYS[1], now)
return renewed and 1 or 0`,
);

/**
 * Notes on a call in doubt that its job is parked for a person, with the stalled count at that time. A later attempt then
 * sends the call again.
 *
 * KEYS: 1 job hash, 2 job lock. ARGV: 1 lock token, 2 number of the call. Returns 1, or 0 if the lock is lost.
 */
export const PARK_CALL = script(`
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'fleet:ledger:' .. ARGV[2] .. ':asked', redis.call('HGET', KEYS[1], 'stc') or 0)
return 1`);

/**
 * Releases the reservations of attempts that no longer own the lock of their job. A call that finds no room does the same;
 * this script makes an idle fleet show nothing reserved.
 *
 * KEYS: 1 calls under way. ARGV: 1 base of the spending keys, 2 time or ''. Returns how many calls are still under way.
 */
export const SWEEP_RESERVATIONS = script(
  SHARED,
  `
spend_sweep(ARGV[1], KEYS[1], now_ms(ARGV[2]))
return redis.call('HLEN', KEYS[1])`,
);
