/**
 * The ledger of a job, as Lua functions that the scripts of `call-scripts.ts` begin with. Its fields are described in
 * `src/queues/call-record.ts`. `by` is the id of the attempt that sent a call: the job's lock token, `#`, a nonce.
 */
export const LEDGER_LUA = `
local LEDGER = 'fleet:ledger'

-- Records that a call is in doubt. Returns whether it had no end yet.
local function ledger_mark_in_doubt(job, number, by, now)
  local field = LEDGER .. ':' .. number
  if redis.call('HGET', job, field .. ':by') ~= by then return false end
  redis.call('HDEL', job, field .. ':by')
  redis.call('HSET', job, field .. ':end', '{"state":"in-doubt","at":' .. string.format('%.0f', now) .. '}')
  return true
end

-- The last number of a ledger; what was last sent under this number, and by which attempt; since when the job is throttled.
local function ledger_read(job, number)
  local field = LEDGER .. ':' .. number
  local found = redis.call('HMGET', job, LEDGER, field, field .. ':by', 'fleet:throttledSince')
  return {last = tonumber(found[1] or '') or 0, content = found[2], by = found[3], throttled_since = found[4]}
end

local function ledger_sent(job, number, content, by, before)
  local field = LEDGER .. ':' .. number
  if before.last < number then
    redis.call('HSET', job, field, content, field .. ':by', by, LEDGER, number)
  else
    redis.call('HSET', job, field, content, field .. ':by', by)
  end
  if before.content then redis.call('HDEL', job, field .. ':end', field .. ':answer') end
end
`;
