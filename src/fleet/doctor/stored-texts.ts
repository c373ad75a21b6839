import type { Job } from 'bullmq';
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { payloadKey } from '../../payloads/payload-keys.js';
import { type SweepOptions, sweepPayloads } from '../../payloads/sweep-payloads.js';
import { referencesIn } from '../../payloads/text-reference.js';
import { KIND_NAMES } from '../../queues/registry.js';
import type { Problem } from './problem.js';

const PAGE = 200;

/** Stored texts that no job names. */
export async function findOrphanedTexts(
  client: Redis,
  prefix: string,
  options: SweepOptions,
): Promise<Problem[]> {
  const digests = await sweepPayloads(client, prefix, { ...options, dryRun: true });
  return digests.map((id) => ({ problem: 'orphaned-text', id, detail: 'no job names it any more' }));
}

/** Jobs that name a text which is not stored: they cannot run, and their result cannot be read. */
export async function findMissingTexts(client: Redis, prefix: string): Promise<Problem[]> {
  const problems: Problem[] = [];
  const known = new Map<string, boolean>();
  const isStored = async (digest: string) => {
    const before = known.get(digest);
    if (before !== undefined) return before;
    const stored = (await client.exists(payloadKey(prefix, digest))) === 1;
    known.set(digest, stored);
    return stored;
  };
  for (const kind of KIND_NAMES) {
    const queue = new Queue(kind, { connection: client, prefix, skipMetasUpdate: true });
    try {
      for (let start = 0; ; start += PAGE) {
        const jobs: (Job | undefined)[] = await queue.getJobs(undefined, start, start + PAGE - 1);
        for (const job of jobs) {
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
        if (jobs.length === 0) break;
      }
    } finally {
      await queue.close();
    }
  }
  return problems;
}
