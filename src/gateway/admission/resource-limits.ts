import { RequestError } from '../../errors.js';
import { withDetails } from '../http/problem.js';

/** What one token may have open at the same time, with the words for messages. */
const RESOURCES = {
  wait: 'requests that wait for a job',
  claim: 'claims that wait for an evaluation',
  stream: 'event streams',
  replay: 'event streams that tell what happened before',
  read: 'large reads',
  board: 'requests to the board',
  answer: 'answers with a job or an evaluation',
  batch: 'batches',
} as const;
export type Resource = keyof typeof RESOURCES;

interface ResourceLimit {
  /** How many one token may have at the same time. */
  readonly max: number;
  /** How many more of the token may wait for a slot; others are rejected. */
  readonly maxQueued: number;
}
export type ResourceTable = Readonly<Record<Resource, ResourceLimit>>;

/** How many answers with a job, or batches, may wait for a slot; while they wait they use no memory. */
const MAX_QUEUED = 10_000;

/** The limits of a gateway, from its settings. Long requests over the limit are rejected at once; short ones wait for a slot. */
export function resourceTable(limits: {
  readonly maxWaits: number;
  readonly maxStreams: number;
  readonly maxReads: number;
}): ResourceTable {
  const { maxWaits, maxStreams, maxReads } = limits;
  return {
    wait: { max: maxWaits, maxQueued: 0 },
    claim: { max: maxWaits, maxQueued: 0 },
    stream: { max: maxStreams, maxQueued: 0 },
    // Each may read all events that a queue keeps.
    replay: { max: maxReads, maxQueued: maxStreams },
    read: { max: maxReads, maxQueued: maxReads * 16 },
    board: { max: maxReads * 2, maxQueued: maxReads * 16 },
    // A job's result may have megabytes, and is in memory until its client has taken it.
    answer: { max: maxReads * 8, maxQueued: MAX_QUEUED },
    // Its jobs are checked and stored a part at a time.
    batch: { max: maxReads, maxQueued: MAX_QUEUED },
  };
}

/** Retry-After in seconds: when a slot becomes free is not known. */
const RETRY_AFTER = 5;

/** @param what What is too much, in the plural. */
export function tooManyOpen(max: number, what: string): RequestError {
  return withDetails(
    new RequestError('too-many-open', `this token has ${max} ${what} already, which is the limit`),
    { retryAfter: RETRY_AFTER },
  );
}

interface Slots {
  inUse: number;
  readonly queue: (() => void)[];
}

/** Limits what each token has open at the same time. */
export class ResourceLimits {
  readonly #table: ResourceTable;
  /** By resource and token; an entry exists while a slot is in use. */
  readonly #slots = new Map<string, Slots>();

  constructor(table: ResourceTable) {
    this.#table = table;
  }

  /** Number of slots that all tokens use together. */
  get slotsInUse(): number {
    return [...this.#slots.values()].reduce((sum, { inUse }) => sum + inUse, 0);
  }

  /**
   * Takes a slot; the returned function releases it.
   * @throws RequestError `too-many-open`; the signal's reason if the client leaves while it waits.
   */
  async take(resource: Resource, token: string, signal: AbortSignal): Promise<() => void> {
    const { max, maxQueued } = this.#table[resource];
    const key = `${resource} ${token}`;
    const slots = this.#slots.get(key) ?? { inUse: 0, queue: [] };
    this.#slots.set(key, slots);
    if (slots.inUse < max) slots.inUse += 1;
    else if (slots.queue.length < maxQueued) await waitForSlot(slots.queue, signal);
    else throw tooManyOpen(max + maxQueued, RESOURCES[resource]);
    return this.#releaser(key, slots);
  }

  /** Takes a slot if one is free now. The returned function releases it. */
  tryTake(resource: Resource, token: string): (() => void) | undefined {
    const key = `${resource} ${token}`;
    const slots = this.#slots.get(key) ?? { inUse: 0, queue: [] };
    if (slots.inUse >= this.#table[resource].max) return undefined;
    this.#slots.set(key, slots);
    slots.inUse += 1;
    return this.#releaser(key, slots);
  }

  #releaser(key: string, slots: Slots): () => void {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      // The next request in the queue gets the slot; without one it is free.
      const next = slots.queue.shift();
      if (next !== undefined) return next();
      slots.inUse -= 1;
      if (slots.inUse === 0) this.#slots.delete(key);
    };
  }
}

/** Resolves when it is first in the queue and a slot is free; leaves the queue if the signal is aborted before. */
function waitForSlot(queue: (() => void)[], signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const leave = () => {
      queue.splice(queue.indexOf(enter), 1);
      reject(signal.reason);
    };
    const enter = () => {
      signal.removeEventListener('abort', leave);
      resolve();
    };
    queue.push(enter);
    signal.addEventListener('abort', leave, { once: true });
  });
}
