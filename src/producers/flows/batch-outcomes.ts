import type { Job } from 'bullmq';
import { mapInChunks } from '../../event-loop.js';
import { failureOf } from '../../queues/child-failure.js';
import { childValue, childValues } from '../../queues/child-values.js';
import type { JobFailure } from '../../queues/failure.js';
import { readJobFlags } from '../../queues/job-flags.js';
import { parseJobKey } from '../../queues/job-key.js';
import type { FleetClient } from '../fleet-client.js';
import { CANCELLED } from '../job-view.js';

/** The outcome of one candidate, for the job after the batch. */
export type BatchOutcome =
  | { readonly evaluation: string; readonly state: 'evaluated'; readonly result: unknown }
  | { readonly evaluation: string; readonly state: 'failed'; readonly error: JobFailure };

/** The same for a program that reads them in one answer: results that have no room there are left out. */
export type BoundedOutcome =
  | BatchOutcome
  | { readonly evaluation: string; readonly state: 'evaluated'; readonly resultLeftOut: true };

/** Maximum size of the results in one answer, in bytes as JSON. */
const MAX_RESULT_BYTES = 8 * 2 ** 20;
/** Results that one command reads. */
const PAGE = 100;

/**
 * For the job after a batch: the outcome of every candidate, in no particular order. A candidate whose check failed
 * has that check's failure.
 */
export async function batchOutcomes(fleet: FleetClient, job: Job): Promise<BatchOutcome[]> {
  const [results, failed] = await Promise.all([childValues(job), failedOutcomes(fleet, job)]);
  const evaluated = Object.entries(results).map(
    ([key, result]): BatchOutcome => ({ evaluation: parseJobKey(key).id, state: 'evaluated', result }),
  );
  return [...evaluated, ...failed];
}

/**
 * The outcomes of a batch for one answer.
 * @param maxBytes Maximum size of all results together; those after it are left out.
 * @throws JobError `broken-record` if a stored result is damaged.
 */
export async function boundedOutcomes(
  fleet: FleetClient,
  job: Job,
  maxBytes = MAX_RESULT_BYTES,
): Promise<BoundedOutcome[]> {
  const processed = `${fleet.jobKey(job.queueName, job.id ?? '')}:processed`;
  const keys = (await fleet.client.hkeys(processed)).sort();
  const outcomes: BoundedOutcome[] = [];
  let room = maxBytes;
  for (let start = 0; start < keys.length; start += PAGE) {
    const page = keys.slice(start, start + PAGE);
    const sizes = await mapInChunks(page, (key) => fleet.client.hstrlen(processed, key));
    const read = page.map((_, at) => {
      const fits = (sizes[at] ?? 0) <= room;
      if (fits) room -= sizes[at] ?? 0;
      return fits;
    });
    const results = await mapInChunks(page, async (key, at) =>
      read[at]
        ? { result: await childValue(fleet.client, processed, key) }
        : { resultLeftOut: true as const },
    );
    for (const [at, key] of page.entries()) {
      const { id } = parseJobKey(key);
      outcomes.push({ evaluation: id, state: 'evaluated', ...(results[at] ?? { resultLeftOut: true }) });
    }
  }
  return [...outcomes, ...(await failedOutcomes(fleet, job))];
}

async function failedOutcomes(fleet: FleetClient, job: Job): Promise<BatchOutcome[]> {
  const failures = Object.entries(await job.getIgnoredChildrenFailures());
  return mapInChunks(failures, async ([key, reason]): Promise<BatchOutcome> => {
    // The reason of a cancelled evaluation is its cancelled check; its own view says that it was cancelled.
    const { cancelled } = await readJobFlags(fleet.client, key);
    const error = cancelled ? CANCELLED : await failureOf(fleet.client, key, reason);
    return { evaluation: parseJobKey(key).id, state: 'failed', error };
  });
}
