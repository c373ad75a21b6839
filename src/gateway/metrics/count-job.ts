import type { FleetClient } from '../../producers/fleet-client.js';
import { type EndedJob, totalsOf } from './ended-job.js';
import { GROUP, KEPT_DURATIONS, MINUTE_TTL, minuteOf, statisticsKeys } from './statistics-keys.js';

/**
 * Counts one ended job, once: the gateway that acknowledges its event first adds it.
 * KEYS: 1 event stream, 2 totals, 3 minute, 4 durations.
 * ARGV: 1 group, 2 event, 3 outcome, 4 duration in ms or '', 5 lifetime of the minute in seconds, 6 kept durations, then
 * pairs of a field of the totals and what is added.
 * Returns 1 if it was counted, 0 if it had been counted before.
 */
const COUNT_JOB = `
if redis.call('XACK', KEYS[1], ARGV[1], ARGV[2]) == 0 then return 0 end
for i = 7, #ARGV, 2 do redis.call('HINCRBYFLOAT', KEYS[2], ARGV[i], ARGV[i + 1]) end
redis.call('HINCRBY', KEYS[3], ARGV[3], 1)
redis.call('EXPIRE', KEYS[3], ARGV[5])
if ARGV[4] ~= '' then
  redis.call('LPUSH', KEYS[4], ARGV[4])
  redis.call('LTRIM', KEYS[4], 0, ARGV[6] - 1)
end
return 1`;

/**
 * Adds an ended job to the statistics, unless its event was acknowledged before: two gateways may hold the same event if one
 * was so slow that the other took it over.
 *
 * @returns whether it was counted.
 */
export async function countJob(fleet: FleetClient, eventId: string, job: EndedJob): Promise<boolean> {
  const { kind, endedAt, durationMs } = job;
  const keys = statisticsKeys(fleet.prefix);
  const counted = await fleet.client.eval(
    COUNT_JOB,
    4,
    fleet.queue(kind).toKey('events'),
    keys.totals,
    keys.minute(kind, minuteOf(endedAt)),
    keys.durations(kind),
    GROUP,
    eventId,
    job.outcome,
    durationMs ?? '',
    MINUTE_TTL,
    KEPT_DURATIONS,
    ...totalsOf(job).flat(),
  );
  return counted === 1;
}
