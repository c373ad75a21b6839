import { type FlowProducer, Queue, type QueueOptions, type Telemetry } from 'bullmq';
import type { Redis } from 'ioredis';
import { UsageError } from '../errors.js';
import { type OptionNames, rejectUnknownOptions } from '../known-options.js';
import { type PayloadStore, RedisPayloadStore } from '../payloads/payload-store.js';
import { connectProducer, type RedisWaitOptions, workerConnection } from '../queues/connection.js';
import { endClient } from '../queues/end-client.js';
import type { JobKind } from '../queues/kind.js';
import { assertPrefixFitsCluster, type RedisConnectionOptions } from '../queues/redis-address.js';
import { ownKindsKey } from '../queues/redis-keys.js';
import { BUILT_IN_CONTRACTS, KINDS, KindRegistry } from '../queues/registry.js';
import { DEFAULT_TEXT_LIMITS, type TextLimits, totalTextBytes } from '../queues/validate.js';
import { EndEvents, type QueueEnds } from './end-events.js';
import { EventFeed } from './event-feed.js';
import { YieldingFlowProducer } from './flows/yielding-flow-producer.js';
import { MemoryAdmission, type MemoryLimits } from './memory-admission.js';
import { SharedEnds } from './shared-ends.js';

export interface FleetClientOptions extends RedisWaitOptions {
  /** An address for `redisOptionsFrom`. */
  readonly redisUrl: string;
  /** Prefix of every key in Redis; default `fleet`. */
  readonly prefix?: string;
  /** Kinds of one's own that this program submits or reads; default: the built-in kinds alone. */
  readonly kinds?: readonly JobKind[] | KindRegistry;
  readonly limits?: TextLimits;
  /** How long finished jobs are stored, in days; default 7. */
  readonly retentionDays?: number;
  /** Texts above this many bytes are stored separately from their job; default 65,536. */
  readonly offloadBytes?: number;
  /** When submissions are rejected because Redis is nearly full; default: at 80 % of its memory limit. */
  readonly memory?: MemoryLimits;
  /** BullMQ's telemetry, which writes its spans; default: none. */
  // biome-ignore lint/suspicious/noExplicitAny: BullMQ leaves the type of the context open
  readonly telemetry?: Telemetry<any>;
}

const CLIENT_OPTIONS: OptionNames<FleetClientOptions> = {
  redisUrl: true,
  prefix: true,
  kinds: true,
  limits: true,
  retentionDays: true,
  offloadBytes: true,
  memory: true,
  telemetry: true,
  waitForSlow: true,
};

export const TEXT_LIMIT_NAMES: OptionNames<TextLimits> = {
  textBytes: true,
  largeTextBytes: true,
  dataBytes: true,
};
const MEMORY_LIMIT_NAMES: OptionNames<MemoryLimits> = { admitPercent: true, maxBytes: true };

/** Callers without types may forget it. */
function assertAddress(redisUrl: unknown): void {
  if (typeof redisUrl === 'string') return;
  const example = 'FleetClient.open({ redisUrl: "redis://127.0.0.1:6379" })';
  throw new UsageError('usage', `redisUrl: is missing, the address of the fleet's Redis: ${example}`, {
    field: 'redisUrl',
  });
}

function registryOf(kinds: FleetClientOptions['kinds'] = BUILT_IN_CONTRACTS): KindRegistry {
  return kinds instanceof KindRegistry ? kinds : new KindRegistry(Object.values(KINDS), kinds);
}

const SECONDS_A_DAY = 86_400;

/** Maximum number of open pipeline queues; the least recently used one is closed. */
const MAX_PIPELINE_QUEUES = 100;

/**
 * One producer's connection to the fleet's queues. Queues and event streams are opened at their first use, so a pipeline
 * that only submits uses one connection. The events of all pipeline queues share one more connection.
 */
export class FleetClient {
  readonly prefix: string;
  /** The kinds that this program knows. It treats any other queue as a pipeline queue. */
  readonly kinds: KindRegistry;
  readonly limits: TextLimits;
  readonly retentionSeconds: number;
  readonly #client: Redis;
  #isClosed = false;
  /** Store for the long texts of jobs. */
  readonly payloads: PayloadStore;
  /** Rejects submissions while there is still memory for the accepted jobs. */
  readonly memory: MemoryAdmission;
  readonly #eventConnection: RedisConnectionOptions;
  readonly #queueOptions: QueueOptions;
  readonly #queues = new Map<string, Queue>();
  /** In the order of their last use. */
  readonly #pipelineQueues = new Map<string, Queue>();
  readonly #events = new Map<string, EndEvents>();
  /** Events of jobs of any queue. */
  readonly feed: EventFeed;
  #sharedEnds: SharedEnds | undefined;
  #flows: FlowProducer | undefined;

  private constructor(
    client: Redis,
    options: FleetClientOptions,
    private readonly ownsClient = true,
  ) {
    this.#client = client;
    this.prefix = options.prefix ?? 'fleet';
    this.kinds = registryOf(options.kinds);
    this.limits = options.limits ?? DEFAULT_TEXT_LIMITS;
    this.retentionSeconds = Math.ceil((options.retentionDays ?? 7) * SECONDS_A_DAY);
    this.payloads = new RedisPayloadStore(client, this.prefix, {
      offloadBytes: options.offloadBytes,
      dataBytes: totalTextBytes(this.limits),
    });
    this.memory = new MemoryAdmission(client, this.prefix, this.kinds.names, options.memory);
    this.#eventConnection = workerConnection(options.redisUrl, options);
    this.feed = new EventFeed(client, this.prefix, this.#eventConnection);
    this.#queueOptions = {
      connection: client,
      prefix: this.prefix,
      ...(options.telemetry === undefined ? {} : { telemetry: options.telemetry }),
    };
    // A failed command throws in its caller; without a listener every reconnect attempt would be printed.
    client.on('error', () => undefined);
  }

  /**
   * Connects to the fleet's Redis.
   * @throws PayloadError naming an option that does not exist; UsageError without an address; RedisError `redis-unreachable` if it cannot connect within five seconds; ConfigurationError if the address is
   *   not valid, or is a cluster's and the prefix does not fit it; KindError if two kinds have the same name.
   */
  static async open(options: FleetClientOptions): Promise<FleetClient> {
    rejectUnknownOptions(options, CLIENT_OPTIONS);
    rejectUnknownOptions(options.limits ?? {}, TEXT_LIMIT_NAMES, 'limits');
    rejectUnknownOptions(options.memory ?? {}, MEMORY_LIMIT_NAMES, 'memory');
    assertAddress(options.redisUrl);
    assertPrefixFitsCluster(options.redisUrl, options.prefix ?? 'fleet');
    return new FleetClient(
      await connectProducer(options.redisUrl, { waitForSlow: options.waitForSlow }),
      options,
    );
  }

  /** A client on a connection that the caller closes. */
  static on(client: Redis, options: FleetClientOptions): FleetClient {
    return new FleetClient(client, options, false);
  }

  /**
   * The connection of this client.
   * @throws UsageError `usage` after `close`.
   */
  get client(): Redis {
    this.#assertOpen();
    return this.#client;
  }

  #assertOpen(): void {
    if (!this.#isClosed) return;
    throw new UsageError('usage', 'this FleetClient is closed; open another one with FleetClient.open');
  }

  /** Whether it is closed, or the caller has closed its connection: then no outage ends. */
  get isClosed(): boolean {
    return this.#isClosed || this.#client.status === 'end';
  }

  /** The queue of a kind, or a pipeline queue. @throws UsageError `usage` after `close`. */
  queue(name: string): Queue {
    this.#assertOpen();
    if (!this.kinds.has(name)) return this.#pipelineQueue(name);
    const known = this.#queues.get(name);
    if (known !== undefined) return known;
    const queue = this.#open(name);
    this.#queues.set(name, queue);
    if (!BUILT_IN_CONTRACTS.has(name)) this.#noteOwnKind(name);
    return queue;
  }

  /** Lets programs without the kind say that it has jobs. It is sent before the first job, on the same connection. */
  #noteOwnKind(name: string): void {
    // A Redis that fails is reported by what the caller does next; without the note only a hint is missing.
    this.client.sadd(ownKindsKey(this.prefix), name).catch(() => undefined);
  }

  /** Number of open queues, to detect leaks. */
  get openQueues(): number {
    return this.#queues.size + this.#pipelineQueues.size;
  }

  /** Key of a job's hash. Unlike `queue` it opens nothing: the queue need not exist. */
  jobKey(queue: string, id: string): string {
    return `${this.prefix}:${queue}:${id}`;
  }

  get kindQueues(): [string, Queue][] {
    return this.kinds.names.map((kind) => [kind, this.queue(kind)]);
  }

  get flows(): FlowProducer {
    this.#flows ??= new YieldingFlowProducer(this.client, this.#queueOptions);
    return this.#flows;
  }

  /** Ends of jobs of one queue, as they happen. */
  events(name: string): QueueEnds {
    if (!this.kinds.has(name)) {
      this.#sharedEnds ??= new SharedEnds(this.feed, this.client);
      return this.#sharedEnds.of(name);
    }
    let events = this.#events.get(name);
    if (events === undefined) {
      events = new EndEvents(this.queue(name), this.client, this.#eventConnection);
      this.#events.set(name, events);
    }
    return events;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    // A connection that the caller closes may still be used.
    this.#isClosed = this.ownsClient;
    await Promise.all([this.feed.close(), ...[...this.#events.values()].map((events) => events.close())]);
    await this.#flows?.close();
    const queues = [...this.#queues.values(), ...this.#pipelineQueues.values()];
    await Promise.all(queues.map((queue) => queue.close()));
    if (this.ownsClient) endClient(this.#client);
  }

  #pipelineQueue(name: string): Queue {
    const queue = this.#pipelineQueues.get(name) ?? this.#open(name);
    this.#pipelineQueues.delete(name);
    this.#pipelineQueues.set(name, queue);
    const [oldest] = this.#pipelineQueues;
    if (oldest !== undefined && this.#pipelineQueues.size > MAX_PIPELINE_QUEUES) {
      this.#pipelineQueues.delete(oldest[0]);
      // The connection is shared, so closing the queue only releases it. Code that still uses the queue can go on.
      oldest[1].close().catch(() => undefined);
    }
    return queue;
  }

  #open(name: string): Queue {
    const queue = new Queue(name, { ...this.#queueOptions, skipMetasUpdate: true });
    queue.on('error', () => undefined);
    return queue;
  }
}
