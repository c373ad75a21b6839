import type { Redis } from 'ioredis';
import { rememberedQueues } from '../../queues/pipeline-queues.js';
import { ownKindsKey } from '../../queues/redis-keys.js';
import { describeUnservedQueue, servedQueues } from '../../queues/served-queues.js';
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
    const jobs = await readyJobs(client, prefix, kind);
    if (jobs === 0) continue;
    const detail = `${jobs} ${jobs === 1 ? 'job waits' : 'jobs wait'}, and ${describeUnservedKind(kind)}`;
    problems.push({ problem: 'unserved-kind', queue: kind, id: kind, detail });
  }
  return problems;
}

/** Pipeline queues with jobs that are ready to start and that nobody takes. */
export async function findUnservedQueues(
  client: Redis,
  prefix: string,
  kinds: readonly string[],
): Promise<Problem[]> {
  const [served, remembered, own] = await Promise.all([
    servedQueues(client, prefix),
    rememberedQueues(client, prefix),
    client.smembers(ownKindsKey(prefix)),
  ]);
  if (served === undefined) return [];
  const problems: Problem[] = [];
  for (const queue of remembered) {
    if (served.has(queue) || kinds.includes(queue) || own.includes(queue)) continue;
    const jobs = await readyJobs(client, prefix, queue);
    if (jobs === 0) continue;
    const detail = `${jobs} ${jobs === 1 ? 'job waits' : 'jobs wait'}, and ${describeUnservedQueue(queue, served)}`;
    problems.push({ problem: 'unserved-queue', queue, id: queue, detail });
  }
  return problems;
}

async function readyJobs(client: Redis, prefix: string, queue: string): Promise<number> {
  const [waiting, prioritized] = await Promise.all([
    client.llen(`${prefix}:${queue}:wait`),
    client.zcard(`${prefix}:${queue}:prioritized`),
  ]);
  return waiting + prioritized;
}
