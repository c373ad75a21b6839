import { JobError } from '../errors.js';
import { ABORT_REASONS, type AbortReason } from './abort-reasons.js';

/** How long a job may run. */
export interface JobLimits {
  /** Longest run of a job in milliseconds; it is then told to stop. */
  readonly timeoutMs: number;
  /** How long a job that was told to stop may take to do so, in milliseconds; its slot is then freed without it. */
  readonly graceMs: number;
}

export const DEFAULT_JOB_LIMITS: JobLimits = { timeoutMs: 14_400_000, graceMs: 10_000 };

/** A handler that is waited for. */
interface Awaited {
  /** Ends the waiting, not the handler. */
  readonly letGo: (reason: JobError) => void;
  /** When the job was told to stop, by `performance.now()`. */
  toldAt?: number;
  grace?: NodeJS.Timeout;
  /** Whether it was let go of. */
  late?: boolean;
}

/**
 * The end of a job's patience: tells a handler to stop when its time is over, and lets go of one that was told to stop
 * and does not, so that it cannot keep a slot for ever.
 */
export class JobDeadline {
  /** Aborted when the job is to stop, for whatever reason. */
  readonly signal: AbortSignal;
  readonly #stop = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #awaited: Awaited | undefined;

  constructor(private readonly limits: JobLimits) {
    this.signal = this.#stop.signal;
    // A job whose Redis is gone may never be released. Its timer must not keep the process alive for hours.
    this.#timer = setTimeout(timeIsOver, limits.timeoutMs, this).unref();
  }

  /** Tells the job to stop, unless it was told so before. */
  stop(reason: AbortReason): void {
    if (this.signal.aborted) return;
    this.#stop.abort(reason);
    if (this.#awaited !== undefined) this.#beginGrace(this.#awaited);
  }

  /**
   * Waits for a handler as long as it may take.
   * @param onLate Called when a handler that was let go of ends after all, with the milliseconds since it was told to.
   * @throws JobError `handler-ignored-abort`; whatever the handler throws.
   */
  guard<T>(handler: Promise<T>, onLate: (ms: number) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const awaited: Awaited = { letGo: reject };
      const ended = () => {
        this.#awaited = undefined;
        clearTimeout(awaited.grace);
        if (awaited.late) onLate(Math.round(performance.now() - (awaited.toldAt ?? 0)));
      };
      handler.then(
        (value) => {
          ended();
          resolve(value);
        },
        (thrown: unknown) => {
          ended();
          reject(thrown);
        },
      );
      this.#awaited = awaited;
      if (this.signal.aborted) this.#beginGrace(awaited);
    });
  }

  release(): void {
    clearTimeout(this.#timer);
  }

  #beginGrace(awaited: Awaited): void {
    awaited.toldAt = performance.now();
    awaited.grace = setTimeout(() => {
      awaited.late = true;
      const { graceMs } = this.limits;
      const why = String(this.signal.reason);
      awaited.letGo(
        new JobError(
          'handler-ignored-abort',
          `the handler ignored its abort: it was told to stop (${why}) and still ran ${graceMs} ms later`,
        ),
      );
    }, this.limits.graceMs);
  }
}

function timeIsOver(deadline: JobDeadline): void {
  deadline.stop(ABORT_REASONS.timeout);
}
