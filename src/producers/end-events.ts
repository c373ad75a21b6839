import { type Queue, QueueEvents, type RedisQueueBackend } from 'bullmq';
import type { Redis } from 'ioredis';
import { endClient } from '../queues/end-client.js';
import type { RedisConnectionOptions } from '../queues/redis-address.js';
import { asRedisError } from '../queues/redis-refusal.js';

/** A completed job, as its event describes it. */
export interface CompletedEvent {
  readonly returned: unknown;
}

/** Called without an event if the job may have ended in any way. */
export type EndListener = (completed?: CompletedEvent) => void;

/** Notifies listeners when jobs of one queue end. */
export interface QueueEnds {
  /**
   * Calls `listener` when the job may have ended, until the returned function is called.
   * @throws RedisError if the stream cannot be read.
   */
  listen(jobId: string, listener: EndListener): Promise<() => void>;
}

/** Event name under which a cancellation is published on a queue's stream. */
export const CANCELLED_EVENT = 'cancelled';

/**
 * Notifies listeners when jobs of one of the fleet's kinds end, from its queue's event stream. Reading starts after the
 * last event in the stream at the time of opening: BullMQ's default start (everything after the first read) can miss the
 * first event. Listeners are also called when a lost connection is back: a long stream may have been trimmed.
 */
export class EndEvents implements QueueEnds {
  readonly #listeners = new Map<string, Set<EndListener>>();
  readonly #queue: Queue;
  readonly #client: Redis;
  readonly #connection: RedisConnectionOptions;
  #events: Promise<QueueEvents> | undefined;
  #closed = false;

  /** @param client for single commands; @param connection options of the stream's separate, blocking connection. */
  constructor(queue: Queue, client: Redis, connection: RedisConnectionOptions) {
    this.#queue = queue;
    this.#client = client;
    this.#connection = connection;
  }

  async listen(jobId: string, listener: EndListener): Promise<() => void> {
    this.#events ??= this.#open().catch((thrown: unknown) => {
      // The next listener opens it again.
      this.#events = undefined;
      throw asRedisError(thrown);
    });
    await this.#events;
    const listeners = this.#listeners.get(jobId) ?? new Set();
    this.#listeners.set(jobId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(jobId);
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    const events = await this.#events?.catch(() => undefined);
    if (events === undefined) return;
    endClient(await (events.getBackend() as RedisQueueBackend).client);
    await events.close();
  }

  async #open(): Promise<QueueEvents> {
    const [last] = await this.#client.xrevrange(this.#queue.toKey('events'), '+', '-', 'COUNT', 1);
    const events = new QueueEvents(this.#queue.name, {
      // Opening waits for as long as Redis is unreachable, unless it is closed in the meantime.
      connection: {
        ...this.#connection,
        retryStrategy: (times) => (this.#closed ? null : this.#connection.retryStrategy?.(times)),
      },
      prefix: this.#queue.opts.prefix ?? 'bull',
      lastEventId: last?.[0] ?? '0-0',
    });
    events.on('error', () => undefined);
    const notify = ({ jobId }: { jobId: string }) => this.#notify(jobId);
    events.on('completed', ({ jobId, returnvalue }) => this.#notify(jobId, { returned: returnvalue }));
    events.on('failed', notify);
    events.on('removed', notify);
    // A job that waits for its follow-ups has its result.
    events.on('waiting-children', notify);
    (events.on as (event: string, listener: typeof notify) => void)(CANCELLED_EVENT, notify);
    this.#client.on('ready', () => {
      for (const jobId of this.#listeners.keys()) this.#notify(jobId);
    });
    await events.waitUntilReady();
    return events;
  }

  #notify(jobId: string, completed?: CompletedEvent): void {
    for (const listener of [...(this.#listeners.get(jobId) ?? [])]) listener(completed);
  }
}
