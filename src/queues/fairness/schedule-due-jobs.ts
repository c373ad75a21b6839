import type { Redis } from 'ioredis';
import { z } from 'zod';
import { readRecord } from '../read-record.js';
import { fairBase } from '../redis-keys.js';
import { replyList, replyText, runScript, script } from '../run-script.js';
import { type SchedulingRequest, scheduleJobs } from './schedule-jobs.js';
import { DEFAULT_PRIORITY, UNSCHEDULED } from './schedule-script.js';

/** How far ahead delayed jobs are scheduled, in milliseconds: longer than the time between two runs. */
const AHEAD_MS = 2_000;
/** Jobs that one script checks, so Redis serves other clients in between, and scripts in one run. */
const PAGE = 500;
const MAX_PAGES = 20;
/** BullMQ's scores of delayed jobs are milliseconds times this, those of prioritized ones priorities times that. */
const DELAYED_SCALE = 0x1000;
const PRIORITY_SCALE = 2 ** 32;

/**
 * Finds unscheduled jobs that wait, or are about to become due.
 * KEYS: 1 prefix of the queue's keys. ARGV: 1 highest score of delayed jobs, 2 jobs to skip of these, 3 maximum number of jobs.
 * Returns 1 if there may be more, otherwise 0, then id and options of each.
 */
const FIND = script(`
local found = {0}
local function collect(ids)
  if #ids == tonumber(ARGV[3]) then found[1] = 1 end
  for _, id in ipairs(ids) do
    local fields = redis.call('HMGET', KEYS[1] .. id, 'priority', 'opts')
    if tonumber(fields[1] or '') == ${UNSCHEDULED} then
      found[#found + 1] = id
      found[#found + 1] = fields[2] or '{}'
    end
  end
end
-- Scheduled jobs leave this range, and stay in the other one.
collect(redis.call('ZRANGEBYSCORE', KEYS[1] .. 'prioritized', '${UNSCHEDULED * PRIORITY_SCALE}', '+inf', 'LIMIT', 0, ARGV[3]))
collect(redis.call('ZRANGEBYSCORE', KEYS[1] .. 'delayed', '-inf', ARGV[1], 'LIMIT', ARGV[2], ARGV[3]))
return found`);

/** The options of a job that are needed to schedule it. */
const OptionsSchema = z.looseObject({
  fleet: z
    .looseObject({
      tenant: z.string().optional(),
      submitter: z.string().optional(),
      priority: z.number().int().nonnegative().optional(),
      tags: z.record(z.string(), z.string()).nullish(),
    })
    .optional(),
});

function requestOf(id: string, options: string): SchedulingRequest {
  const fleetOptions = readRecord(OptionsSchema, options)?.value?.fleet;
  return {
    id,
    tenant: fleetOptions?.tenant ?? fleetOptions?.tags?.run ?? '',
    submitter: fleetOptions?.submitter ?? '',
    priority: fleetOptions?.priority ?? DEFAULT_PRIORITY,
  };
}

/**
 * Gives unscheduled jobs of one queue their start tags: delayed ones as they become due, and waiting ones whose producer
 * ended between adding and scheduling them. With tags from their submission, thousands of jobs that become due together
 * would all run before the jobs of others.
 * @param leaseMs How long other workers skip this.
 * @returns how many jobs were found.
 */
export async function scheduleDueJobs(
  client: Redis,
  prefix: string,
  queue: string,
  leaseMs: number,
): Promise<number> {
  const lease = await client.set(`${fairBase(prefix, queue)}:due`, '1', 'PX', leaseMs, 'NX');
  if (lease === null) return 0;
  const until = (Date.now() + AHEAD_MS) * DELAYED_SCALE;
  let scheduled = 0;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const args = [until, page * PAGE, PAGE];
    const [mayHaveMore, ...found] = replyList(await runScript(client, FIND, [`${prefix}:${queue}:`], args));
    const requests: SchedulingRequest[] = [];
    for (let at = 0; at < found.length; at += 2) {
      requests.push(requestOf(replyText(found[at]) ?? '', replyText(found[at + 1]) ?? ''));
    }
    await scheduleJobs(client, prefix, queue, requests);
    scheduled += requests.length;
    if (mayHaveMore !== 1) break;
  }
  return scheduled;
}
