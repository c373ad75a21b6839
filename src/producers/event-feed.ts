import { Redis } from 'ioredis';
import { messageOf } from '../errors.js';
import { endClient } from '../queues/end-client.js';
import type { RedisConnectionOptions } from '../queues/redis-address.js';

/** One event of a queue's stream. */
export interface QueueEvent {
  /** Its position in the stream: `milliseconds-sequence`. */
  readonly id: string;
  readonly queue: string;
  /** BullMQ's name: waiting, active, progress, completed, failed, … */
  readonly name: string;
  readonly jobId: string;
  readonly fields: Readonly<Record<string, string>>;
}

export type EventListener = (event: QueueEvent) => void;
type Entry = [id: string, fields: string[]];

/**
 * How long one read waits, in milliseconds: a queue with its first listener is read after that. With more queues than
 * this it waits longer, because each read names all queues.
 */
const MIN_BLOCK_MS = 100;
const PAGE = 200;
/** Pause after a failed read, in milliseconds. */
const PAUSE_MS = 500;

/** Compares two positions in a stream. */
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

/** Listeners of one queue, by job. */
type QueueListeners = Map<string, Set<EventListener>>;

/**
 * Events of jobs as they happen, for any number of listeners and queues, read over one connection. A queue is read while
 * one of its jobs has a listener.
 */
export class EventFeed {
  readonly #client: Redis;
  readonly #prefix: string;
  readonly #reader: Redis;
  readonly #listeners = new Map<string, QueueListeners>();
  readonly #positions = new Map<string, string>();
  #reading: Promise<void> | undefined;
  #closed = false;
  /** Called with the reason each time that a read fails. */
  report: (reason: string) => void = () => undefined;

  /** @param client for single commands; @param connection options of the feed's separate, blocking connection. */
  constructor(client: Redis, prefix: string, connection: RedisConnectionOptions) {
    this.#client = client;
    this.#prefix = prefix;
    this.#reader = new Redis({ ...connection, lazyConnect: true });
    // A failed read is reported below; without a listener every reconnect attempt would be printed.
    this.#reader.on('error', () => undefined);
  }

  /** Number of listeners, to detect leaks. */
  get listenerCount(): number {
    let count = 0;
    for (const jobs of this.#listeners.values())
      for (const listeners of jobs.values()) count += listeners.size;
    return count;
  }

  /** The position of a queue's newest event. */
  async newest(queue: string): Promise<string> {
    const [last] = await this.#client.xrevrange(this.#key(queue), '+', '-', 'COUNT', 1);
    return last?.[0] ?? '0-0';
  }

  /** The position of a queue's oldest stored event. */
  async oldest(queue: string): Promise<string> {
    const [first] = await this.#client.xrange(this.#key(queue), '-', '+', 'COUNT', 1);
    return first?.[0] ?? '0-0';
  }

  /** Events after a position, page by page. */
  async *after(queue: string, position: string): AsyncGenerator<QueueEvent> {
    for (let from = position; ; ) {
      const page = (await this.#client.xrange(this.#key(queue), `(${from}`, '+', 'COUNT', PAGE)) as Entry[];
      for (const entry of page) yield eventOf(queue, entry);
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return;
      from = last[0];
    }
  }

  /** Calls `listener` for every event of a job from now on, until the returned function is called. */
  async listen(queue: string, jobId: string, listener: EventListener): Promise<() => void> {
    const jobs: QueueListeners = this.#listeners.get(queue) ?? new Map();
    this.#listeners.set(queue, jobs);
    const listeners = jobs.get(jobId) ?? new Set();
    jobs.set(jobId, listeners.add(listener));
    if (!this.#positions.has(queue)) {
      try {
        const position = await this.newest(queue);
        if (!this.#positions.has(queue)) this.#positions.set(queue, position);
      } catch (thrown) {
        this.#forget(queue, jobId, listener);
        throw thrown;
      }
    }
    this.#reading ??= this.#read();
    return () => this.#forget(queue, jobId, listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    endClient(this.#reader);
    await this.#reading;
  }

  #key(queue: string): string {
    return `${this.#prefix}:${queue}:events`;
  }

  #forget(queue: string, jobId: string, listener: EventListener): void {
    const jobs = this.#listeners.get(queue);
    const listeners = jobs?.get(jobId);
    listeners?.delete(listener);
    if (listeners?.size === 0) jobs?.delete(jobId);
    if (jobs?.size !== 0) return;
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
          Math.max(MIN_BLOCK_MS, queues.length),
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
        this.report(messageOf(thrown));
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
    this.#reading = undefined;
  }

  #deliver(queue: string, entries: readonly Entry[]): void {
    const last = entries.at(-1);
    if (last === undefined || !this.#positions.has(queue)) return;
    this.#positions.set(queue, last[0]);
    const jobs = this.#listeners.get(queue);
    for (const entry of entries) {
      const event = eventOf(queue, entry);
      for (const listener of [...(jobs?.get(event.jobId) ?? [])]) listener(event);
    }
  }
}
