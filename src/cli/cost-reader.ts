import { costsOfDay, costsOfRun, costsOfTenant } from '../calls/budget/read-costs.js';
import { readBlockedModels } from '../calls/limiter/blocked-models.js';
import type { CostReader } from '../gateway/costs.js';

/** Reads the cost accounts of agent calls for the gateway. */
export const costReader: CostReader = {
  today: ({ client, prefix }) => costsOfDay(client, prefix, Date.now()),
  ofRun: ({ client, prefix }, run, tenant) =>
    tenant === undefined ? costsOfRun(client, prefix, run) : costsOfTenant(client, prefix, run, tenant),
  blockedModels: ({ client, prefix }) => readBlockedModels(client, prefix),
};
