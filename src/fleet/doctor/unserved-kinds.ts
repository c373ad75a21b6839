import type { Redis } from 'ioredis';
import { ownKindsKey } from '../../queues/redis-keys.js';
import { describeUnservedKind, servedKinds } from '../../queues/unserved-children.js';
import type { Problem } from './problem.js';

/**
 * Kinds with jobs that wait and that no worker serves, though workers are connected. Kinds that this program does not know
 * count too: every client notes the kinds whose jobs it adds.
 * @param kinds The kinds of this program.
 */
export async function findUnservedKinds(
  client: Redis,
  prefix: string,
  kinds: readonly string[],
): Promise<Problem[]> {
  const served = await servedKinds(client, prefix);
  if (served === undefined) return [];
  const names = new Set([...kinds, ...(await client.smembers(ownKindsKey(prefix)))]);
  const problems: Problem[] = [];
  for (const kind of [...names].filter((name) => !served.has(name)).sort()) {
    const [waiting, prioritized] = await Promise.all([
      client.llen(`${prefix}:${kind}:wait`),
      client.zcard(`${prefix}:${kind}:prioritized`),
    ]);
    const jobs = waiting + prioritized;
    if (jobs === 0) continue;
    const detail = `${jobs} ${jobs === 1 ? 'job waits' : 'jobs wait'}, and ${describeUnservedKind(kind)}`;
    problems.push({ problem: 'unserved-kind', queue: kind, id: kind, detail });
  }
  return problems;
}
