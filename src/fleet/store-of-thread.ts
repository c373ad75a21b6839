import { KnownStore } from '../known/known-store.js';
import { connectProducer } from '../queues/connection.js';
import type { ContaminationThreadData } from './contamination-threads.js';

/** A thread's connection to the known set: made at the first call, and again after a failed call. */
export function storeOfThread({
  redisUrl,
  prefix,
  waitForSlow,
}: ContaminationThreadData): () => Promise<KnownStore> {
  let store: Promise<KnownStore> | undefined;
  const connect = async () => {
    const client = await connectProducer(redisUrl, { waitForSlow });
    client.on('error', () => undefined);
    return new KnownStore(client, prefix);
  };
  return () => {
    store ??= connect().catch((thrown: unknown) => {
      store = undefined;
      throw thrown;
    });
    return store;
  };
}
