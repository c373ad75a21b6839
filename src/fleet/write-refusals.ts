import type { Redis } from 'ioredis';
import { messageOf } from '../errors.js';
import { writeProbeKey } from '../queues/redis-keys.js';
import { refusalOf, saysFull } from '../queues/redis-refusal.js';
import type { Logger } from './logger.js';

/** Pauses between two attempts to write to a Redis that refuses, in milliseconds: the first, and the maximum. */
const FIRST_PAUSE_MS = 250;
/** A full Redis stays full until somebody makes room. Another refusal ends by itself, or when somebody mends its cause. */
const MAX_PAUSE_MS = { full: 30_000, refused: 2_000 };
/** How often a worker logs that Redis still refuses, in milliseconds. */
const LOG_MS = 60_000;
/** Time to live of the key that is written as a probe, in milliseconds. */
const PROBE_TTL_MS = 1_000;

/** Why Redis refuses writes, in its own words. */
interface Reason {
  readonly sentence: string;
  readonly kind: 'full' | 'refused';
}

/** What an error says about the server; errors of processors carry it as their cause. */
function reasonIn(thrown: unknown): Reason | undefined {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    if (saysFull(error)) return { kind: 'full', sentence: messageOf(error) };
    const sentence = refusalOf(error);
    if (sentence !== undefined) return { kind: 'refused', sentence };
  }
  return undefined;
}

/** The pause before attempt `tries` (from 0): doubled each time, with jitter, because all workers wait for the same event. */
function pauseMs(tries: number, kind: Reason['kind'], random: () => number = Math.random): number {
  const longest = Math.min(MAX_PAUSE_MS[kind], FIRST_PAUSE_MS * 2 ** Math.min(tries, 20));
  return Math.round(longest * (0.5 + random() / 2));
}

const LOGGED = {
  full: 'Redis is full: the worker takes no job until Redis accepts writes again; raise maxmemory, or remove jobs (docs/redis.md)',
  refused:
    'Redis refuses writes: the worker takes no job and keeps its answers until Redis accepts them again; the reason says what to mend (docs/redis.md)',
} as const satisfies Record<Reason['kind'], string>;

/**
 * A worker's state while Redis runs and refuses writes: its memory is full, it is a replica or cannot write to its disk, or it
 * does not take the worker. From the first refusal on the worker takes no job, tries a small write after increasing pauses,
 * and goes on once Redis accepts one. Refusals in the meantime are counted and not logged one by one.
 */
export class WriteRefusals {
  readonly #client: Redis;
  readonly #probeKey: string;
  readonly #logger: Logger;
  readonly #waiting = new Set<() => void>();
  readonly #onFull: (() => void)[] = [];
  #reason: Reason | undefined;
  #suppressed = 0;
  #loggedAt = 0;
  #endedAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  readonly #stopping = new AbortController();

  constructor(client: Redis, prefix: string, logger: Logger) {
    this.#client = client;
    this.#probeKey = writeProbeKey(prefix);
    this.#logger = logger;
  }

  /** The sentence of Redis, while it refuses writes. */
  get reason(): string | undefined {
    return this.#reason?.sentence;
  }

  /** Whether it refuses them because its memory is full. */
  get isFull(): boolean {
    return this.#reason?.kind === 'full';
  }

  /** When it last accepted writes again, as `performance.now()` counts. */
  get endedAt(): number {
    return this.#endedAt;
  }

  /** Calls `listener` whenever Redis becomes full. */
  onFull(listener: () => void): void {
    this.#onFull.push(listener);
  }

  /** Records an error. @returns whether Redis refused a write; then the error needs no separate log line. */
  noted(thrown: unknown): boolean {
    const reason = reasonIn(thrown);
    if (reason === undefined) return false;
    this.#suppressed += 1;
    if (this.#reason === undefined && !this.#stopped) {
      this.#reason = reason;
      this.#tryLater(0);
      if (reason.kind === 'full') for (const listener of this.#onFull) listener();
    }
    this.#log(reason);
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
   * Writes something that must not be lost: after a refusal it waits and writes again. The write must be idempotent.
   * @throws the signal's reason when it is aborted; any other error of `write`.
   */
  async persist<T>(write: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    for (;;) {
      try {
        return await write();
      } catch (thrown) {
        if (this.#stopped || !this.noted(thrown)) throw thrown;
        await this.untilWritable(signal);
      }
    }
  }

  /** The same for a write whose caller has its own way with a full memory: only other refusals are waited for. */
  async outlast<T>(write: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await write();
      } catch (thrown) {
        if (this.#stopped || refusalOf(thrown) === undefined) throw thrown;
        this.noted(thrown);
        await this.untilWritable();
      }
    }
  }

  stop(): void {
    this.stopTaking();
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#end();
  }

  #log({ kind, sentence }: Reason): void {
    const now = Date.now();
    if (now - this.#loggedAt < LOG_MS) return;
    this.#loggedAt = now;
    this.#logger.error({ reason: sentence, refusals: this.#suppressed }, LOGGED[kind]);
    this.#suppressed = 0;
  }

  #tryLater(tries: number): void {
    const pause = pauseMs(tries, this.#reason?.kind ?? 'refused');
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
          this.#reason = reasonIn(thrown) ?? this.#reason;
          this.#suppressed += 1;
          this.#tryLater(tries + 1);
        },
      );
    }, pause);
    this.#timer.unref();
  }

  #end(): void {
    if (this.#reason !== undefined) this.#endedAt = performance.now();
    this.#reason = undefined;
    for (const resume of [...this.#waiting]) resume();
  }
}
