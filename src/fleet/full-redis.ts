import type { Redis } from 'ioredis';
import { messageOf, RedisError } from '../errors.js';
import { saysFull } from '../queues/connection.js';
import type { Logger } from './logger.js';

/** Pauses between two tries to write to a Redis that is full, in milliseconds: the first, and the longest. */
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 30_000;
/** How often a worker says that Redis is still full, in milliseconds. */
const LOG_MS = 60_000;
/** How long the key lives that is written to find out, in milliseconds. */
const PROBE_KEPT_MS = 1_000;

/** A pause before try number `tries` (from 0): doubled each time, and spread, since every worker waits for the same moment. */
function pauseMs(tries: number, random: () => number = Math.random): number {
  const longest = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(tries, 20));
  return Math.round(longest * (0.5 + random() / 2));
}

/**
 * What a worker knows about a Redis that refuses writes since its memory is full. From the first refusal on it takes no
 * job, tries a small write after longer and longer pauses, and goes on with the first one that is taken. Refusals
 * meanwhile are counted and not logged one by one.
 */
export class FullRedis {
  readonly #client: Redis;
  readonly #probeKey: string;
  readonly #logger: Logger;
  readonly #waiting = new Set<() => void>();
  readonly #onFull: (() => void)[] = [];
  #reason: string | undefined;
  #suppressed = 0;
  #loggedAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  readonly #stopping = new AbortController();

  constructor(client: Redis, prefix: string, logger: Logger) {
    this.#client = client;
    this.#probeKey = `${prefix}::write-probe`;
    this.#logger = logger;
  }

  /** What Redis said, while it refuses writes. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** Calls `listener` whenever Redis turns out to be full. */
  onFull(listener: () => void): void {
    this.#onFull.push(listener);
  }

  /** Takes note of an error. @returns whether it was a refusal of a full Redis; then it needs no log line of its own. */
  noted(thrown: unknown): boolean {
    const isFull = saysFull(thrown) || (thrown instanceof RedisError && thrown.code === 'redis-full');
    if (!isFull) return false;
    this.#suppressed += 1;
    if (this.#reason === undefined && !this.#stopped) {
      this.#reason = messageOf(thrown);
      this.#tryLater(0);
      for (const listener of this.#onFull) listener();
    }
    this.#log();
    return true;
  }

  /** Resolves as soon as Redis takes writes, or the worker stops. @throws the signal's reason when it is aborted. */
  async untilWritable(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.#reason === undefined) return;
    await new Promise<void>((resolve, reject) => {
      const settle = (finish: () => void) => {
        this.#waiting.delete(onWritable);
        signal?.removeEventListener('abort', onAbort);
        finish();
      };
      const onWritable = () => settle(resolve);
      const onAbort = () => settle(() => reject(signal?.reason));
      this.#waiting.add(onWritable);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Waits until a job may be taken. @returns false where the worker stops instead. */
  async mayTake(): Promise<boolean> {
    if (this.#reason === undefined) return !this.#stopping.signal.aborted;
    try {
      await this.untilWritable(this.#stopping.signal);
      return true;
    } catch {
      // Aborted: the one way in which this wait fails.
      return false;
    }
  }

  /** The worker stops: no job is taken any more, while running ones still wait for what they have to write. */
  stopTaking(): void {
    this.#stopping.abort();
  }

  /**
   * Writes something that must not be lost: a refusal is waited out, and it is written again. What is written twice must
   * be the same as once.
   * @throws the signal's reason when it is aborted; whatever `write` throws besides.
   */
  async persist<T>(write: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (;;) {
      try {
        return await write();
      } catch (thrown) {
        if (this.#stopped || !this.noted(thrown)) throw thrown;
        await this.untilWritable(signal);
      }
    }
  }

  stop(): void {
    this.stopTaking();
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#end();
  }

  #log(): void {
    const now = Date.now();
    if (now - this.#loggedAt < LOG_MS) return;
    this.#loggedAt = now;
    this.#logger.error(
      { reason: this.#reason, refusals: this.#suppressed },
      'Redis is full: no job is taken until it takes writes again; raise maxmemory, or remove jobs (docs/redis.md)',
    );
    this.#suppressed = 0;
  }

  #tryLater(tries: number): void {
    this.#timer = setTimeout(() => {
      this.#client.set(this.#probeKey, '1', 'PX', PROBE_KEPT_MS).then(
        () => {
          this.#logger.info({ refusals: this.#suppressed }, 'Redis takes writes again; the worker goes on');
          this.#loggedAt = 0;
          this.#suppressed = 0;
          this.#end();
        },
        (thrown: unknown) => {
          if (this.#stopped) return;
          this.noted(thrown);
          this.#tryLater(tries + 1);
        },
      );
    }, pauseMs(tries));
    this.#timer.unref();
  }

  #end(): void {
    this.#reason = undefined;
    for (const resume of [...this.#waiting]) resume();
  }
}
