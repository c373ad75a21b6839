import type { Redis } from 'ioredis';
import type { BatchProvider } from './batch-provider.js';
import { ResultLineSchema } from './line-outcome.js';
import { readBatch, type StoredBatch } from './stored-batch.js';

/** How far the clocks of the provider and of a worker may differ, in milliseconds. */
const CLOCK_SKEW_MS = 300_000;

/**
 * Looks a batch up whose creation is in doubt. The provider lists batches without their requests, so one that runs is
 * recognized by its size and time; one that has ended by the ids in its results.
 */
export async function findCreated(
  client: Redis,
  base: string,
  batch: StoredBatch,
  provider: BatchProvider,
  signal: AbortSignal,
): Promise<{ readonly id: string; readonly isSure: boolean } | undefined> {
  const others = new Set(batch.foreign);
  for (const name of await client.zrange(`${base}:open`, '0', '-1')) {
    const id = (await readBatch(client, base, name))?.id;
    if (id !== undefined) others.add(id);
  }
  let running: string | undefined;
  for await (const listed of provider.createdSince(batch.at - CLOCK_SKEW_MS, signal)) {
    if (listed.requests !== batch.count || others.has(listed.id)) continue;
    if (!listed.hasEnded) running = listed.id;
    else if (listed.hasResults && (await hasLinesOf(client, base, batch, provider, listed.id, signal)))
      return { id: listed.id, isSure: true };
  }
  return running === undefined ? undefined : { id: running, isSure: false };
}

async function hasLinesOf(
  client: Redis,
  base: string,
  { name }: StoredBatch,
  provider: BatchProvider,
  id: string,
  signal: AbortSignal,
): Promise<boolean> {
  for await (const raw of provider.results(id, signal)) {
    const line = ResultLineSchema.safeParse(raw).data;
    return line !== undefined && (await client.sismember(`${base}:of:${name}:lines`, line.custom_id)) === 1;
  }
  return false;
}
