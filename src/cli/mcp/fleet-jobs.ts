import type { Config } from '../../config/settings.js';
import type { FleetClient } from '../../producers/fleet-client.js';
import type { JobService } from '../../producers/job-service.js';
import { clientOptions } from '../client-options.js';
import { knownKinds } from '../known-kinds.js';

/** How long a request is tried again, in milliseconds: an agent waits a minute for a tool in all. */
const RETRY_MS = 10_000;

/** The jobs of a fleet, and what was opened for them. */
export interface FleetJobs extends JobService {
  close(): Promise<void>;
}

/** The jobs behind a gateway. @throws UsageError for an address or a token that cannot be used. */
export async function jobsByUrl(url: string, token: string | undefined): Promise<FleetJobs> {
  const [{ FleetHttpClient }, { jobsBehind }] = await Promise.all([
    import('../../http-client/fleet-http-client.js'),
    import('../../http-client/job-service.js'),
  ]);
  const client = new FleetHttpClient({
    url,
    retryTimeoutMs: RETRY_MS,
    ...(token === undefined || token === '' ? {} : { token }),
  });
  return { ...jobsBehind(client), close: async () => undefined };
}

/** The jobs of a fleet by its Redis, which is connected to when it is first needed, and again after that failed. */
export function jobsByRedis(config: Config, redisUrl: string): FleetJobs {
  let opened: Promise<FleetClient> | undefined;
  const connect = async () => {
    const { FleetClient: Client } = await import('../../producers/fleet-client.js');
    return Client.open(clientOptions(config, redisUrl, await knownKinds(config)));
  };
  const jobs = async () => {
    const { jobsOf } = await import('../../producers/job-service.js');
    opened ??= connect();
    const client = await opened.catch((thrown: unknown) => {
      opened = undefined;
      throw thrown;
    });
    return jobsOf(client);
  };
  return {
    add: async (kind, payload) => (await jobs()).add(kind, payload),
    view: async (...wanted) => (await jobs()).view(...wanted),
    close: async () => {
      await (await opened)?.close();
    },
  };
}
