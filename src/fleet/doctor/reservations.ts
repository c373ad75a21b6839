import type { Redis } from 'ioredis';
import { inFlightKey } from '../../queues/redis-keys.js';
import { replyList, replyText, runScript, script } from '../../queues/run-script.js';
import type { Problem } from './problem.js';

/** KEYS: 1 calls in flight. Returns those whose attempt no longer owns its job. */
const IDLE = script(`
local idle = {}
local all = redis.call('HGETALL', KEYS[1])
for at = 1, #all, 2 do
  local job = string.match(all[at], '^%d+ (.*)$')
  if redis.call('GET', job .. ':lock') ~= cjson.decode(all[at + 1]).token then idle[#idle + 1] = all[at] end
end
return idle`);

/** Reservations of calls that no attempt waits for any more. */
export async function findIdleReservations(client: Redis, prefix: string): Promise<Problem[]> {
  const found = replyList(await runScript(client, IDLE, [inFlightKey(prefix)], []));
  return found.map((entry) => {
    const [, number = '', id = ''] = /^(\d+) (.*)$/s.exec(replyText(entry) ?? '') ?? [];
    return { problem: 'idle-reservation', id, detail: `call ${number}: its worker is gone` };
  });
}
