import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { sweepReservations } from '../calls/budget/sweep-reservations.js';
import { messageOf } from '../errors.js';
import { PAYLOAD_GRACE_MS, sweepPayloads } from '../payloads/sweep-payloads.js';
import { forgetEmptyQueues } from '../queues/pipeline-queues.js';
import { housekeepingKey } from '../queues/redis-keys.js';
import { saysFull } from '../queues/redis-refusal.js';
import { runScript, script } from '../queues/run-script.js';
import type { Logger } from './logger.js';
import type { WriteRefusals } from './write-refusals.js';

/** How often reservations of dead workers and stored texts without a job are removed, in milliseconds. */
const HOUSEKEEPING_MS = 600_000;
/** The same while Redis is full, in milliseconds. */
const FULL_HOUSEKEEPING_MS = 30_000;
/** Grace for stored texts without a job while Redis is full, in milliseconds. */
const FULL_GRACE_MS = 60_000;
/** How long events are stored while Redis is full, in milliseconds: waiting callers have already received older ones. */
const FULL_EVENTS_MS = 10_000;
/** Maximum number of jobs that are removed at once. */
const MAX_REMOVED = 1_000;
const MS_A_DAY = 86_400_000;

/**
 * Takes the lease of the work. It is not released but expires, so the work is done once per interval. A full Redis accepts
 * a script whose first write needs no memory.
 * KEYS: 1 lease. ARGV: 1 ms. Returns 1, or 0 if another worker has it.
 */
const TAKE_LEASE = script(`
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[1], '1', 'PX', ARGV[1])
return 1`);

export interface HousekeepingOptions {
  readonly intervalMs?: number;
  /** Whether Redis rejects writes: then the work is done at once and more often, and removes more. */
  readonly refusals?: Pick<WriteRefusals, 'isFull' | 'onFull'>;
  /** How long finished jobs are stored, in days; default: only BullMQ removes them. */
  readonly retentionDays?: number;
  /** Grace for stored texts without a job while Redis is full, in milliseconds. */
  readonly fullGraceMs?: number;
}

/** Periodic work that only one worker of the fleet does at a time. */
export class Housekeeping {
  readonly #timers: NodeJS.Timeout[];
  readonly #stopped = new AbortController();
  readonly #intervalMs: number;
  #running: Promise<void> = Promise.resolve();

  constructor(
    private readonly client: Redis,
    private readonly prefix: string,
    /** The kinds whose queues it cleans up. */
    private readonly kinds: readonly string[],
    private readonly logger: Logger,
    private readonly options: HousekeepingOptions = {},
  ) {
    this.#intervalMs = options.intervalMs ?? HOUSEKEEPING_MS;
    const whenFull = () => {
      if (options.refusals?.isFull === true) this.#enqueue(FULL_HOUSEKEEPING_MS);
    };
    this.#timers = [
      setInterval(() => this.#enqueue(this.#intervalMs), this.#intervalMs),
      setInterval(whenFull, FULL_HOUSEKEEPING_MS),
    ];
    for (const timer of this.#timers) timer.unref();
    options.refusals?.onFull(whenFull);
  }

  /** Starts no more work, and waits for the current work to end. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#stopped.abort();
    await this.#running;
  }

  #enqueue(leaseMs: number): void {
    this.#running = this.#running.then(() => this.#runLeased(leaseMs));
  }

  async #runLeased(leaseMs: number): Promise<void> {
    if (this.#stopped.signal.aborted || this.client.status !== 'ready') return;
    const isFull = this.options.refusals?.isFull === true;
    // A full Redis has a separate lease: the usual work of a few minutes ago does not count.
    const lease = `${housekeepingKey(this.prefix)}${isFull ? ':full' : ''}`;
    try {
      if ((await runScript(this.client, TAKE_LEASE, [lease], [leaseMs])) === 0) return;
    } catch (thrown) {
      this.#failed(thrown);
      return;
    }
    // Removals come first: they make room for the rest.
    if (isFull) {
      await this.#step(() => this.#removeExpired());
      await this.#step(() => this.#trimEvents());
    }
    await this.#step(() => this.#sweepTexts(isFull));
    await this.#step(async () => void (await forgetEmptyQueues(this.client, this.prefix)));
    await this.#step(async () => void (await sweepReservations(this.client, this.prefix)));
  }

  /** Runs one part of the work; its failure does not stop the others. */
  async #step(work: () => Promise<void>): Promise<void> {
    if (this.#stopped.signal.aborted) return;
    await work().catch((thrown: unknown) => this.#failed(thrown));
  }

  #failed(thrown: unknown): void {
    this.logger.warn({ reason: messageOf(thrown) }, 'a part of the housekeeping failed');
  }

  async #sweepTexts(isFull: boolean): Promise<void> {
    const graceMs = isFull ? (this.options.fullGraceMs ?? FULL_GRACE_MS) : PAYLOAD_GRACE_MS;
    const swept = await sweepPayloads(this.client, this.prefix, { graceMs, signal: this.#stopped.signal });
    if (swept.length > 0)
      this.logger.info({ texts: swept.length }, 'stored texts without a job were removed');
  }

  /** BullMQ removes expired jobs only when another job ends, and with a full Redis none may end. */
  async #removeExpired(): Promise<void> {
    const { retentionDays } = this.options;
    if (retentionDays === undefined) return;
    let removed = 0;
    for (const kind of this.kinds) {
      const queue = new Queue(kind, {
        connection: this.client,
        prefix: this.prefix,
        skipMetasUpdate: true,
      });
      try {
        for (const state of ['completed', 'failed'] as const) {
          const expired = queue.clean(retentionDays * MS_A_DAY, MAX_REMOVED, state).catch(noneWhenFull);
          removed += (await expired).length;
        }
      } finally {
        await queue.close();
      }
    }
    if (removed > 0) this.logger.info({ jobs: removed }, 'expired jobs were removed');
  }

  async #trimEvents(): Promise<void> {
    const since = Date.now() - FULL_EVENTS_MS;
    for (const kind of this.kinds) {
      await this.client.xtrim(`${this.prefix}:${kind}:events`, 'MINID', since);
    }
  }
}

/** If there is no job to remove, BullMQ's script starts with an event, which a full Redis rejects. */
function noneWhenFull(thrown: unknown): string[] {
  if (saysFull(thrown)) return [];
  throw thrown;
}
