import type { Worker as QueueWorker } from 'bullmq';
import type { KindName } from '../queues/registry.js';

/** Holds a job's slot while it only waits; gives what it waits for. */
export type Hold = <T>(waiting: Promise<T>) => Promise<T>;

export interface HeldSlotsOptions {
  /** Slots of each kind. */
  readonly concurrency: number;
  /** Makes another worker of a kind. */
  readonly startWorker: (kind: KindName, concurrency: number) => QueueWorker;
  /** A worker could not be turned on or off. */
  readonly onError: (thrown: unknown) => void;
}

/** Slots that are made up for at most, as a multiple of those of the kind: each waiting job holds its texts in memory. */
const MAX_EXTRA = 4;

/** The queue worker that makes up for held slots of one kind. */
interface Extra {
  readonly worker: QueueWorker;
  /** Whether it takes jobs. */
  isOn: boolean;
  /** Its changes, one after the other. */
  changes: Promise<void>;
}

/**
 * Makes up for the slots of jobs that wait for a long computation, and so for each other: a job of another tenant, or a short
 * one, must not wait for a slot because long ones hold them all. When half of a kind's slots are held, another queue worker
 * takes as many jobs as are held; when none is, it takes no more. It is not closed then: what it still runs counts among
 * the jobs that it may have, so that there are never more than `MAX_EXTRA` times the slots.
 */
export class HeldSlots {
  readonly #options: HeldSlotsOptions;
  readonly #held = new Map<KindName, number>();
  readonly #extra = new Map<KindName, Extra>();
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

  /** Workers that take jobs, or have taken some. */
  get workers(): readonly QueueWorker[] {
    return [...this.#extra.values()].map(({ worker }) => worker);
  }

  /** From now on no worker is started or goes on: whoever stops the fleet's worker closes them all. */
  stop(): void {
    this.#isStopped = true;
  }

  #count(kind: KindName, change: number): void {
    const held = (this.#held.get(kind) ?? 0) + change;
    this.#held.set(kind, held);
    if (this.#isStopped) return;
    const { concurrency, startWorker } = this.#options;
    const wanted = Math.min(held, concurrency * MAX_EXTRA);
    const extra = this.#extra.get(kind);
    if (extra === undefined) {
      if (held < concurrency / 2) return;
      const worker = startWorker(kind, wanted);
      this.#extra.set(kind, { worker, isOn: true, changes: Promise.resolve() });
      return;
    }
    if (held === 0) this.#turn(extra, false);
    else if (!extra.isOn && held < concurrency / 2) return;
    else {
      const takesMore = !extra.isOn || wanted > extra.worker.concurrency;
      extra.worker.concurrency = wanted;
      if (takesMore) this.#turn(extra, true);
    }
  }

  /**
   * Turns a worker on or off. One that is on is turned off before: while all its jobs run, nothing else makes it look
   * whether it may take more.
   */
  #turn(extra: Extra, isOn: boolean): void {
    extra.isOn = isOn;
    extra.changes = extra.changes
      .then(async () => {
        await extra.worker.pause(true);
        if (extra.isOn && !this.#isStopped) await extra.worker.resume();
      })
      .catch(this.#options.onError);
  }
}
