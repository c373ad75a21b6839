import { readBatches } from '../calls/batches/read-batches.js';
import { costsOfDay, costsOfRun, costsOfTenant } from '../calls/budget/read-costs.js';
import { readBlockedModels } from '../calls/limiter/blocked-models.js';
import type { CostReader } from '../gateway/costs.js';

/** Reads the cost accounts of agent calls for the gateway. */
export const costReader: CostReader = {
  today: ({ client, prefix }) => costsOfDay(client, prefix, Date.now()),
  ofRun: ({ client, prefix }, run, tenant) =>
    tenant === undefined ? costsOfRun(client, prefix, run) : costsOfTenant(client, prefix, run, tenant),
  batchedCalls: ({ client, prefix }) => readBatches(client, prefix),
  blockedModels: ({ client, prefix }) => readBlockedModels(client, prefix),
};
