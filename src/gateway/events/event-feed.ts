import { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { messageOf } from '../../errors.js';
import type { FleetConnection } from '../../producers/fleet-connection.js';
import { workerConnection } from '../../queues/connection.js';
import { endClient } from '../../queues/end-client.js';

/** One event of a queue's stream. */
export interface QueueEvent {
  /** Its place in the stream: `milliseconds-sequence`. */
  readonly id: string;
  readonly queue: string;
  /** BullMQ's name of it: waiting, active, progress, completed, failed, … */
  readonly name: string;
  readonly jobId: string;
  readonly fields: Readonly<Record<string, string>>;
}

export type EventListener = (event: QueueEvent) => void;
type Entry = [id: string, fields: string[]];

/** How long one read waits, in milliseconds; a queue that is listened to for the first time is read after that. */
const BLOCK_MS = 500;
const PAGE = 200;
/** Pause after a failed read, in milliseconds. */
const PAUSE_MS = 500;

/** Compares two places in a stream. */
export function isLater(a: string, b: string): boolean {
  const [aMs = 0, aSequence = 0] = a.split('-').map(Number);
  const [bMs = 0, bSequence = 0] = b.split('-').map(Number);
  return aMs === bMs ? aSequence > bSequence : aMs > bMs;
}

function eventOf(queue: string, [id, flat]: Entry): QueueEvent {
  const fields: Record<string, string> = Object.create(null);
  for (let index = 0; index + 1 < flat.length; index += 2) fields[flat[index] ?? ''] = flat[index + 1] ?? '';
  return { id, queue, name: fields.event ?? '', jobId: fields.jobId ?? '', fields };
}

/**
 * Events of queues as they happen, for any number of listeners, read over one connection. A queue is read while
 * somebody listens to it.
 */
export class EventFeed {
  readonly #fleet: FleetConnection;
  readonly #logger: Logger;
  readonly #reader: Redis;
  readonly #listeners = new Map<string, Set<EventListener>>();
  readonly #positions = new Map<string, string>();
  #reading: Promise<void> | undefined;
  #closed = false;

  constructor(fleet: FleetConnection, redisUrl: string, logger: Logger) {
    this.#fleet = fleet;
    this.#logger = logger;
    this.#reader = new Redis({ ...workerConnection(redisUrl), lazyConnect: true });
    // A read that fails is reported below; without a listener every reconnect attempt would be printed.
    this.#reader.on('error', () => undefined);
  }

  /** Number of listeners, for finding leaks. */
  get listenerCount(): number {
    return [...this.#listeners.values()].reduce((sum, listeners) => sum + listeners.size, 0);
  }

  /** The place of a queue's newest event. */
  async newest(queue: string): Promise<string> {
    const [last] = await this.#fleet.client.xrevrange(this.#key(queue), '+', '-', 'COUNT', 1);
    return last?.[0] ?? '0-0';
  }

  /** The place of a queue's oldest event that is kept. */
  async oldest(queue: string): Promise<string> {
    const [first] = await this.#fleet.client.xrange(this.#key(queue), '-', '+', 'COUNT', 1);
    return first?.[0] ?? '0-0';
  }

  /** Events after a place, page by page. */
  async *after(queue: string, place: string): AsyncGenerator<QueueEvent> {
    for (let from = place; ; ) {
      const page = (await this.#fleet.client.xrange(
        this.#key(queue),
        `(${from}`,
        '+',
        'COUNT',
        PAGE,
      )) as Entry[];
      for (const entry of page) yield eventOf(queue, entry);
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return;
      from = last[0];
    }
  }

  /** Calls `listener` for every event of a queue from now on, until the returned function is called. */
  async listen(queue: string, listener: EventListener): Promise<() => void> {
    const listeners = this.#listeners.get(queue) ?? new Set();
    this.#listeners.set(queue, listeners.add(listener));
    if (!this.#positions.has(queue)) {
      try {
        const place = await this.newest(queue);
        if (!this.#positions.has(queue)) this.#positions.set(queue, place);
      } catch (thrown) {
        this.#forget(queue, listener);
        throw thrown;
      }
    }
    this.#reading ??= this.#read();
    return () => this.#forget(queue, listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    endClient(this.#reader);
    await this.#reading;
  }

  #key(queue: string): string {
    return this.#fleet.queue(queue).toKey('events');
  }

  #forget(queue: string, listener: EventListener): void {
    const listeners = this.#listeners.get(queue);
    listeners?.delete(listener);
    if (listeners?.size !== 0) return;
    this.#listeners.delete(queue);
    this.#positions.delete(queue);
  }

  async #read(): Promise<void> {
    while (!this.#closed && this.#positions.size > 0) {
      const queues = [...this.#positions.keys()];
      try {
        const streams = await this.#reader.xread(
          'COUNT',
          PAGE,
          'BLOCK',
          BLOCK_MS,
          'STREAMS',
          ...queues.map((queue) => this.#key(queue)),
          ...queues.map((queue) => this.#positions.get(queue) ?? '$'),
        );
        for (const [key, entries] of streams ?? []) {
          const queue = queues.find((name) => this.#key(name) === key);
          if (queue !== undefined) this.#deliver(queue, entries as Entry[]);
        }
      } catch (thrown) {
        if (this.#closed) break;
        this.#logger.warn({ reason: messageOf(thrown) }, 'events of the queues cannot be read; trying again');
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
    this.#reading = undefined;
  }

  #deliver(queue: string, entries: readonly Entry[]): void {
    const last = entries.at(-1);
    if (last === undefined || !this.#positions.has(queue)) return;
    this.#positions.set(queue, last[0]);
    const listeners = [...(this.#listeners.get(queue) ?? [])];
    for (const entry of entries) {
      const event = eventOf(queue, entry);
      for (const listener of listeners) listener(event);
    }
  }
}
