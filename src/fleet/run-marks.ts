import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { virtualTimeKey } from '../queues/fairness/take-turns.js';
import { advanceLua } from '../queues/fairness/turn-script.js';
import { parseJobKey } from '../queues/job-key.js';
import { replyList, replyText, runScript, script } from '../queues/run-script.js';

/*
 * Marks in a job's hash that tell a worker's death from everything else that makes a job start anew:
 * `fleet:run` is the run of the job that was begun last: an id, `@`, and how often the job had been taken over from
 * workers that no longer held it (BullMQ's own count). A run that is followed by another one without a takeover in
 * between has ended in order, so that no run need take its mark away.
 * `fleet:deaths` are the runs that ended in no order, separated by spaces.
 */

/**
 * Begins a run. A run before it from which the job was taken over has died. A job with deaths behind it is not marked yet:
 * until it is its turn to be processed (`markRun`) it can kill nobody. The queue's virtual time follows the job.
 * KEYS: 1 job hash, 2 job lock, 3 virtual time of the queue. ARGV: 1 lock token, 2 run.
 * Returns {1 held or 0 lost, 1 cancelled or 0, deaths, 1 where the job has a ledger or 0}.
 */
const BEGIN = script(
  `
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return {0, 0, '', 0} end
local marks = redis.call('HMGET', KEYS[1], 'fleet:run', 'fleet:deaths', 'fleet:cancelled', 'fleet:ledger')
local before, deaths = marks[1], marks[2] or ''
local function takeovers(run) return tonumber(string.match(run, '@(%d+)$') or '-1') end
if before and takeovers(before) < takeovers(ARGV[2]) then
  deaths = deaths == '' and before or deaths .. ' ' .. before
  redis.call('HSET', KEYS[1], 'fleet:deaths', deaths)
end
if deaths == '' then redis.call('HSET', KEYS[1], 'fleet:run', ARGV[2])
elseif before then redis.call('HDEL', KEYS[1], 'fleet:run') end`,
  advanceLua(1, 3),
  `return {1, marks[3] and 1 or 0, deaths, marks[4] and 1 or 0}`,
);

/**
 * Says of a run that it is no death, whatever becomes of its worker, also where it was counted as one.
 * KEYS: 1 job hash. ARGV: 1 run, 2 '1' where all deaths are forgotten. Returns how many deaths are left.
 */
const END = script(`
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
redis.call('HSET', KEYS[1], 'fleet:run', ARGV[2])
return 1`);

export interface BegunRun {
  readonly run: string;
  /** Whether this worker still holds the job. */
  readonly held: boolean;
  readonly cancelled: boolean;
  /** How many workers died in runs of this job. */
  readonly deaths: number;
  /** Whether agent calls of earlier runs are written on the job. */
  readonly hasLedger: boolean;
}

/** @param takeovers how often the job was taken over from a worker that no longer held it */
export async function beginRun(
  client: Redis,
  jobKey: string,
  token: string,
  takeovers: number,
): Promise<BegunRun> {
  const run = `${randomUUID()}@${takeovers}`;
  const { prefix, queue } = parseJobKey(jobKey);
  const keys = [jobKey, `${jobKey}:lock`, virtualTimeKey(prefix, queue)];
  const [held, cancelled, deaths, ledger] = replyList(await runScript(client, BEGIN, keys, [token, run]));
  const names = replyText(deaths) ?? '';
  return {
    run,
    held: held === 1,
    cancelled: cancelled === 1,
    deaths: names === '' ? 0 : names.split(' ').length,
    hasLedger: ledger === 1,
  };
}

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
