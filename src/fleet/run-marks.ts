import type { Redis } from 'ioredis';
import { runScript, script } from '../queues/run-script.js';

/*
 * Marks in a job's hash that tell a worker's death from everything else that makes a job start anew:
 * `fleet:run` is the run of the job that was begun last: an id, `@`, and how often the job had been taken over from
 * workers that no longer held it (BullMQ's own count). A run that is followed by another one without a takeover in
 * between has ended in order, so that no run need take its mark away.
 * `fleet:deaths` are the runs that ended in no order, separated by spaces.
 */

/**
 * Says of a run that it is no death, whatever becomes of its worker, also where it was counted as one.
 * KEYS: 1 job hash. ARGV: 1 run, 2 '1' where all deaths are forgotten. Returns how many deaths are left.
 */
const END = script(`
-- The first write decides whether a full Redis takes a script; this one asks for no memory.
redis.call('HDEL', KEYS[1], '')
if redis.call('HGET', KEYS[1], 'fleet:run') == ARGV[1] then redis.call('HDEL', KEYS[1], 'fleet:run') end
local left = {}
if ARGV[2] ~= '1' then
  for run in string.gmatch(redis.call('HGET', KEYS[1], 'fleet:deaths') or '', '%S+') do
    if run ~= ARGV[1] then left[#left + 1] = run end
  end
end
if #left == 0 then redis.call('HDEL', KEYS[1], 'fleet:deaths')
else redis.call('HSET', KEYS[1], 'fleet:deaths', table.concat(left, ' ')) end
return #left`);

/**
 * Marks a run of a job with deaths behind it. KEYS: 1 job hash, 2 job lock. ARGV: 1 lock token, 2 run.
 * Returns 1, or 0 where the job is lost.
 */
const MARK = script(`
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
redis.call('HDEL', KEYS[1], '')
redis.call('HSET', KEYS[1], 'fleet:run', ARGV[2])
return 1`);

/** The worker of the run stops in order, or turned out to live: the run is no death. */
export async function forgiveRun(client: Redis, jobKey: string, run: string): Promise<void> {
  await runScript(client, END, [jobKey], [run, '']);
}

/**
 * From here on the death of its worker is a death in this run of a job with deaths behind it.
 * @returns false where another worker holds the job
 */
export async function markRun(client: Redis, jobKey: string, token: string, run: string): Promise<boolean> {
  return (await runScript(client, MARK, [jobKey, `${jobKey}:lock`], [token, run])) === 1;
}

/** A person or a final failure has drawn the consequence: the next run starts with a clean sheet. */
export async function forgetDeaths(client: Redis, jobKey: string, run: string): Promise<void> {
  await runScript(client, END, [jobKey], [run, '1']);
}

/** BullMQ's field for how often a job was taken over; it keeps it when a failed job is run again. */
const TAKEOVERS = 'stc';

/** A job was ended since it had been taken over too often: if a person runs it again, it starts with a clean sheet. */
export async function forgetTakeovers(client: Redis, jobKey: string): Promise<void> {
  await client.hdel(jobKey, TAKEOVERS, 'fleet:deaths', 'fleet:run');
}
