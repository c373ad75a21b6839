import type { Worker as QueueWorker } from 'bullmq';

/** Counts a job's slot as idle until the promise settles; returns its result. */
export type TrackWait = <T>(waiting: Promise<T>) => Promise<T>;

export interface ExtraSlotsOptions {
  /** Slots of each kind. */
  readonly concurrency: number;
  /** Makes another worker of a kind. */
  readonly startWorker: (kind: string, concurrency: number) => QueueWorker;
  /** Called if a worker could not be paused or resumed. */
  readonly onError: (thrown: unknown) => void;
}

/** Maximum number of extra slots, as a multiple of the kind's slots: each waiting job keeps its texts in memory. */
const MAX_EXTRA = 4;

/** The extra queue worker of one kind. */
interface Extra {
  readonly worker: QueueWorker;
  /** Whether it takes jobs. */
  isOn: boolean;
  /** Its changes, one after the other. */
  changes: Promise<void>;
}

/**
 * Provides extra slots while jobs wait for a long computation, and therefore for each other: a job of another tenant, or a
 * short one, must not wait because long ones occupy all slots. When half of a kind's slots are idle, an extra queue worker
 * takes as many jobs as there are idle slots; when none is idle, it takes no more. It is not closed then: the jobs that it
 * still runs count toward its concurrency, so there are never more than `MAX_EXTRA` times the slots.
 */
export class ExtraSlots {
  readonly #options: ExtraSlotsOptions;
  readonly #idle = new Map<string, number>();
  readonly #extra = new Map<string, Extra>();
  #isStopped = false;

  constructor(options: ExtraSlotsOptions) {
    this.#options = options;
  }

  /** Tracks the waits of one job: its slot counts once, even if the job waits for several things at the same time. */
  ofJob(kind: string): TrackWait {
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

  /** From now on no worker is started or resumed: `FleetWorker.stop` closes them all. */
  stop(): void {
    this.#isStopped = true;
  }

  #count(kind: string, change: number): void {
    const idle = (this.#idle.get(kind) ?? 0) + change;
    this.#idle.set(kind, idle);
    if (this.#isStopped) return;
    const { concurrency, startWorker } = this.#options;
    const wanted = Math.min(idle, concurrency * MAX_EXTRA);
    const extra = this.#extra.get(kind);
    if (extra === undefined) {
      if (idle < concurrency / 2) return;
      const worker = startWorker(kind, wanted);
      this.#extra.set(kind, { worker, isOn: true, changes: Promise.resolve() });
      return;
    }
    if (idle === 0) this.#switch(extra, false);
    else if (!extra.isOn && idle < concurrency / 2) return;
    else {
      const takesMore = !extra.isOn || wanted > extra.worker.concurrency;
      extra.worker.concurrency = wanted;
      if (takesMore) this.#switch(extra, true);
    }
  }

  /**
   * Resumes or pauses a worker. It is always paused first: while all its jobs run, nothing else makes it notice a higher
   * concurrency.
   */
  #switch(extra: Extra, isOn: boolean): void {
    extra.isOn = isOn;
    extra.changes = extra.changes
      .then(async () => {
        await extra.worker.pause(true);
        if (extra.isOn && !this.#isStopped) await extra.worker.resume();
      })
      .catch(this.#options.onError);
  }
}
