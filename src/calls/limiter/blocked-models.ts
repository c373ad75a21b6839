import type { Redis } from 'ioredis';
import { blockedModelsKey, limiterKey } from '../../queues/redis-keys.js';
import { MAX_COOLDOWN_MS } from './rate-headers.js';

/** A model whose circuit is open. */
interface BlockedModel {
  readonly model: string;
  readonly why: string;
  /** How much longer, in seconds. */
  readonly seconds: number;
}

/** Remembers that the circuit of a model was opened, for as long as it can stay open. */
export async function noteBlockedModel(client: Redis, prefix: string, model: string): Promise<void> {
  const key = blockedModelsKey(prefix);
  await client.multi().sadd(key, model).pexpire(key, MAX_COOLDOWN_MS).exec();
}

/** The models whose circuit is open now. */
export async function readBlockedModels(client: Redis, prefix: string): Promise<BlockedModel[]> {
  const now = Date.now();
  const states = await Promise.all(
    (await client.smembers(blockedModelsKey(prefix))).map(async (model) => {
      const [until, why] = await client.hmget(limiterKey(prefix, model), 'blockedUntil', 'why');
      return { model, why: why ?? 'rate-limited', seconds: (Number(until ?? 0) - now) / 1_000 };
    }),
  );
  return states.filter(({ seconds }) => seconds > 0 && seconds * 1_000 <= MAX_COOLDOWN_MS);
}
