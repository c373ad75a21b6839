import { isDeepStrictEqual } from 'node:util';
import { type FleetError, JobError, PayloadError, RedisError, toFleetError } from '../errors.js';
import { mapInChunks, yieldWhenBusy } from '../event-loop.js';
import { type OptionNames, rejectUnknownOptions } from '../known-options.js';
import { asRedisError } from '../queues/redis-refusal.js';
import { type KindRef, kindNameOf, type PayloadInputOf } from '../queues/registry.js';
import { addJob, prepareData } from './add-job.js';
import type { AddOptions } from './add-options.js';
import type { FleetClient } from './fleet-client.js';
import { JobHandle } from './job-handle.js';
import { chooseJobId } from './job-id.js';
import { jobOptions, separateBytes, storedData } from './job-options.js';
import { withTags } from './job-tags.js';
import { indexRuns } from './run-index.js';
import { scheduleSubmitted } from './schedule-submitted.js';
import { checkSubmission } from './submission-fields.js';
import { existingJob, type Submission } from './submit-once.js';

/** One job of a batch. */
export interface BatchItem<K extends KindRef = KindRef> {
  readonly kind: K;
  readonly payload: PayloadInputOf<K>;
  readonly options?: AddOptions;
}

/** The outcome of one job of a batch: its handle, or why it was not submitted. */
export type BatchItemOutcome = { readonly handle: JobHandle } | { readonly error: FleetError };

type Prepared = Submission & {
  readonly kind: string;
  readonly options: AddOptions;
  readonly index: number;
};

/** A job that is ready to be added: its long texts are stored. */
interface Ready {
  readonly job: Prepared;
  readonly stored: Record<string, unknown>;
}

/** Jobs that are added at once; Redis serves other clients between two chunks. */
const CHUNK = 1_000;

/**
 * Submits jobs of any kinds. Each is independent: a rejected job has an error as its outcome, and the others are added.
 * New jobs are added in bulk; a job whose key names an existing job is treated as in `addJob`.
 *
 * @returns the outcomes in the order of the items.
 * @throws RedisError if Redis became unreachable; a batch with keys can be submitted again unchanged.
 */
export async function addJobs(fleet: FleetClient, items: readonly BatchItem[]): Promise<BatchItemOutcome[]> {
  if (!Array.isArray(items)) {
    throw new PayloadError('invalid-payload', 'items: must be a list of jobs', { field: 'items' });
  }
  return new Batch(fleet, items).submit();
}

class Batch {
  readonly #fleet: FleetClient;
  readonly #items: readonly BatchItem[];
  readonly #outcomes: BatchItemOutcome[] = [];
  readonly #firstOfId = new Map<string, Prepared>();
  readonly #repeated: Prepared[] = [];

  constructor(fleet: FleetClient, items: readonly BatchItem[]) {
    this.#fleet = fleet;
    this.#items = items;
  }

  async submit(): Promise<BatchItemOutcome[]> {
    const additions: Promise<void>[] = [];
    let coming = this.#makeReady(0);
    for (let start = 0; start < this.#items.length; start += CHUNK) {
      const ready = await coming;
      const next = start + CHUNK;
      // The next chunk is prepared while this one is added: its reads are sent before this chunk's writes.
      if (next < this.#items.length) coming = this.#makeReady(next);
      const addition = this.#add(ready);
      additions.push(addition);
      // It is awaited below, unless an earlier promise rejects first.
      addition.catch(() => undefined);
    }
    await Promise.all(additions);
    for (const job of this.#repeated) {
      const outcome = this.#outcomes[this.#firstOfId.get(job.id)?.index ?? -1];
      this.#outcomes[job.index] =
        outcome !== undefined && 'error' in outcome
          ? outcome
          : { handle: new JobHandle(this.#fleet, job.kind, job.id) };
    }
    return this.#outcomes;
  }

  /** Validates the jobs from `start` on, handles those whose keys name existing jobs, and returns the others. */
  async #makeReady(start: number): Promise<Ready[]> {
    const fleet = this.#fleet;
    const fresh = await this.#admitted(await this.#withoutExisting(await this.#prepareEach(start)));
    await indexRuns(
      fleet,
      fresh.map((job) => [job]),
    );
    const stored = new Map<string, Record<string, unknown>>();
    for (const job of fresh)
      if (fleet.payloads.hasLongText(job.data)) stored.set(job.id, await storedData(fleet, job));
    return fresh.map((job) => ({ job, stored: stored.get(job.id) ?? job.data }));
  }

  /** The jobs, or none if Redis has no room for them: then each of them has that error as its outcome. */
  async #admitted(jobs: readonly Prepared[]): Promise<readonly Prepared[]> {
    try {
      await this.#fleet.memory.admitJobs(jobs.map(({ data }) => data));
      return jobs;
    } catch (thrown) {
      if (!(thrown instanceof RedisError && thrown.code === 'redis-full')) throw thrown;
      for (const { index } of jobs) this.#outcomes[index] = { error: thrown };
      return [];
    }
  }

  async #prepareEach(start: number): Promise<Prepared[]> {
    const jobs: Prepared[] = [];
    for (const [offset, item] of this.#items.slice(start, start + CHUNK).entries()) {
      await yieldWhenBusy();
      const index = start + offset;
      try {
        const job = prepare(this.#fleet, item, index);
        const first = this.#firstOfId.get(job.id);
        if (first === undefined) {
          this.#firstOfId.set(job.id, job);
          jobs.push(job);
        } else if (isDeepStrictEqual(first.data, job.data)) this.#repeated.push(job);
        else
          throw new JobError('key-conflict', 'the batch has this key twice, with two payloads', {
            field: 'key',
          });
      } catch (thrown) {
        this.#outcomes[index] = { error: toFleetError(thrown) };
      }
    }
    return jobs;
  }

  async #withoutExisting(jobs: readonly Prepared[]): Promise<Prepared[]> {
    const fleet = this.#fleet;
    const fresh = jobs.filter(({ options }) => options.key === undefined);
    const keyed = jobs.filter(({ options }) => options.key !== undefined);
    await mapInChunks(keyed, async (job) => {
      try {
        if ((await existingJob(fleet, job)) === undefined) fresh.push(job);
        else
          this.#outcomes[job.index] = {
            handle: await addJob(fleet, job.kind, job.data, job.options),
          };
      } catch (thrown) {
        this.#outcomes[job.index] = { error: rejectionOf(thrown) };
      }
    });
    return fresh;
  }

  /** Another submission may have been first with a key: BullMQ then has that job, which must have the same payload. */
  async #verifyKeyed(ready: readonly Ready[]): Promise<void> {
    const fleet = this.#fleet;
    const keyed = ready.filter(({ job }) => job.options.key !== undefined);
    await mapInChunks(keyed, async ({ job, stored }) => {
      // Nearly all are the jobs that were just added: one short read shows it.
      const data = await fleet.client.hget(fleet.jobKey(job.queue, job.id), 'data');
      if (data === JSON.stringify(stored)) return;
      try {
        await existingJob(fleet, job);
      } catch (thrown) {
        this.#outcomes[job.index] = { error: rejectionOf(thrown) };
      }
    });
  }

  async #add(ready: readonly Ready[]): Promise<void> {
    const fleet = this.#fleet;
    const kinds = new Set(ready.map(({ job }) => job.kind));
    await Promise.all(
      [...kinds].map((kind) =>
        fleet
          .queue(kind)
          .addBulk(ready.filter(({ job }) => job.kind === kind).map((one) => bulkJob(fleet, kind, one))),
      ),
    );
    scheduleSubmitted(
      fleet,
      ready.map(({ job: { queue, id, data, options } }) => ({ queue, id, data, ...options })),
    );
    for (const { job } of ready)
      this.#outcomes[job.index] = { handle: new JobHandle(fleet, job.kind, job.id, 'created') };
    await this.#verifyKeyed(ready);
  }
}

/** A job in the form of `addBulk`. */
function bulkJob(fleet: FleetClient, kind: string, { job, stored }: Ready) {
  const { id, options, data } = job;
  const opts = withTags(jobOptions(fleet, kind, id, options, separateBytes(data, stored)), data);
  return { name: kind, data: stored, opts };
}

const ITEM_FIELDS: OptionNames<BatchItem> = { kind: true, payload: true, options: true };

function prepare(fleet: FleetClient, item: BatchItem, index: number): Prepared {
  rejectUnknownOptions(item, ITEM_FIELDS);
  const { kind, payload, options = {} } = item;
  checkSubmission(options);
  const name = kindNameOf(kind);
  const data = prepareData(fleet, name, payload);
  return { kind: name, queue: name, id: chooseJobId(name, options.key), data, options, index };
}

/** The error of one job; an error that concerns all jobs is thrown. */
function rejectionOf(thrown: unknown): FleetError {
  const typed = asRedisError(thrown);
  const error = toFleetError(typed);
  if (!(error instanceof JobError)) throw typed;
  return error;
}
