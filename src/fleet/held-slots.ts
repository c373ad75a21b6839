import type { Worker as QueueWorker } from 'bullmq';
import type { KindName } from '../queues/registry.js';

/** Holds a job's slot while it only waits; gives what it waits for. */
export type Hold = <T>(waiting: Promise<T>) => Promise<T>;

export interface HeldSlotsOptions {
  /** Slots of each kind. */
  readonly concurrency: number;
  /** Makes another worker of a kind. */
  readonly startWorker: (kind: KindName, concurrency: number) => QueueWorker;
  /** A worker that is no longer needed could not be closed. */
  readonly onError: (thrown: unknown) => void;
}

/** Slots that are made up for at most, as a multiple of those of the kind: each waiting job holds its texts in memory. */
const MAX_EXTRA = 4;

/**
 * Makes up for the slots of jobs that wait for a long computation, and so for each other: a job of another tenant, or a short
 * one, must not wait for a slot because long ones hold them all. When half of a kind's slots are held, another queue worker
 * takes as many jobs as are held; when none is, it is closed.
 */
export class HeldSlots {
  readonly #options: HeldSlotsOptions;
  readonly #held = new Map<KindName, number>();
  readonly #extra = new Map<KindName, QueueWorker>();
  readonly #closing = new Set<QueueWorker>();
  #isStopped = false;

  constructor(options: HeldSlotsOptions) {
    this.#options = options;
  }

  /** What one job holds its slot with: the slot counts once, whatever the job waits for at the same time. */
  ofJob(kind: KindName): Hold {
    let waits = 0;
    return async (waiting) => {
      waits += 1;
      if (waits === 1) this.#count(kind, 1);
      try {
        return await waiting;
      } finally {
        waits -= 1;
        if (waits === 0) this.#count(kind, -1);
      }
    };
  }

  /** Workers that take jobs, or have not ended yet. */
  get workers(): readonly QueueWorker[] {
    return [...this.#extra.values(), ...this.#closing];
  }

  /** From now on no worker is started or closed: whoever stops the fleet's worker closes them all. */
  stop(): void {
    this.#isStopped = true;
  }

  #count(kind: KindName, change: number): void {
    const held = (this.#held.get(kind) ?? 0) + change;
    this.#held.set(kind, held);
    if (this.#isStopped) return;
    const { concurrency, startWorker } = this.#options;
    const extra = this.#extra.get(kind);
    const wanted = Math.min(held, concurrency * MAX_EXTRA);
    if (held === 0) this.#close(kind);
    else if (extra !== undefined) extra.concurrency = wanted;
    else if (held >= concurrency / 2) this.#extra.set(kind, startWorker(kind, wanted));
  }

  #close(kind: KindName): void {
    const extra = this.#extra.get(kind);
    if (extra === undefined) return;
    this.#extra.delete(kind);
    this.#closing.add(extra);
    extra
      .close()
      .catch(this.#options.onError)
      .finally(() => this.#closing.delete(extra));
  }
}
