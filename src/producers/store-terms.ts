import { z } from 'zod';
import { brokenJob } from '../queues/damaged-job.js';
import { CANCELLED_FIELD } from '../queues/job-flags.js';
import { readRecord } from '../queues/read-record.js';
import type { Reuse } from '../queues/reuse.js';
import { runScript, script } from '../queues/run-script.js';
import type { FleetClient } from './fleet-client.js';

/** On what terms a job runs. */
export interface Terms {
  /** By when the result is needed (ISO 8601). */
  readonly deadline?: string | undefined;
  readonly budgetUsd?: number | undefined;
  readonly reuse?: Reuse | undefined;
  /** The job without a run that pays. */
  readonly budgetJob?: string;
}

/**
 * KEYS: 1 job hash, 2 failed jobs. ARGV: 1 job id, 2 the options as they were read, 3 the new ones. Returns 1 if they are
 * stored, 0 if the job has neither failed nor been cancelled, -1 if somebody else has changed the options.
 */
const REPLACE_OPTIONS = script(`
if not redis.call('ZSCORE', KEYS[2], ARGV[1]) and redis.call('HEXISTS', KEYS[1], '${CANCELLED_FIELD}') == 0 then return 0 end
if redis.call('HGET', KEYS[1], 'opts') ~= ARGV[2] then return -1 end
redis.call('HSET', KEYS[1], 'opts', ARGV[3])
return 1`);

const OptionsSchema = z.looseObject({ fleet: z.looseObject({}).optional().catch(undefined) });

/**
 * Gives a job that failed or was cancelled another budget, deadline and reuse, before it runs again. What it has spent stays on its
 * account. A job that somebody else has run again in the meantime keeps its own.
 * @param terms Without an amount, the job keeps its budget; without a deadline, its deadline; without a
 * reuse, its reuse.
 * @throws JobError `broken-record` if the job's options cannot be read.
 */
export async function storeTerms(
  fleet: FleetClient,
  queue: string,
  id: string,
  { budgetUsd, budgetJob, deadline, reuse }: Terms,
): Promise<void> {
  if (budgetUsd === undefined && deadline === undefined && reuse === undefined) return;
  const key = fleet.jobKey(queue, id);
  const changed = {
    ...(budgetUsd === undefined ? {} : { budgetUsd }),
    ...(budgetUsd === undefined || budgetJob === undefined ? {} : { budgetJob }),
    ...(deadline === undefined ? {} : { deadline }),
    ...(reuse === undefined ? {} : { reuse }),
  };
  let outcome: unknown = -1;
  // Another submission has stored its budget in the meantime: each repetition follows from the success of another.
  while (outcome === -1) {
    const text = await fleet.client.hget(key, 'opts');
    if (text === null) return;
    const reading = readRecord(OptionsSchema, text);
    if (reading?.value === undefined) throw brokenJob(id, 'its opts cannot be read');
    // Parsed and written here: Lua would make a list that is empty an object.
    const replaced = JSON.stringify({ ...reading.value, fleet: { ...reading.value.fleet, ...changed } });
    const keys = [key, fleet.queue(queue).toKey('failed')];
    outcome = await runScript(fleet.client, REPLACE_OPTIONS, keys, [id, text, replaced]);
  }
}
