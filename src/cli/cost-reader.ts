import { costsOfDay, costsOfRun, costsOfTenant } from '../calls/budget/read-costs.js';
import { MAX_COOLDOWN_MS } from '../calls/limiter/rate-headers.js';
import type { CostReader } from '../gateway/costs.js';
import { limiterKey } from '../queues/redis-keys.js';

/** Reads the cost accounts of agent calls for the gateway. */
export const costReader: CostReader = {
  today: ({ client, prefix }) => costsOfDay(client, prefix, Date.now()),
  ofRun: ({ client, prefix }, run, tenant) =>
    tenant === undefined ? costsOfRun(client, prefix, run) : costsOfTenant(client, prefix, run, tenant),
  blockedModels: async ({ client, prefix }) => {
    const now = Date.now();
    const { models } = await costsOfDay(client, prefix, now);
    const states = await Promise.all(
      Object.keys(models).map(async (model) => {
        const [until, why] = await client.hmget(limiterKey(prefix, model), 'blockedUntil', 'why');
        return { model, why: why ?? 'rate-limited', seconds: (Number(until ?? 0) - now) / 1_000 };
      }),
    );
    return states.filter(({ seconds }) => seconds > 0 && seconds * 1_000 <= MAX_COOLDOWN_MS);
  },
};
