import { script } from '../../queues/run-script.js';
import { SHARED } from '../call-scripts.js';
import { UNDER_WAY_TTL_MS } from './under-way.js';

/*
 * Answers that other jobs may use stay where they are: in the ledger of the job that paid for them. `PREFIX::answer:KEY` says
 * in which one, as `NUMBER TIMESTAMP JOBKEY`; the key is made of all that decides an answer, and of the tenant (`answer-key.ts`).
 * `PREFIX::answer:KEY:under-way` is the job that is asking: `LOCKTOKEN JOBKEY`, or `batch LINE NUMBER JOBKEY` while its call is in a
 * batch. It counts only as long as that job has its lock, or the answer of its batch has not been used.
 */
const REUSE_LUA = `
-- How long a job waits until it looks again, in ms: it grows with the time that the job has waited.
local LEAST_WAIT, MOST_WAIT = 1000, {call = 15000, batch = 60000}

-- The answer in the ledger of a job, how its call ended, and the job; nil if it is gone or is no answer to this request.
local function answer_in(reference, digest)
  local number, submitted, job = string.match(reference or '', '^(%d+) (%S+) (.*)$')
  if not number then return nil end
  local field = LEDGER .. ':' .. number
  local found = redis.call('HMGET', job, field, field .. ':end', field .. ':answer', 'timestamp')
  if not (found[1] and found[2] and found[3]) or (found[4] or '-') ~= submitted then return nil end
  local is_read, sent, ended = pcall(function() return cjson.decode(found[1]), cjson.decode(found[2]) end)
  if not is_read or sent.digest ~= digest or ended.state ~= 'answered' then return nil end
  return found[3], found[2], job
end

-- The answer of a batch that came too late for its job, as 'answer_in' says it: the job has ended without using it. An
-- answer that was used is found where all are, unless it was withdrawn.
local function unclaimed_answer(asked, digest)
  local line, number, job = string.match(asked or '', '^batch (%S+) (%d+) (.*)$')
  if not line then return nil end
  local field = LEDGER .. ':' .. number
  local found = redis.call('HMGET', job, field .. ':line', 'timestamp', 'finishedOn', field .. ':used')
  if found[1] ~= line or not found[3] or found[4] then return nil end
  return answer_in(number .. ' ' .. (found[2] or '-') .. ' ' .. job, digest)
end

-- Who asks for an answer now: 'batch', 'call', or nil if nobody does. A job does not wait for itself.
local function who_asks(asked, own, batch_base)
  local line, number, job = string.match(asked or '', '^batch (%S+) (%d+) (.*)$')
  if line then
    if job == own then return nil end
    if redis.call('EXISTS', batch_base .. ':line:' .. line) == 1 then return 'batch' end
    local field = LEDGER .. ':' .. number
    local found = redis.call('HMGET', job, field .. ':line', field .. ':answer', field .. ':used')
    return found[1] == line and found[2] and not found[3] and not redis.call('HGET', job, 'finishedOn') and 'batch' or nil
  end
  local token
  token, job = string.match(asked or '', '^(%S+) (.*)$')
  if not token or job == own then return nil end
  return redis.call('GET', job .. ':lock') == token and 'call' or nil
end
`;

/**
 * Looks for an answer that another job has paid for, or is asking for now. If there is none, this job is the one that asks.
 *
 * KEYS: 1 job hash, 2 job lock, 3 answer, 4 who asks for it.
 * ARGV: 1 lock token, 2 id of the attempt, 3 base of the spending keys, 4 time or '', 5 digest of the request, 6 longest time
 *   in ms that a job waits for the call of another one, 7 '1' if it can wait for a batch, 8 base of the batches.
 * Returns {'lost'}; {'known', answer, how its call ended, key of the job that paid}; {'wait', ms, 'call' or 'batch'}; {'ask'}.
 */
export const FIND_ANSWER = script(
  SHARED,
  REUSE_LUA,
  `
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return {'lost'} end
local now, WAITING = now_ms(ARGV[4]), 'fleet:awaitsAnswerSince'
local answer, ended, payer = answer_in(redis.call('GET', KEYS[3]), ARGV[5])
if not answer then answer, ended, payer = unclaimed_answer(redis.call('GET', KEYS[4]), ARGV[5]) end
if answer then
  redis.call('HDEL', KEYS[1], WAITING)
  return {'known', answer, ended, payer}
end
local by = who_asks(redis.call('GET', KEYS[4]), KEYS[1], ARGV[8])
local since = tonumber(redis.call('HGET', KEYS[1], WAITING) or '') or now
if by and (by == 'batch' and ARGV[7] == '1' or by == 'call' and now - since < tonumber(ARGV[6])) then
  redis.call('HSETNX', KEYS[1], WAITING, string.format('%.0f', since))
  return {'wait', math.max(LEAST_WAIT, math.min(MOST_WAIT[by], math.floor((now - since) / 4))), by}
end
redis.call('HDEL', KEYS[1], WAITING)
redis.call('SET', KEYS[4], ARGV[1] .. ' ' .. KEYS[1], 'PX', ${UNDER_WAY_TTL_MS})
return {'ask'}`,
);

/**
 * Writes an answer of another job to the ledger, so that every attempt of this one has it, and counts it in the accounts. It
 * costs nothing and reserves nothing.
 *
 * KEYS: 1 job hash, 2 job lock, 3 calls under way.
 * ARGV: 1 lock token, 2 id of the attempt, 3 base of the spending keys, 4 time or '', 5 number of the call, 6 `SentCall` (JSON),
 *   7 how it ended (JSON), 8 the answer, 9 name of the run or '', 10 what the answer has cost, in nano-dollars.
 * Returns {'written'} or {'lost'}.
 */
export const TAKE_ANSWER = script(
  SHARED,
  `
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return {'lost'} end
local number = tonumber(ARGV[5])
local field = LEDGER .. ':' .. ARGV[5]
local before = ledger_read(KEYS[1], number)
-- A command can arrive twice when a connection breaks.
if before.content == ARGV[6] and redis.call('HGET', KEYS[1], field .. ':end') == ARGV[7] then return {'written'} end
redis.call('HSET', KEYS[1], field, ARGV[6], field .. ':end', ARGV[7], field .. ':answer', ARGV[8], LEDGER, math.max(before.last, number))
local day = day_of(now_ms(ARGV[4]))
local none = {false, false}
spend_reserve(ARGV[3], spend_accounts(ARGV[3], day, ARGV[9], none), {amount = '0', day = day, run = ARGV[9]}, none)
for _, key in ipairs(spend_keys(ARGV[3], day, ARGV[9])) do
  spend_add(key, {'reusedCalls', 'reusedSpent'}, {1, tonumber(ARGV[10])})
end
return {'written'}`,
);
