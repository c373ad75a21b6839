import { RequestError } from '../../errors.js';
import { withDetails } from '../http/problem.js';

/** What one token may have open at the same time, and what it is called where there is too much of it. */
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
  /** Held by one token at the same time. */
  readonly max: number;
  /** Further ones of the token that wait for their turn before more are refused. */
  readonly maxQueued: number;
}
export type ResourceTable = Readonly<Record<Resource, ResourceLimit>>;

/** Answers with a job, and batches, that wait for their turn: they hold nothing yet. */
const MAX_QUEUED = 10_000;

/** The limits of a gateway, from its settings. What takes long is refused at once, what is over soon takes turns. */
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
    // Each may look through all events that a queue keeps.
    replay: { max: maxReads, maxQueued: maxStreams },
    read: { max: maxReads, maxQueued: maxReads * 16 },
    board: { max: maxReads * 2, maxQueued: maxReads * 16 },
    // A job's result may have megabytes, and is in memory until its client has taken it.
    answer: { max: maxReads * 8, maxQueued: MAX_QUEUED },
    // Its jobs are checked and stored a part at a time, and batches take turns doing so.
    batch: { max: maxReads, maxQueued: MAX_QUEUED },
  };
}

/** Retry-After where nothing tells when something is closed, in seconds. */
const RETRY_AFTER = 5;

/** @param what What there is too much of, in the plural. */
export function tooManyOpen(max: number, what: string): RequestError {
  return withDetails(
    new RequestError('too-many-open', `this token has ${max} ${what} already, which is the limit`),
    { retryAfter: RETRY_AFTER },
  );
}

interface Held {
  count: number;
  readonly queue: (() => void)[];
}

/** Bounds what each token holds open. What is refused leaves nothing behind. */
export class ResourceLimits {
  readonly #table: ResourceTable;
  /** By resource and token; an entry is there as long as something is held. */
  readonly #held = new Map<string, Held>();

  constructor(table: ResourceTable) {
    this.#table = table;
  }

  /** Number of things that are held by all tokens together. */
  get heldCount(): number {
    return [...this.#held.values()].reduce((sum, { count }) => sum + count, 0);
  }

  /**
   * Takes a place; the returned function gives it back.
   * @throws RequestError `too-many-open`; the signal's reason where the client leaves while it waits for its turn.
   */
  async take(resource: Resource, token: string, signal: AbortSignal): Promise<() => void> {
    const { max, maxQueued } = this.#table[resource];
    const key = `${resource} ${token}`;
    const held = this.#held.get(key) ?? { count: 0, queue: [] };
    this.#held.set(key, held);
    if (held.count < max) held.count += 1;
    else if (held.queue.length < maxQueued) await turn(held.queue, signal);
    else throw tooManyOpen(max + maxQueued, RESOURCES[resource]);
    return this.#releaser(key, held);
  }

  /** Takes a place where one is free now. The returned function gives it back. */
  tryTake(resource: Resource, token: string): (() => void) | undefined {
    const key = `${resource} ${token}`;
    const held = this.#held.get(key) ?? { count: 0, queue: [] };
    if (held.count >= this.#table[resource].max) return undefined;
    this.#held.set(key, held);
    held.count += 1;
    return this.#releaser(key, held);
  }

  #releaser(key: string, held: Held): () => void {
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      // The place goes to the next who waits for it, and otherwise is free.
      const next = held.queue.shift();
      if (next !== undefined) return next();
      held.count -= 1;
      if (held.count === 0) this.#held.delete(key);
    };
  }
}

/** Resolves when its turn in a queue has come; leaves the queue where the signal is aborted before. */
function turn(queue: (() => void)[], signal: AbortSignal): Promise<void> {
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
