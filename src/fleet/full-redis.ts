import type { Redis } from 'ioredis';
import { messageOf, RedisError } from '../errors.js';
import { saysFull } from '../queues/connection.js';
import { writeProbeKey } from '../queues/redis-keys.js';
import type { Logger } from './logger.js';

/** Pauses between two attempts to write to a full Redis, in milliseconds: the first, and the maximum. */
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 30_000;
/** How often a worker logs that Redis is still full, in milliseconds. */
const LOG_MS = 60_000;
/** Time to live of the key that is written as a probe, in milliseconds. */
const PROBE_TTL_MS = 1_000;

/** The pause before attempt `tries` (from 0): doubled each time, with jitter, because all workers wait for the same event. */
function pauseMs(tries: number, random: () => number = Math.random): number {
  const longest = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(tries, 20));
  return Math.round(longest * (0.5 + random() / 2));
}

/**
 * A worker's state while Redis rejects writes because its memory is full. From the first rejection on the worker takes no
 * job, tries a small write after increasing pauses, and goes on once Redis accepts one. Rejections in the meantime are
 * counted and not logged one by one.
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
    this.#probeKey = writeProbeKey(prefix);
    this.#logger = logger;
  }

  /** The error message of Redis, while it rejects writes. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** Calls `listener` whenever Redis becomes full. */
  onFull(listener: () => void): void {
    this.#onFull.push(listener);
  }

  /** Records an error. @returns whether a full Redis rejected a write; then the error needs no separate log line. */
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

  /** Resolves as soon as Redis accepts writes, or the worker stops. @throws the signal's reason when it is aborted. */
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

  /** Waits until a job may be taken. @returns false if the worker stops instead. */
  async mayTake(): Promise<boolean> {
    if (this.#reason === undefined) return !this.#stopping.signal.aborted;
    try {
      await this.untilWritable(this.#stopping.signal);
      return true;
    } catch {
      // Aborted: this wait fails for no other reason.
      return false;
    }
  }

  /** The worker stops: it takes no more jobs, while running jobs still wait to write. */
  stopTaking(): void {
    this.#stopping.abort();
  }

  /**
   * Writes something that must not be lost: after a rejection it waits and writes again. The write must be idempotent.
   * @throws the signal's reason when it is aborted; any other error of `write`.
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
      'Redis is full: the worker takes no job until Redis accepts writes again; raise maxmemory, or remove jobs (docs/redis.md)',
    );
    this.#suppressed = 0;
  }

  #tryLater(tries: number): void {
    this.#timer = setTimeout(() => {
      this.#client.set(this.#probeKey, '1', 'PX', PROBE_TTL_MS).then(
        () => {
          this.#logger.info({ refusals: this.#suppressed }, 'Redis accepts writes again; the worker goes on');
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
