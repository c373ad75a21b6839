import type { Redis } from 'ioredis';
import { z } from 'zod';
import { JobError } from '../../errors.js';
import { JobFailureSchema } from '../failure.js';
import { readRecord } from '../read-record.js';
import { runScript, script } from '../run-script.js';

/**
 * Fields in the hash of a job with follow-ups, written together when the job has its result, before it waits for them.
 * `fleet:result` is the result (JSON); `fleet:followUps` is what became of each follow-up (JSON); `fleet:startedOn` and
 * `fleet:resultOn` are the times (ms since 1970) at which the attempt that has the result started and got it. BullMQ's
 * `processedOn` is later the time at which the job was taken again, to complete.
 */
export const RESULT_FIELD = 'fleet:result';
export const FOLLOW_UPS_FIELD = 'fleet:followUps';
export const STARTED_FIELD = 'fleet:startedOn';
export const RESULT_TIME_FIELD = 'fleet:resultOn';

/** What became of a follow-up: it was started and has an id, or was skipped, or could not be started. */
const FollowUpOutcomeSchema = z.object({
  name: z.string(),
  kind: z.string(),
  id: z.string().optional(),
  skipped: z.string().optional(),
  error: JobFailureSchema.optional(),
});
export type FollowUpOutcome = z.infer<typeof FollowUpOutcomeSchema>;
const OutcomesSchema = z.array(FollowUpOutcomeSchema);

/** The result of a job that waits for its follow-ups, in the form in which it is stored, and what became of those. */
export interface OwnResult {
  readonly result: unknown;
  readonly followUps: readonly FollowUpOutcome[];
}

/** KEYS: 1 job hash, 2 job lock. ARGV: 1 lock token, 2 result, 3 follow-ups, 4 time. Returns 1, or 0 if the lock is lost. */
const WRITE_RESULT = script(`
if redis.call('GET', KEYS[2]) ~= ARGV[1] or redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local started = redis.call('HGET', KEYS[1], 'processedOn') or ARGV[4]
redis.call('HSET', KEYS[1], '${RESULT_FIELD}', ARGV[2], '${FOLLOW_UPS_FIELD}', ARGV[3],
  '${STARTED_FIELD}', started, '${RESULT_TIME_FIELD}', ARGV[4])
return 1`);

/** @throws JobError `lock-lost` if another worker owns the job. */
export async function writeOwnResult(
  client: Redis,
  job: { readonly key: string; readonly token: string; readonly id: string },
  { result, followUps }: OwnResult,
): Promise<void> {
  const args = [job.token, JSON.stringify(result), JSON.stringify(followUps), Date.now()];
  if ((await runScript(client, WRITE_RESULT, [job.key, `${job.key}:lock`], args)) === 1) return;
  throw new JobError('lock-lost', 'another worker owns the job', { jobId: job.id });
}

/**
 * The result of a job that waits for its follow-ups, or waited for them; undefined if it has none yet.
 * @throws JobError `broken-record` if it cannot be read.
 */
export async function readOwnResult(client: Redis, jobKey: string): Promise<OwnResult | undefined> {
  const [text, outcomes] = await client.hmget(jobKey, RESULT_FIELD, FOLLOW_UPS_FIELD);
  const result = readRecord(z.unknown(), text);
  const followUps = readRecord(OutcomesSchema, outcomes);
  if (result === undefined || followUps === undefined) return undefined;
  const broken = result.broken ?? followUps.broken;
  if (followUps.value !== undefined && broken === undefined)
    return { result: result.value, followUps: followUps.value };
  const field = result.broken === undefined ? FOLLOW_UPS_FIELD : RESULT_FIELD;
  throw new JobError('broken-record', `${field} of ${jobKey} cannot be read: ${broken}`, { field });
}

/** What became of the follow-ups, from the text of its field; undefined if nothing is decided or it cannot be read. */
export function followUpOutcomes(text: string | null | undefined): readonly FollowUpOutcome[] | undefined {
  return readRecord(OutcomesSchema, text)?.value;
}
