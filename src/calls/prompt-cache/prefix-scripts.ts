import { script } from '../../queues/run-script.js';

/**
 * The order of calls whose prompts have the same cacheable prefix, as a Lua function that the admission of a call uses. The state
 * of a prefix is one string:
 * - absent: nobody has sent the prefix lately, so the next call goes first;
 * - `ATTEMPT NUMBER`: this call was sent first and its answer has not begun; its worker renews it every one or two seconds;
 * - `cached`: an answer to the prefix has begun, so the provider has it in its cache; it expires with the cache entry;
 * - `uncached`: an answer has begun and said that the provider does not cache this prefix, so no call waits for it.
 */
export const PREFIX_LUA = `
local PREFIX_LEASE, MIN_LOOK, MAX_LOOK = 5000, 20, 250

-- In how many ms a call looks again whether its prefix is cached (nil: it goes now); whether it would be the first of its prefix.
-- A call that has waited long enough goes as if it were the first.
local function prefix_check(key, job, field, since, now, max_wait)
  local state = redis.call('GET', key)
  if state == 'cached' or state == 'uncached' then return nil, false end
  if not state then return nil, true end
  if not since then redis.call('HSET', job, field, string.format('%.0f', now)) end
  local waited = now - (tonumber(since or '') or now)
  if waited < 0 or waited >= max_wait then return nil, true end
  return math.min(math.max(math.ceil(waited / 2), MIN_LOOK), MAX_LOOK, max_wait - waited), false
end

local function prefix_lead(key, call)
  redis.call('SET', key, call, 'PX', PREFIX_LEASE)
end
`;

/**
 * Renews the lease of the first call of a prefix, for a worker that is alive and waits for its answer.
 *
 * KEYS: 1 state of the prefix. ARGV: 1 the call, as the state names it. Returns 1, or 0 if it is the first no more.
 */
export const RENEW_PREFIX = script(
  PREFIX_LUA,
  `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], PREFIX_LEASE)`,
);

/**
 * The first call of a prefix has ended without an answer: another one goes first.
 *
 * KEYS: 1 state of the prefix. ARGV: 1 the call, as the state names it. Returns 1, or 0 if it was the first no more.
 */
export const RELEASE_PREFIX = script(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`);
