import { CANCELLED_FIELD } from '../../queues/job-flags.js';
import { script } from '../../queues/run-script.js';
import { SHARED } from '../call-scripts.js';
import { UNDER_WAY_TTL_MS } from '../reuse/under-way.js';

/*
 * A call that waits for a batch is a line: the hash `BASE:line:ID` (`BASE` is `PREFIX::batch`), which outlives its job. Its
 * fields: `job` (key of the hash), `number` (of the call in the job's ledger), `step`, `turn`, `model`, `request` (compressed),
 * `bytes`, `at` (when it was queued), `amount`, `likely`, `day`, `run` (its reservation), `batch` (absent: it waits to be
 * sent).
 * - `BASE:pending` sorted set: lines that wait to be sent, by time (ms); `BASE:pending-bytes`: size of their requests.
 * - `BASE:open` sorted set: batches by the time (ms) at which they are looked at next.
 * - `BASE:of:BATCH` hash: `account`, `state` (`creating` or `open`), `at` (when it was sent), `count`, `id` (the provider's),
 *   `isSure` ('' if it was found by its size and time), `foreign` (batches that proved to be others), `cancelled`; the sets `BASE:of:BATCH:lines`: its lines without
 *   an end, and `BASE:of:BATCH:left`: lines for which no job waits any more.
 * - `BASE:wake` set: keys of jobs for which there is something new; `BASE:cancelled` set: keys of cancelled jobs with lines.
 */
const PENDING_LUA = `
local function add_pending_bytes(base, bytes)
  if redis.call('INCRBY', base .. ':pending-bytes', bytes) <= 0 then redis.call('DEL', base .. ':pending-bytes') end
end
`;

const LINES_LUA = `${PENDING_LUA}
local LINE_FIELDS = {'job', 'number', 'batch', 'amount', 'likely', 'day', 'run', 'bytes'}

local function line_key(base, id) return base .. ':line:' .. id end

local function line_read(base, id)
  local values = redis.call('HMGET', line_key(base, id), unpack(LINE_FIELDS))
  if not values[1] then return nil end
  local line = {}
  for index, name in ipairs(LINE_FIELDS) do line[name] = values[index] end
  return line
end

-- Ends a line: its ledger, if its job still exists, and its accounts say how. The first write needs no memory.
local function line_end(base, spend, id, line, settled, ended, answer, model)
  redis.call('DEL', line_key(base, id))
  if line.batch then redis.call('SREM', base .. ':of:' .. line.batch .. ':lines', id)
  else
    redis.call('ZREM', base .. ':pending', id)
    add_pending_bytes(base, -line.bytes)
  end
  local field = LEDGER .. ':' .. line.number
  if redis.call('HGET', line.job, field .. ':line') == id then
    redis.call('HSET', line.job, field .. ':end', ended)
    if answer ~= '' then redis.call('HSET', line.job, field .. ':answer', answer) end
    if redis.call('HINCRBY', line.job, 'fleet:lines', -1) <= 0 then redis.call('HDEL', line.job, 'fleet:lines') end
  end
  spend_settle(spend, line, settled.billed, settled.cost, settled.assumed, settled.tokens, model, settled.outcome)
  local paid = settled.billed == 'paid'
  for _, key in ipairs(spend_keys(spend, line.day, line.run)) do
    spend_add(key, {'inBatch', 'batchCalls', 'batchSpent'}, {-1, paid and 1 or 0, paid and settled.cost or 0})
  end
end
`;

/**
 * Queues a call for the next batch: the ledger says so, and the budgets reserve the most that it can cost there.
 *
 * KEYS: 1 job hash, 2 job lock, 3 calls under way.
 * ARGV: 1 lock token, 2 id of the attempt, 3 base of the spending keys, 4 time or '', 5 number, costs and budgets of the call
 *   (JSON), 6 `SentCall` (JSON), 7 name of the run or '', 8 base of the batches, 9 request, 10 its size, 11 step, 12 turn,
 *   13 model, 14 where it is noted who asks for its answer, or ''.
 * Returns {'queued'}, {'lost'}, or {'over' or 'busy', …} as the admission of a call does.
 */
export const QUEUE_LINE = script(
  SHARED,
  LINES_LUA,
  `
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return {'lost'} end
local now, base = now_ms(ARGV[4]), ARGV[8]
local call = cjson.decode(ARGV[5])
local field = LEDGER .. ':' .. call.number
local before = ledger_read(KEYS[1], call.number)
-- A job that is removed and submitted again has the same key, but not the same time.
local submitted = redis.call('HGET', KEYS[1], 'timestamp') or ''
local id = 'fleet_' .. redis.sha1hex(table.concat({KEYS[1], submitted, call.number, ARGV[6]}, ' '))
-- A command can arrive twice when a connection breaks.
if before.content == ARGV[6] and redis.call('HGET', KEYS[1], field .. ':line') == id then return {'queued'} end
local day = day_of(now)
local accounts, refused = find_room(ARGV[3], KEYS[3], day, ARGV[7], call.budgets, call.maxCost, KEYS[1], now)
if refused then return refused end
redis.call('HSET', KEYS[1], field, ARGV[6], field .. ':line', id, LEDGER, math.max(before.last, call.number))
redis.call('HDEL', KEYS[1], field .. ':end', field .. ':answer', field .. ':used')
redis.call('HINCRBY', KEYS[1], 'fleet:lines', 1)
local amount, likely = string.format('%.0f', call.maxCost), string.format('%.0f', call.likelyCost)
spend_reserve(ARGV[3], accounts, {amount = amount, likely = likely, day = day, run = ARGV[7]}, call.budgets)
for _, key in ipairs(spend_keys(ARGV[3], day, ARGV[7])) do redis.call('HINCRBY', key, 'inBatch', 1) end
redis.call('HSET', line_key(base, id), 'job', KEYS[1], 'number', call.number, 'step', ARGV[11], 'turn', ARGV[12],
  'model', ARGV[13], 'request', ARGV[9], 'bytes', ARGV[10], 'at', string.format('%.0f', now),
  'amount', amount, 'likely', likely, 'day', day, 'run', ARGV[7])
redis.call('ZADD', base .. ':pending', string.format('%.0f', now), id)
add_pending_bytes(base, ARGV[10])
-- Others that ask the same wait for the batch.
if ARGV[14] ~= '' then redis.call('SET', ARGV[14], 'batch ' .. id .. ' ' .. call.number .. ' ' .. KEYS[1], 'PX', ${UNDER_WAY_TTL_MS}) end
return {'queued'}`,
);

/**
 * A job does not wait for a line any more: its deadline nears, or it was cancelled. A line that was not sent yet is removed.
 * A batch cannot be cancelled in part, so any other line stays until its batch has ended.
 *
 * KEYS: 1 job hash, 2 job lock.
 * ARGV: 1 lock token, or '' for a cancelled job, 2 id of the attempt, 3 base of the spending keys, 4 time or '', 5 base of the
 *   batches, 6 the line, 7 how it ended if it is removed (JSON).
 * Returns {'lost'}; {'ended'} if it has an end already, or if its job is not cancelled any more; {'removed'}; {'left', lines of its
 * batch, those that were left, 1 if it is sure which batch it is}.
 */
export const LEAVE_LINE = script(
  SHARED,
  LINES_LUA,
  `
if ARGV[1] ~= '' and redis.call('GET', KEYS[2]) ~= ARGV[1] then return {'lost'} end
local base, id = ARGV[5], ARGV[6]
local line = line_read(base, id)
-- A cancelled job that was retried meanwhile waits for it again.
if not line or ARGV[1] == '' and redis.call('HEXISTS', KEYS[1], '${CANCELLED_FIELD}') == 0 then return {'ended'} end
if not line.batch then
  line_end(base, ARGV[3], id, line, {billed = 'free'}, ARGV[7], '', '')
  return {'removed'}
end
local batch = base .. ':of:' .. line.batch
redis.call('SADD', batch .. ':left', id)
local lines = redis.call('SCARD', batch .. ':lines')
local left = #redis.call('SINTER', batch .. ':lines', batch .. ':left')
-- The batch is cancelled as soon as it is looked at.
if left == lines then redis.call('ZADD', base .. ':open', 'XX', 0, line.batch) end
return {'left', lines, left, redis.call('HGET', batch, 'isSure') == '1' and 1 or 0}`,
);

/**
 * Notes that an attempt uses the answer of a line, and corrects how the call ended if the answer proved to be unusable.
 *
 * KEYS: 1 job hash, 2 job lock. ARGV: 1 lock token, 2 id of the attempt, 3 number of the call, 4 the corrected end (JSON) or ''
 * if it can be used, 5 where other jobs find it then, 6 for how long, in ms. Returns 1, or 0 if the lock is lost.
 */
export const USE_LINE = script(`
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
local field = 'fleet:ledger:' .. ARGV[3]
redis.call('HSET', KEYS[1], field .. ':used', ARGV[2])
if ARGV[4] ~= '' then redis.call('HSET', KEYS[1], field .. ':end', ARGV[4])
else
  local submitted = redis.call('HGET', KEYS[1], 'timestamp') or '-'
  redis.call('SET', ARGV[5], ARGV[3] .. ' ' .. submitted .. ' ' .. KEYS[1], 'PX', ARGV[6])
end
return 1`);

/**
 * Takes lines that wait for a new batch, the oldest first. From here on the batch counts as being created.
 *
 * KEYS: 1 base of the batches. ARGV: 1 name of the batch, 2 account, 3 time, 4 maximum number of lines, 5 of bytes. Returns
 * the lines.
 */
export const CLAIM_LINES = script(
  PENDING_LUA,
  `
local base, batch = KEYS[1], KEYS[1] .. ':of:' .. ARGV[1]
local taken, bytes = {}, 0
for _, id in ipairs(redis.call('ZRANGE', base .. ':pending', 0, tonumber(ARGV[4]) - 1)) do
  local line = base .. ':line:' .. id
  local size = tonumber(redis.call('HGET', line, 'bytes') or '0')
  if #taken > 0 and bytes + size > tonumber(ARGV[5]) then break end
  redis.call('ZREM', base .. ':pending', id)
  redis.call('HSET', line, 'batch', ARGV[1])
  redis.call('SADD', batch .. ':lines', id)
  taken[#taken + 1], bytes = id, bytes + size
end
if #taken == 0 then return taken end
add_pending_bytes(base, -bytes)
redis.call('HSET', batch, 'account', ARGV[2], 'state', 'creating', 'at', ARGV[3], 'count', #taken)
redis.call('ZADD', base .. ':open', ARGV[3], ARGV[1])
return taken`,
);

/**
 * Notes that a batch exists at the provider.
 *
 * KEYS: 1 base of the batches. ARGV: 1 name of the batch, 2 the provider's id, 3 when it is looked at next (ms), 4 '1' if it
 * is sure that this is the batch, '' if only its results can say so. Returns 1, or 0 if nobody waits for this creation any more.
 */
export const RECORD_BATCH = script(`
local batch = KEYS[1] .. ':of:' .. ARGV[1]
local found = redis.call('HMGET', batch, 'state', 'id')
-- Another worker may have found it meanwhile.
if found[1] == 'open' and found[2] == ARGV[2] then return 1 end
if found[1] ~= 'creating' then return 0 end
redis.call('HSET', batch, 'state', 'open', 'id', ARGV[2], 'isSure', ARGV[4])
redis.call('ZADD', KEYS[1] .. ':open', ARGV[3], ARGV[1])
return 1`);

/**
 * Gives the lines of a batch back that certainly does not exist at the provider: they wait to be sent. Lines for which no job
 * waits are removed.
 *
 * KEYS: 1 base of the batches, 2 base of the spending keys. ARGV: 1 name of the batch, 2 how a removed line ended (JSON).
 * Returns how many wait again.
 */
export const RETURN_LINES = script(
  SHARED,
  LINES_LUA,
  `
local base, batch = KEYS[1], KEYS[1] .. ':of:' .. ARGV[1]
if redis.call('HGET', batch, 'state') ~= 'creating' then return 0 end
for _, id in ipairs(redis.call('SINTER', batch .. ':lines', batch .. ':left')) do
  line_end(base, KEYS[2], id, line_read(base, id), {billed = 'free'}, ARGV[2], '', '')
end
local ids = redis.call('SMEMBERS', batch .. ':lines')
for _, id in ipairs(ids) do
  local found = redis.call('HMGET', line_key(base, id), 'at', 'bytes')
  redis.call('HDEL', line_key(base, id), 'batch')
  redis.call('ZADD', base .. ':pending', found[1], id)
  add_pending_bytes(base, found[2])
end
redis.call('DEL', batch, batch .. ':lines', batch .. ':left')
redis.call('ZREM', base .. ':open', ARGV[1])
return #ids`,
);

/**
 * Ends a line as the provider says: once, however often its result is read. Its job is woken afterwards (\`BASE:wake\`).
 *
 * KEYS: 1 base of the batches, 2 base of the spending keys. ARGV: 1 the line, 2 what it is billed (JSON), 3 how it ended (JSON),
 * 4 answer or '', 5 model that answered. Returns 1, or 0 if it has an end already.
 */
export const END_LINE = script(
  SHARED,
  LINES_LUA,
  `
local line = line_read(KEYS[1], ARGV[1])
if not line then return 0 end
line_end(KEYS[1], KEYS[2], ARGV[1], line, cjson.decode(ARGV[2]), ARGV[3], ARGV[4], ARGV[5])
redis.call('SADD', KEYS[1] .. ':wake', line.job)
return 1`,
);

/** Forgets a batch whose lines have all ended. KEYS: 1 base of the batches. ARGV: 1 name of the batch. */
export const FORGET_BATCH = script(`
local batch = KEYS[1] .. ':of:' .. ARGV[1]
if redis.call('SCARD', batch .. ':lines') > 0 then return 0 end
redis.call('DEL', batch, batch .. ':lines', batch .. ':left')
return redis.call('ZREM', KEYS[1] .. ':open', ARGV[1])`);
