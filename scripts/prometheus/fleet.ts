import { once } from 'node:events';
import { Redis } from 'ioredis';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { type RunningCommand, startFleetCommand } from '../../test/support/fleet-command.js';
import { type MessagesApi, type Reply, startMessagesApi } from '../../test/support/messages-api.js';
import { startTestRedis, type TestRedis } from '../../test/support/redis.js';

const PREFIX = 'alerts';

/** A fleet of real processes: a Redis, a gateway, and a worker that is replaced as needed; the provider answers as it is told. */
export class Fleet {
  readonly redis: TestRedis;
  readonly client: FleetClient;
  /** For what only an administrator of Redis does. */
  readonly admin: Redis;
  readonly token: string;
  readonly gatewayUrl: string;
  readonly gateway: RunningCommand;
  /** What the provider answers from now on. */
  reply: () => Reply = () => ({ kind: 'hang' });
  readonly #api: MessagesApi;
  #worker: RunningCommand | undefined;

  private constructor(parts: {
    redis: TestRedis;
    client: FleetClient;
    token: string;
    gatewayUrl: string;
    gateway: RunningCommand;
    api: MessagesApi;
  }) {
    this.redis = parts.redis;
    this.client = parts.client;
    this.admin = new Redis({ path: parts.redis.socketPath });
    this.token = parts.token;
    this.gatewayUrl = parts.gatewayUrl;
    this.gateway = parts.gateway;
    this.#api = parts.api;
  }

  static async start(): Promise<Fleet> {
    const redis = await startTestRedis();
    const env = { FLEET_REDIS_URL: redis.url, FLEET_PREFIX: PREFIX };
    const adding = startFleetCommand(['token', 'add', 'prometheus', '--role', 'admin', '--json'], { env });
    await once(adding.child, 'close');
    const { token } = JSON.parse(adding.lines.at(-1) ?? '{}') as { token: string };
    const gateway = startFleetCommand(['serve', '--port', '0'], { env });
    await gateway.printed('listening on');
    const line = gateway.lines.find((text) => text.startsWith('listening on ')) ?? '';
    const client = await FleetClient.open({ redisUrl: redis.url, prefix: PREFIX });
    let fleet: Fleet | undefined;
    const api = await startMessagesApi({ reply: () => fleet?.reply() ?? { kind: 'hang' } });
    const gatewayUrl = line.slice('listening on '.length);
    fleet = new Fleet({ redis, client, token, gatewayUrl, gateway, api });
    return fleet;
  }

  get prefix(): string {
    return PREFIX;
  }

  /** How many requests the provider has got. */
  get requests(): number {
    return this.#api.requests.length;
  }

  get worker(): RunningCommand {
    if (this.#worker === undefined) throw new Error('no worker runs');
    return this.#worker;
  }

  /** Starts a worker that asks the provider, instead of the one before. */
  async startWorker(settings: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.stopWorker();
    this.#worker = startFleetCommand(['worker', '--drain', '0'], {
      env: {
        FLEET_REDIS_URL: this.redis.url,
        FLEET_PREFIX: PREFIX,
        FLEET_AGENT: 'anthropic',
        FLEET_LOCK_MS: '2000',
        ANTHROPIC_API_KEY: 'test-key',
        ANTHROPIC_BASE_URL: this.#api.url,
        ...settings,
      },
    });
    await this.#worker.printed('worker ready');
  }

  async stopWorker(): Promise<void> {
    if (this.#worker?.child.exitCode === null && this.#worker.child.signalCode === null) {
      await this.#worker.end('SIGTERM');
    }
    this.#worker = undefined;
  }

  /** Sends a request to the gateway. */
  request(path: string): Promise<Response> {
    return fetch(new URL(path, this.gatewayUrl), { headers: { authorization: `Bearer ${this.token}` } });
  }

  async stop(): Promise<void> {
    await this.stopWorker();
    this.gateway.child.kill('SIGKILL');
    await this.client.close();
    this.admin.disconnect();
    await this.#api.close();
    await this.redis.stop();
  }
}
