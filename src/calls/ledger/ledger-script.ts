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
  redis.call('HSET', job, field .. ':end', '{"state":"unknown","at":' .. string.format('%.0f', now) .. '}')
  return true
end

local function ledger_sent(job, number, content, by)
  local field = LEDGER .. ':' .. number
  redis.call('HSET', job, field, content, field .. ':by', by)
  redis.call('HDEL', job, field .. ':end', field .. ':answer')
  if tonumber(redis.call('HGET', job, LEDGER) or '0') < tonumber(number) then redis.call('HSET', job, LEDGER, number) end
end

-- Whether this call was already written: a command can arrive twice when a connection breaks.
local function ledger_has_sent(job, number, content, by)
  local field = LEDGER .. ':' .. number
  return redis.call('HGET', job, field .. ':by') == by and redis.call('HGET', job, field) == content
end

local function ledger_ended(job, number, ending, answer)
  local field = LEDGER .. ':' .. number
  redis.call('HDEL', job, field .. ':by')
  redis.call('HSET', job, field .. ':end', ending)
  if answer ~= '' then redis.call('HSET', job, field .. ':answer', answer) end
end
`;
