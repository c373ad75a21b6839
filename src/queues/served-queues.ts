import type { Redis } from 'ioredis';
import { nearestName } from '../nearest-name.js';
import { isJobKey, parseJobKey } from './job-key.js';
import { queueClaimsKey } from './redis-keys.js';

/** How long after its last claim or heartbeat a queue counts as served, in milliseconds. A claim may wait for half of it. */
const CLAIMED_MS = 600_000;
/** Maximum number of children of one job that are looked at. */
const MAX_LOOKED_AT = 100;

/** Records that a program claims from a queue, or works on what it claimed. A failure only makes the queue look unserved. */
export function noteClaim(client: Redis, prefix: string, queue: string, now = Date.now()): void {
  client.hset(queueClaimsKey(prefix), queue, now).catch(() => undefined);
}

/**
 * Names of the queues that somebody serves: a BullMQ worker is connected to them, or a program has claimed from them lately.
 * Undefined if Redis does not list its connections.
 */
export async function servedQueues(
  client: Redis,
  prefix: string,
  now = Date.now(),
): Promise<ReadonlySet<string> | undefined> {
  const [connections, claims] = await Promise.all([
    // A managed server may forbid the command.
    client.client('LIST').catch(() => undefined),
    client.hgetall(queueClaimsKey(prefix)),
  ]);
  if (connections === undefined) return undefined;
  const claimed = Object.entries(claims).filter(([, at]) => now - Number(at) <= CLAIMED_MS);
  return new Set([...connectedTo(String(connections), prefix), ...claimed.map(([queue]) => queue)]);
}

/** BullMQ names a worker's connection `prefix:base64(queue)`, followed by `:w:name` if the worker has a name. */
function connectedTo(connections: string, prefix: string): string[] {
  return connections.split('\n').flatMap((line) => {
    const name = / name=(\S+) /.exec(line)?.[1] ?? '';
    if (!name.startsWith(`${prefix}:`)) return [];
    const [encoded = ''] = name.slice(prefix.length + 1).split(':');
    return [Buffer.from(encoded, 'base64').toString('utf8')];
  });
}

/** Why jobs of a pipeline queue wait in vain, with the queue that a misspelled name probably means. */
export function describeUnservedQueue(queue: string, served: ReadonlySet<string>): string {
  const nearest = nearestName(queue, served);
  const meant = nearest === undefined ? '' : `; did you mean "${nearest}"?`;
  return `no worker is connected to the pipeline queue ${queue}, and no program has claimed from it lately${meant}`;
}

/**
 * A child in a pipeline queue that is ready to start and that nobody takes.
 * @param isKind Whether a queue is that of a kind.
 */
export async function untakenChild(
  client: Redis,
  parentKey: string,
  isKind: (name: string) => boolean,
  served: ReadonlySet<string>,
): Promise<{ readonly queue: string; readonly id: string } | undefined> {
  const keys = await client.srandmember(`${parentKey}:dependencies`, MAX_LOOKED_AT);
  for (const { prefix, queue, id } of keys.filter(isJobKey).map(parseJobKey)) {
    if (isKind(queue) || served.has(queue)) continue;
    const [rank, index] = await Promise.all([
      client.zscore(`${prefix}:${queue}:prioritized`, id),
      client.lpos(`${prefix}:${queue}:wait`, id),
    ]);
    if (rank !== null || index !== null) return { queue, id };
  }
  return undefined;
}
