/**
 * The ledger of a job, as Lua functions that the scripts of `call-scripts.ts` begin with. Its fields are described in
 * `src/queues/call-record.ts`. `by` is the run of a job that sent a call: the job's lock token, `#`, a nonce.
 */
export const LEDGER_LUA = `
local LEDGER = 'fleet:ledger'

-- Nobody will ever know how a call ended. Returns whether it was still open.
local function ledger_forget(job, number, by, now)
  local field = LEDGER .. ':' .. number
  if redis.call('HGET', job, field .. ':by') ~= by then return false end
  redis.call('HDEL', job, field .. ':by')
  redis.call('HSET', job, field .. ':end', '{"state":"in-doubt","at":' .. string.format('%.0f', now) .. '}')
  return true
end

-- What a job says before a call leaves: its last number; what was last sent under this one, and by whom; since when it waits.
local function ledger_read(job, number)
  local field = LEDGER .. ':' .. number
  local found = redis.call('HMGET', job, LEDGER, field, field .. ':by', 'fleet:throttledSince')
  return {last = tonumber(found[1] or '') or 0, content = found[2], by = found[3], held = found[4]}
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
