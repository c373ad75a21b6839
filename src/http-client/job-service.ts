import { abortable, succeedsWithin } from '../async.js';
import { NOW } from '../producers/add-options.js';
import type { JobService } from '../producers/job-service.js';
import type { FleetHttpClient } from './fleet-http-client.js';

/** The jobs of a fleet by its gateway. */
export function jobsBehind(client: FleetHttpClient): JobService {
  return {
    // An agent waits for it: no call goes into a batch.
    add: async (kind, payload) => (await client.add(kind, payload, { deadline: NOW })).id,
    view: async (id, waitMs, signal) => {
      // The last of its requests goes on for as long as one takes.
      if (waitMs > 0) await abortable(succeedsWithin(client.wait(id), waitMs), signal);
      return abortable(client.job(id), signal);
    },
  };
}
