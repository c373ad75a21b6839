import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { costReader } from '../../src/cli/cost-reader.js';
import { RedisError } from '../../src/errors.js';
import { examine } from '../../src/fleet/doctor/examine.js';
import type { GatewaySettings } from '../../src/gateway/gateway.js';
import type { GatewayOptions } from '../../src/gateway/gateway-options.js';
import { type RunningGateway, startGateway } from '../../src/gateway/server.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import type { TestRedis } from '../support/redis.js';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look at answers of any shape
  readonly json: any;
}

export interface TestGateway extends RunningGateway {
  /** Messages to the person who starts the gateway. */
  readonly announcements: readonly string[];
  /** Everything that was logged, as one text. */
  log(): string;
  /** Sends a request; a body that is no text is sent as JSON. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
}

export const TEST_SETTINGS: GatewaySettings = {
  bodyBytes: 4 * 2 ** 20,
  maxWaiting: 100_000,
  requestsPerMinute: 1_000_000,
  models: ['claude-test'],
  workspaceRoots: undefined,
  auth: 'auto',
  loginsPerMinute: 1_000,
  maxConnections: 10_000,
  maxWaits: 2_000,
  maxStreams: 2_000,
  maxReads: 4,
  secureCookies: false,
  streamPingMs: 10_000,
  trustedHosts: [],
};

/** A gateway on a free port before a test's own Redis, under a prefix of its own. */
export async function startTestGateway(
  redis: Pick<TestRedis, 'url'>,
  prefix: string,
  settings: Partial<GatewaySettings> = {},
  options: Partial<GatewayOptions> = {},
): Promise<TestGateway> {
  const lines: string[] = [];
  const announcements: string[] = [];
  const gateway = await startGateway({
    host: '127.0.0.1',
    port: 0,
    settings: { ...TEST_SETTINGS, ...settings },
    logger: pino({ level: 'debug' }, { write: (line: string) => lines.push(line) }),
    redisUrl: redis.url,
    openFleet: (kinds) => FleetClient.open({ redisUrl: redis.url, prefix, waitForSlow: true, kinds }),
    costs: costReader,
    announce: (message) => announcements.push(message),
    ...options,
  });
  return {
    url: gateway.url,
    port: gateway.port,
    connections: () => gateway.connections(),
    get openRequests() {
      return gateway.openRequests;
    },
    get eventListeners() {
      return gateway.eventListeners;
    },
    get openQueues() {
      return gateway.openQueues;
    },
    close: async () => {
      await gateway.close();
      await examineLeftovers(redis.url, prefix);
    },
    announcements,
    log: () => lines.join(''),
    send: (method, path, body, headers = {}) => sendTo(gateway.url, method, path, body, headers),
  };
}

/**
 * Checks the fleet's invariants after a test, unless its Redis is away. Workers may continue meanwhile.
 * @throws Error that lists what is wrong.
 */
async function examineLeftovers(redisUrl: string, prefix: string): Promise<void> {
  let fleet: FleetClient;
  try {
    fleet = await FleetClient.open({ redisUrl, prefix, waitForSlow: true });
  } catch (thrown) {
    if (thrown instanceof RedisError && thrown.code === 'redis-unreachable') return;
    throw thrown;
  }
  try {
    const { problems } = await examine(fleet.client, prefix);
    if (problems.length > 0) throw new Error(`the test left behind ${JSON.stringify(problems)}`);
  } finally {
    await fleet.close();
  }
}

export async function sendTo(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method,
    redirect: 'manual',
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    get json() {
      return JSON.parse(text);
    },
  };
}

let gateways = 0;

/**
 * For the test that runs, or is about to: a fleet under a prefix of its own and a gateway before it, both closed
 * when the test has finished.
 */
export async function gatewayOfTest(
  redis: TestRedis,
  name: string,
  options: Partial<GatewayOptions> = {},
): Promise<{ test: TestFleet; gateway: TestGateway }> {
  gateways += 1;
  const prefix = `${name}-${gateways}`;
  const test = await startTestFleet(redis, prefix);
  const gateway = await startTestGateway(redis, prefix, {}, options);
  onTestFinished(async () => {
    await gateway.close();
    await test.close();
  });
  return { test, gateway };
}
