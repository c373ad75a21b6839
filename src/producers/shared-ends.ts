import type { Redis } from 'ioredis';
import { z } from 'zod';
import { readRecord } from '../queues/read-record.js';
import { asRedisError } from '../queues/redis-refusal.js';
import { CANCELLED_EVENT, type EndListener, type QueueEnds } from './end-events.js';
import type { EventFeed, QueueEvent } from './event-feed.js';

/** Events after which a job may have ended. */
const ENDS = new Set(['completed', 'failed', 'removed', CANCELLED_EVENT]);

/**
 * Notifies listeners when jobs in pipeline queues end. All queues are read over one connection.
 */
export class SharedEnds {
  readonly #feed: EventFeed;
  readonly #listeners = new Set<EndListener>();

  /** @param client When it reconnects after an outage, all listeners are called. */
  constructor(feed: EventFeed, client: Redis) {
    this.#feed = feed;
    client.on('ready', () => {
      for (const listener of [...this.#listeners]) listener();
    });
  }

  of(queue: string): QueueEnds {
    return { listen: (jobId, listener) => this.#listen(queue, jobId, listener) };
  }

  async #listen(queue: string, jobId: string, listener: EndListener): Promise<() => void> {
    // The same function may be registered twice; a wrapper makes each registration distinct.
    const entry: EndListener = (completed) => listener(completed);
    try {
      const stop = await this.#feed.listen(queue, jobId, (event) => {
        if (ENDS.has(event.name)) entry(completedIn(event));
      });
      this.#listeners.add(entry);
      return () => {
        this.#listeners.delete(entry);
        stop();
      };
    } catch (thrown) {
      throw asRedisError(thrown);
    }
  }
}

/** What a job returned, if its event contains it; otherwise the listener reads the job. */
function completedIn({ name, fields }: QueueEvent): { readonly returned: unknown } | undefined {
  if (name !== 'completed') return undefined;
  const reading = readRecord(z.unknown(), fields.returnvalue);
  return reading === undefined || reading.broken !== undefined ? undefined : { returned: reading.value };
}
