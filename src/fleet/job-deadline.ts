import { JobError } from '../errors.js';
import { ABORT_REASONS, type AbortReason } from './abort-reasons.js';

/** How long a job may run. */
export interface JobLimits {
  /** Maximum duration of an attempt in milliseconds; it is then aborted. */
  readonly timeoutMs: number;
  /** How long a job may run after its abort, in milliseconds; its slot is then freed. */
  readonly graceMs: number;
}

export const DEFAULT_JOB_LIMITS: JobLimits = { timeoutMs: 14_400_000, graceMs: 10_000 };

/** A handler that the job waits for. */
interface Awaited {
  /** Ends the wait, not the handler. */
  readonly abandon: (reason: JobError) => void;
  /** When the job was aborted, by `performance.now()`. */
  abortedAt?: number;
  grace?: NodeJS.Timeout;
  /** Whether it was abandoned. */
  late?: boolean;
}

/**
 * The time limit of a job: aborts a handler when its time is over, and abandons one that ignores the abort, so it cannot
 * occupy a slot forever.
 */
export class JobDeadline {
  /** Aborted when the job has to stop for any reason. */
  readonly signal: AbortSignal;
  readonly #stop = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #awaited: Awaited | undefined;

  constructor(private readonly limits: JobLimits) {
    this.signal = this.#stop.signal;
    // If Redis is gone the job may never be released. Its timer must not keep the process alive for hours.
    this.#timer = setTimeout(timeIsOver, limits.timeoutMs, this).unref();
  }

  /** Aborts the job, unless it is already aborted. */
  stop(reason: AbortReason): void {
    if (this.signal.aborted) return;
    this.#stop.abort(reason);
    if (this.#awaited !== undefined) this.#beginGrace(this.#awaited);
  }

  /**
   * Waits for a handler within the limits.
   * @param onLate Called when an abandoned handler ends after all, with the milliseconds since its abort.
   * @throws JobError `handler-ignored-abort`; whatever the handler throws.
   */
  guard<T>(handler: Promise<T>, onLate: (ms: number) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const awaited: Awaited = { abandon: reject };
      const ended = () => {
        this.#awaited = undefined;
        clearTimeout(awaited.grace);
        if (awaited.late) onLate(Math.round(performance.now() - (awaited.abortedAt ?? 0)));
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
    awaited.abortedAt = performance.now();
    awaited.grace = setTimeout(() => {
      awaited.late = true;
      const { graceMs } = this.limits;
      const why = String(this.signal.reason);
      awaited.abandon(
        new JobError(
          'handler-ignored-abort',
          `the handler ignored its abort: it was aborted (${why}) and still ran ${graceMs} ms later`,
        ),
      );
    }, this.limits.graceMs);
  }
}

function timeIsOver(deadline: JobDeadline): void {
  deadline.stop(ABORT_REASONS.timeout);
}
