import { RedisError, RequestError } from '../../errors.js';
import type { FleetClient } from '../../producers/fleet-client.js';
import { type QueueSample, sampleJobs } from '../../producers/sample-jobs.js';
import { rememberedQueues } from '../../queues/pipeline-queues.js';
import { sharedReading } from '../http/shared-reading.js';

/** How many jobs are read; if more wait, the parts of submitters are estimated from these. */
const SAMPLED_JOBS = 2_000;
/** How many jobs are read in each pipeline queue, at least. */
const MIN_SAMPLED_JOBS = 20;
/** How long the samples of pipeline queues (up to a thousand) are used, in milliseconds. */
const PIPELINE_SAMPLE_MS = 5_000;
/** How long a sample and the number of submitters are used, in milliseconds. */
const SAMPLE_MS = 1_000;

interface Sample extends QueueSample {
  /** Jobs that were admitted since, by submitter. */
  readonly since: Map<string, number>;
}

/**
 * Keeps one submitter from taking all the room: the jobs that it has waiting may be at most as many as could still be added,
 * and the same for their bytes. The second submitter then gets half of the rest, and so on, so that there is always room for
 * another. A single submitter may have everything.
 */
export class SubmitterQuota {
  readonly #fleet: FleetClient;
  readonly #submitterCount: () => Promise<number>;
  readonly #samples = new Map<string, (fleet: FleetClient) => Promise<Sample>>();
  readonly #pipelineQueueBytes = sharedReading(PIPELINE_SAMPLE_MS, bytesInPipelineQueues);

  /** @param submitters how many there may be: tokens, those of one tenant as one */
  constructor(fleet: FleetClient, submitters: () => Promise<number>) {
    this.#fleet = fleet;
    const count = sharedReading(SAMPLE_MS, submitters);
    this.#submitterCount = () => count(undefined);
  }

  /**
   * @param free how many jobs of `limit` could be added before these
   * @throws RequestError `too-many-waiting`, RedisError `redis-full`.
   */
  async take(kind: string, submitter: string, count: number, free: number, limit: number): Promise<void> {
    // A submitter with no more than half of the limit leaves as much free.
    const isScarce = free - count < limit / 2;
    const room = await this.#fleet.memory.scarceRoom();
    if ((!isScarce && room === undefined) || (await this.#submitterCount()) < 2) return;
    if (isScarce) {
      const sample = await this.#sample(kind);
      const own = (sample.bySubmitter.get(submitter)?.jobs ?? 0) + (sample.since.get(submitter) ?? 0);
      if (own + count > free - count) {
        throw new RequestError(
          'too-many-waiting',
          `${own} ${kind} jobs of this token wait, and ${Math.max(0, free)} of ${limit} may still be added; a token may have as many as it leaves to others`,
        );
      }
      sample.since.set(submitter, (sample.since.get(submitter) ?? 0) + count);
    }
    if (room === undefined) return;
    let bytes = 0;
    for (const each of this.#fleet.kinds.names)
      bytes += (await this.#sample(each)).bySubmitter.get(submitter)?.bytes ?? 0;
    bytes += (await this.#pipelineQueueBytes(this.#fleet)).get(submitter) ?? 0;
    if (bytes > room) {
      throw new RedisError(
        'redis-full',
        `${bytes} bytes of this token's jobs wait, and ${Math.round(room)} are free; a token may have as many as it leaves to others`,
      );
    }
  }

  #sample(kind: string): Promise<Sample> {
    const read = this.#samples.get(kind) ?? sharedReading(SAMPLE_MS, sampleOf(kind));
    this.#samples.set(kind, read);
    return read(this.#fleet);
  }
}

function sampleOf(kind: string): (fleet: FleetClient) => Promise<Sample> {
  return async ({ client, prefix }) => {
    const sample = await sampleJobs(client, `${prefix}:${kind}:`, SAMPLED_JOBS);
    return { ...sample, since: new Map() };
  };
}

/** Bytes of the jobs that wait in pipeline queues, by submitter. */
async function bytesInPipelineQueues({ client, prefix }: FleetClient): Promise<ReadonlyMap<string, number>> {
  const queues = await rememberedQueues(client, prefix);
  const most = Math.max(MIN_SAMPLED_JOBS, Math.floor(SAMPLED_JOBS / Math.max(1, queues.length)));
  const bytes = new Map<string, number>();
  // One after the other, so that Redis serves other clients in between.
  for (const queue of queues) {
    const { bySubmitter } = await sampleJobs(client, `${prefix}:${queue}:`, most, true);
    for (const [submitter, load] of bySubmitter) {
      bytes.set(submitter, (bytes.get(submitter) ?? 0) + load.bytes);
    }
  }
  return bytes;
}
