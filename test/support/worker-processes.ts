import { afterEach, beforeEach } from 'vitest';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { type RunningCommand, startFleetCommand, stopWorkers } from './fleet-command.js';
import { checkInvariants } from './invariants.js';
import { type MessagesApi, type Script, startMessagesApi } from './messages-api.js';
import type { TestRedis } from './redis.js';

export interface WorkerProcesses {
  readonly fleet: FleetClient;
  /** Of the running test. */
  readonly prefix: string;
  /** Starts the Messages API that the workers of the test ask. */
  answering(reply: Script): Promise<MessagesApi>;
  /** The settings that every command of the test gets. */
  environment(): Record<string, string>;
  /** Resolves once the worker takes jobs. */
  start(args?: readonly string[], env?: Record<string, string>): Promise<RunningCommand>;
  /** Started commands; those that are added are stopped after the test too. */
  readonly commands: RunningCommand[];
}

/**
 * For the tests of a file: each has a separate prefix, and its workers are processes of `fleet worker`. After each test they are
 * stopped, and the fleet's invariants are checked.
 */
export function workerProcesses(
  redis: Pick<TestRedis, 'url'>,
  name: string,
  settings: Record<string, string> = {},
): WorkerProcesses {
  let fleet: FleetClient;
  let api: MessagesApi | undefined;
  let prefixes = 0;
  let prefix = '';
  const commands: RunningCommand[] = [];

  beforeEach(async () => {
    prefixes += 1;
    prefix = `${name}-${prefixes}`;
    fleet = await FleetClient.open({ redisUrl: redis.url, prefix, waitForSlow: true });
  });
  afterEach(async () => {
    try {
      await stopWorkers(commands.splice(0));
      if (fleet.client.status === 'ready') await checkInvariants(fleet.client, prefix);
    } finally {
      await fleet.close();
    }
    await api?.close();
    api = undefined;
  });

  const environment = () => ({
    FLEET_REDIS_URL: redis.url,
    FLEET_PREFIX: prefix,
    ANTHROPIC_API_KEY: 'test-key',
    ANTHROPIC_BASE_URL: api?.url ?? 'http://127.0.0.1:1',
    ...settings,
  });
  return {
    get fleet() {
      return fleet;
    },
    get prefix() {
      return prefix;
    },
    answering: async (reply) => {
      api = await startMessagesApi({ reply });
      return api;
    },
    environment,
    commands,
    start: async (args = [], env = {}) => {
      const command = startFleetCommand(['worker', ...args], { env: { ...environment(), ...env } });
      commands.push(command);
      await command.printed('worker ready');
      return command;
    },
  };
}
