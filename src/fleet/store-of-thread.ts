import { KnownStore } from '../known/known-store.js';
import { workerConnection } from '../queues/connection.js';
import { DurableRedis } from '../queues/fleet-redis.js';
import type { ContaminationThreadData } from './contamination-threads.js';

/**
 * A thread's connection to the known set, made at the first call. It waits while Redis is unreachable, as the durable
 * connection of the worker does: an outage is no failure of a job.
 */
export function storeOfThread({ redisUrl, prefix, waitForSlow }: ContaminationThreadData): () => KnownStore {
  let store: KnownStore | undefined;
  return () => {
    if (store !== undefined) return store;
    const client = new DurableRedis(workerConnection(redisUrl, { waitForSlow }));
    client.on('error', () => undefined);
    store = new KnownStore(client, prefix);
    return store;
  };
}
