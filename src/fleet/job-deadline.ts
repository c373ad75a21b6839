import { JobError } from '../errors.js';
import { ABORT_REASONS } from './abort-reasons.js';

/** How long a job may run. */
export interface JobLimits {
  /** Longest run of a job in milliseconds; it is then told to stop. */
  readonly timeoutMs: number;
  /** How long a job that was told to stop may take to do so, in milliseconds; its slot is then freed without it. */
  readonly graceMs: number;
}

export const DEFAULT_JOB_LIMITS: JobLimits = { timeoutMs: 14_400_000, graceMs: 10_000 };

/**
 * The end of a job's patience: tells a handler to stop when its time is over, and lets go of one that was told to stop
 * and does not, so that it cannot keep a slot for ever.
 */
export class JobDeadline {
  /** Aborted when the job is to stop, for whatever reason. */
  readonly signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  readonly #letGo: () => void;

  constructor(
    signal: AbortSignal,
    private readonly limits: JobLimits,
  ) {
    const stop = new AbortController();
    this.signal = stop.signal;
    this.#timer = setTimeout(() => stop.abort(ABORT_REASONS.timeout), limits.timeoutMs);
    // `AbortSignal.any` does this as well, at many times the price.
    const pass = () => stop.abort(signal.reason);
    this.#letGo = () => signal.removeEventListener('abort', pass);
    if (signal.aborted) pass();
    else signal.addEventListener('abort', pass, { once: true });
  }

  /**
   * Waits for a handler as long as it may take.
   * @param onLate Called when a handler that was let go of ends after all, with the milliseconds since it was told to.
   * @throws JobError `handler-ignored-abort`; whatever the handler throws.
   */
  async guard<T>(handler: Promise<T>, onLate: (ms: number) => void): Promise<T> {
    let grace: NodeJS.Timeout | undefined;
    let letGo = false;
    let toldAt = 0;
    const ended = () => {
      if (letGo) onLate(Math.round(performance.now() - toldAt));
    };
    handler.then(ended, ended);
    let begin: (() => void) | undefined;
    const ignored = new Promise<never>((_, reject) => {
      begin = () => {
        toldAt = performance.now();
        grace = setTimeout(() => {
          letGo = true;
          const { graceMs } = this.limits;
          const why = String(this.signal.reason);
          reject(
            new JobError(
              'handler-ignored-abort',
              `the handler ignored its abort: it was told to stop (${why}) and still ran ${graceMs} ms later`,
            ),
          );
        }, this.limits.graceMs);
      };
      if (this.signal.aborted) begin();
      else this.signal.addEventListener('abort', begin, { once: true });
    });
    try {
      return await Promise.race([handler, ignored]);
    } finally {
      clearTimeout(grace);
      if (begin !== undefined) this.signal.removeEventListener('abort', begin);
    }
  }

  release(): void {
    clearTimeout(this.#timer);
    this.#letGo();
  }
}
