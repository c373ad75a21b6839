import { isDeepStrictEqual } from 'node:util';
import { type FleetError, JobError, toFleetError } from '../errors.js';
import { asRedisError } from '../queues/connection.js';
import type { KindName, PayloadOf } from '../queues/registry.js';
import { completePayload } from '../queues/validate.js';
import { type AddOptions, addJob, jobOptions, preparePayload, storedData } from './add-job.js';
import type { FleetConnection } from './fleet-connection.js';
import { JobHandle } from './job-handle.js';
import { chooseJobId } from './job-id.js';
import { indexRuns } from './run-index.js';
import { checkSubmission } from './submission-fields.js';
import { existingJob, type Submission } from './submit-once.js';
import { turnsOf } from './turns.js';

/** One job of a batch. */
export interface BatchItem<K extends KindName = KindName> {
  readonly kind: K;
  readonly payload: PayloadOf<K>;
  readonly options?: AddOptions;
}

/** What became of one job of a batch: it was submitted, or why it was not. */
export type BatchItemOutcome = { readonly handle: JobHandle } | { readonly error: FleetError };

type Prepared = Submission & {
  readonly kind: KindName;
  readonly options: AddOptions;
  readonly index: number;
};

/** Jobs that Redis takes at once, so that it answers others in between. */
const CHUNK = 1_000;

/**
 * Submits jobs of any kinds. Each stands for itself: one that is refused says why and does not keep the others back.
 * New jobs go to Redis together; those whose key names a job that is there are treated as `addJob` does.
 *
 * @returns the outcomes in the order of the items.
 * @throws RedisError where Redis went away; a batch with keys can be sent again as it is.
 */
export async function addJobs(
  fleet: FleetConnection,
  items: readonly BatchItem[],
): Promise<BatchItemOutcome[]> {
  const outcomes: BatchItemOutcome[] = [];
  const firstOfId = new Map<string, Prepared>();
  const repeated: Prepared[] = [];
  // Redis takes the last jobs while the next ones are made ready.
  let taking: Promise<void> = Promise.resolve();
  for (let start = 0; start < items.length; start += CHUNK) {
    const jobs: Prepared[] = [];
    for (const [offset, item] of items.slice(start, start + CHUNK).entries()) {
      const index = start + offset;
      try {
        const job = prepare(fleet, item, index);
        const first = firstOfId.get(job.id);
        if (first === undefined) {
          firstOfId.set(job.id, job);
          jobs.push(job);
        } else if (isDeepStrictEqual(first.data, job.data)) repeated.push(job);
        else
          throw new JobError('key-conflict', 'the batch has this key twice, with two payloads', {
            field: 'key',
          });
      } catch (thrown) {
        outcomes[index] = { error: toFleetError(thrown) };
      }
    }
    const [ready] = await Promise.all([makeReady(fleet, jobs, outcomes), taking]);
    taking = add(fleet, ready, outcomes);
  }
  await taking;
  for (const job of repeated) {
    const outcome = outcomes[firstOfId.get(job.id)?.index ?? -1];
    outcomes[job.index] =
      outcome !== undefined && 'error' in outcome
        ? outcome
        : { handle: new JobHandle(fleet, job.kind, job.id) };
  }
  return outcomes;
}

function prepare(
  fleet: FleetConnection,
  { kind, payload, options = {} }: BatchItem,
  index: number,
): Prepared {
  checkSubmission(options);
  const data = completePayload(kind, preparePayload(fleet, kind, payload), []);
  return { kind, queue: kind, id: chooseJobId(kind, options.key), data, options, index };
}

/** A job that only has to be written, with its long texts stored. */
type Ready = Prepared & { readonly stored: Record<string, unknown> };

/** Deals with the jobs whose keys name jobs that are there, and gives the others. */
async function makeReady(
  fleet: FleetConnection,
  jobs: readonly Prepared[],
  outcomes: BatchItemOutcome[],
): Promise<Ready[]> {
  const fresh: Prepared[] = [];
  await Promise.all(
    jobs.map(async (job) => {
      if (job.options.key === undefined) {
        fresh.push(job);
        return;
      }
      try {
        if ((await existingJob(fleet, job)) === undefined) fresh.push(job);
        else outcomes[job.index] = { handle: await addJob(fleet, job.kind, job.data as never, job.options) };
      } catch (thrown) {
        outcomes[job.index] = { error: refusalOf(thrown) };
      }
    }),
  );
  await indexRuns(
    fleet,
    fresh.map((job) => [job]),
  );
  const stored = await Promise.all(fresh.map((job) => storedData(fleet, job)));
  return fresh.map((job, at) => ({ ...job, stored: stored[at] ?? job.data }));
}

/** Turns are taken when the jobs before these wait: an urgent one then goes before those of its tenant that do not press. */
async function add(
  fleet: FleetConnection,
  ready: readonly Ready[],
  outcomes: BatchItemOutcome[],
): Promise<void> {
  const turns = await turnsOf(
    fleet,
    ready.map((job) => ({ ...job, ...job.options })),
  );
  const kinds = new Set(ready.map(({ kind }) => kind));
  await Promise.all(
    [...kinds].map((kind) =>
      fleet.queue(kind).addBulk(
        ready
          .filter((job) => job.kind === kind)
          .map(({ id, stored, options }) => ({
            name: kind,
            data: stored,
            opts: jobOptions(fleet, kind, id, options, turns.get(id)),
          })),
      ),
    ),
  );
  for (const { kind, id, index } of ready)
    outcomes[index] = { handle: new JobHandle(fleet, kind, id, 'created') };
}

/** The refusal of one job; what concerns them all is thrown. */
function refusalOf(thrown: unknown): FleetError {
  const typed = asRedisError(thrown);
  const error = toFleetError(typed);
  if (!(error instanceof JobError)) throw typed;
  return error;
}
