import { FleetClient } from '../../src/producers/fleet-client.js';
import { type RunningCommand, startFleetCommand } from '../support/fleet-command.js';
import { checkInvariants } from '../support/invariants.js';
import { type MessagesApi, type Script, startMessagesApi } from '../support/messages-api.js';
import type { TestRedis } from '../support/redis.js';

/** Workers in separate processes, their producer, and the provider that they call. */
export interface FleetProcesses {
  readonly fleet: FleetClient;
  readonly api: MessagesApi;
  /** What the processes are started with. */
  readonly environment: Readonly<Record<string, string>>;
  /** A worker that has said that it is ready. */
  worker(env?: Readonly<Record<string, string>>): Promise<RunningCommand>;
  /** Kills what still runs, and checks the invariants. */
  close(options?: { readonly unfinished?: boolean }): Promise<void>;
}

export async function startFleetProcesses(
  redis: TestRedis,
  prefix: string,
  reply: Script,
  env: Readonly<Record<string, string>> = {},
): Promise<FleetProcesses> {
  const fleet = await FleetClient.open({ redisUrl: redis.url, prefix, waitForSlow: true });
  const api = await startMessagesApi({ reply });
  const commands: RunningCommand[] = [];
  const environment = {
    FLEET_REDIS_URL: redis.url,
    FLEET_PREFIX: prefix,
    FLEET_LOCK_MS: '2000',
    FLEET_CALL_RETRIES: '0',
    ANTHROPIC_API_KEY: 'test-key',
    ANTHROPIC_BASE_URL: api.url,
    ...env,
  };
  return {
    fleet,
    api,
    environment,
    worker: async (more = {}) => {
      const command = startFleetCommand(['worker', '--kinds', 'solution-check'], {
        env: { ...environment, ...more },
      });
      commands.push(command);
      await command.printed('worker ready');
      return command;
    },
    close: async ({ unfinished = false } = {}) => {
      try {
        await Promise.all(
          commands
            .filter(({ child }) => child.exitCode === null && child.signalCode === null)
            .map((command) => command.end(unfinished ? 'SIGKILL' : 'SIGTERM')),
        );
        if (!unfinished) await checkInvariants(fleet.client, prefix);
      } finally {
        await fleet.close();
        await api.close();
      }
    },
  };
}
