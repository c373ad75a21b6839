import { type Job, Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { parseJobKey } from '../../queues/job-key.js';

/** A job that waits for a child job which no longer exists, so that nothing would ever let it go on. */
export interface OrphanedParent {
  readonly queue: string;
  readonly id: string;
  /** Keys of the children that are gone. */
  readonly missing: readonly string[];
}

/** How many keys one SCAN step may look at. */
const SCAN_STEP = 1_000;
/** How many waiting jobs are read at once. */
const PAGE = 500;

/** Names of all queues under a prefix that hold jobs waiting for children, the pipeline's own among them. */
async function queuesWithWaitingParents(client: Redis, prefix: string): Promise<string[]> {
  const suffix = ':waiting-children';
  const names = new Set<string>();
  // The prefix may hold characters that mean something in a pattern, as `{fleet}` does not but `[` would.
  const pattern = `${prefix.replace(/[\\*?[\]]/g, '\\$&')}:*${suffix}`;
  let cursor = '0';
  do {
    const [next, keys] = await client.scan(cursor, 'MATCH', pattern, 'COUNT', SCAN_STEP);
    for (const key of keys) names.add(key.slice(prefix.length + 1, -suffix.length));
    cursor = next;
  } while (cursor !== '0');
  return [...names].sort();
}

async function missingChildren(client: Redis, parentKey: string): Promise<string[]> {
  const children = await client.smembers(`${parentKey}:dependencies`);
  const present = await Promise.all(children.map((key) => client.exists(key)));
  return children.filter((_, index) => present[index] === 0);
}

/** Every job under the prefix that waits for a child which no longer exists. */
export async function findOrphanedParents(client: Redis, prefix: string): Promise<OrphanedParent[]> {
  const orphans: OrphanedParent[] = [];
  for (const queue of await queuesWithWaitingParents(client, prefix)) {
    for (let start = 0; ; start += PAGE) {
      const ids = await client.zrange(
        `${prefix}:${queue}:waiting-children`,
        String(start),
        String(start + PAGE - 1),
      );
      for (const id of ids) {
        const missing = await missingChildren(client, `${prefix}:${queue}:${id}`);
        if (missing.length > 0) orphans.push({ queue, id, missing });
      }
      if (ids.length < PAGE) break;
    }
  }
  return orphans;
}

/**
 * Frees a job from the children that are gone: each is put back as an empty job for a moment and then removed the
 * regular way, so that BullMQ's own scripts release the parent. The parent then runs, and fails where it needed the
 * child's result.
 */
export async function freeOrphanedParent(
  client: Redis,
  prefix: string,
  orphan: OrphanedParent,
): Promise<void> {
  const parentKey = `${prefix}:${orphan.queue}:${orphan.id}`;
  const parent = JSON.stringify({ id: orphan.id, queueKey: `${prefix}:${orphan.queue}` });
  for (const key of orphan.missing) {
    const { queue: name, id, prefix: childPrefix } = parseJobKey(key);
    const created = await client.hsetnx(key, 'parentKey', parentKey);
    // Somebody put the child back in the meantime: then the parent waits for something again.
    if (created === 0) continue;
    await client.hset(key, {
      name,
      data: '{}',
      opts: '{}',
      timestamp: Date.now(),
      delay: 0,
      priority: 0,
      parent,
    });
    const queue = new Queue(name, { connection: client, prefix: childPrefix, skipMetasUpdate: true });
    try {
      const stub: Job | undefined = await queue.getJob(id);
      await stub?.remove();
    } finally {
      await queue.close();
    }
  }
}
