import type { FleetClient } from '../../producers/fleet-client.js';
import { runScript, script } from '../../queues/run-script.js';

/** How many failed jobs one script reads, so that Redis serves other clients in between. */
const PAGE = 1_000;
/** How many failed jobs are read in all; the newest ones. */
const MOST = 20_000;

/**
 * KEYS: 1 failed jobs. ARGV: 1 beginning of the keys of jobs, 2-3 first and last index from the newest, 4 flag of a cancelled
 * job. Returns how many were read, and how many of them were not cancelled.
 */
const COUNT = script(`
local ids = redis.call('ZREVRANGE', KEYS[1], ARGV[2], ARGV[3])
local dead = 0
for _, id in ipairs(ids) do
  -- A key of another type than a job's is no dead letter: this is an error then, and no number.
  if redis.pcall('HEXISTS', ARGV[1] .. id, ARGV[4]) == 0 then dead = dead + 1 end
end
return {#ids, dead}`);

/** Jobs of a kind that failed for good and were not cancelled, of its 20,000 newest failed ones. */
export async function countDeadLetters(fleet: FleetClient, kind: string): Promise<number> {
  const queue = fleet.queue(kind);
  let dead = 0;
  for (let start = 0; start < MOST; start += PAGE) {
    const args = [queue.toKey(''), start, start + PAGE - 1, 'fleet:cancelled'];
    const [seen, counted] = (await runScript(fleet.client, COUNT, [queue.toKey('failed')], args)) as number[];
    dead += counted ?? 0;
    if ((seen ?? 0) < PAGE) break;
  }
  return dead;
}
