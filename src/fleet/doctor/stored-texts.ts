import type { Job } from 'bullmq';
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { JobError } from '../../errors.js';
import { type SweepOptions, sweepPayloads } from '../../payloads/sweep-payloads.js';
import { referencesIn } from '../../payloads/text-reference.js';
import { readJob } from '../../queues/damaged-job.js';
import { payloadKey } from '../../queues/redis-keys.js';
import type { Problem } from './problem.js';

const PAGE = 200;

/** Stored texts that no job refers to. */
export async function findOrphanedTexts(
  client: Redis,
  prefix: string,
  options: SweepOptions,
): Promise<Problem[]> {
  const digests = await sweepPayloads(client, prefix, { ...options, dryRun: true });
  return digests.map((id) => ({ problem: 'orphaned-text', id, detail: 'no job refers to it any more' }));
}

const STATES: Parameters<Queue['getRanges']>[0] = [
  ...(['wait', 'active', 'prioritized', 'delayed', 'waiting-children', 'completed', 'failed'] as const),
];

/** A job, or the problem that it cannot be read. */
async function jobOrProblem(queue: Queue, id: string): Promise<Job | Problem | undefined> {
  try {
    return await readJob(queue, id);
  } catch (thrown) {
    if (!(thrown instanceof JobError)) throw thrown;
    return { problem: 'damaged', queue: queue.name, id, detail: thrown.message };
  }
}

/**
 * Jobs that refer to a text which is not stored, so they cannot run or their result cannot be read; and jobs that cannot
 * be read at all.
 */
export async function findMissingTexts(
  client: Redis,
  prefix: string,
  kinds: readonly string[],
): Promise<Problem[]> {
  const problems: Problem[] = [];
  const known = new Map<string, boolean>();
  const isStored = async (digest: string) => {
    const before = known.get(digest);
    if (before !== undefined) return before;
    const stored = (await client.exists(payloadKey(prefix, digest))) === 1;
    known.set(digest, stored);
    return stored;
  };
  for (const kind of kinds) {
    const queue = new Queue(kind, { connection: client, prefix, skipMetasUpdate: true });
    try {
      for (let start = 0; ; start += PAGE) {
        const ids = await queue.getRanges(STATES, start, start + PAGE - 1);
        for (const job of await Promise.all(ids.map((id) => jobOrProblem(queue, id)))) {
          if (job !== undefined && 'problem' in job) {
            problems.push(job);
            continue;
          }
          for (const digest of referencesIn([job?.data, job?.returnvalue])) {
            if (await isStored(digest)) continue;
            // Removed in the meantime, job and text.
            if ((await client.exists(queue.toKey(job?.id ?? ''))) === 0) continue;
            problems.push({
              problem: 'missing-text',
              queue: kind,
              id: job?.id ?? '',
              detail: `text ${digest.slice(0, 12)}… is not stored`,
            });
          }
        }
        if (ids.length === 0) break;
      }
    } finally {
      await queue.close();
    }
  }
  return problems;
}
