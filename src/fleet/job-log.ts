import type { Job } from 'bullmq';
import { redactErrorText } from '../config/redact.js';
import { messageOf } from '../errors.js';
import type { Logger } from './logger.js';
import type { ProcessingLog } from './process-job.js';

/** Maximum length of a line that is stored on a job, in characters. */
const MAX_LINE_LENGTH = 4_000;

/** Delay before a step is written to its job, in milliseconds: users could not see a shorter one. */
const STEP_SHOWN_MS = 50;

/**
 * Log lines and progress of one job: they go to the worker's log and to the job. The job does not wait for the writes: they
 * use the same connection as the job's end, so they arrive before it and in order. A failed write is logged and does not
 * stop the job.
 */
export class JobLog implements ProcessingLog {
  #shownStep: string | undefined;
  #lastStep: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly job: Job,
    private readonly logger: Logger,
    /** Whether a full Redis rejected the write, which is logged once for all jobs. */
    private readonly isFull: (thrown: unknown) => boolean = () => false,
  ) {}

  info(message: string): void {
    this.logger.info(message);
    this.#append('INFO', message);
  }

  warn(message: string): void {
    this.logger.warn(message);
    this.#append('WARN', message);
  }

  /** Writes the current step to the job, unless the step ends within a moment. */
  progress(step: string): void {
    this.logger.debug({ step }, 'progress');
    this.#lastStep = redactErrorText(step);
    this.#timer ??= setTimeout(showStep, STEP_SHOWN_MS, this);
  }

  /** Writes the last step at once: the job stops there. */
  stopped(): void {
    this.completed();
    if (this.#lastStep === undefined || this.#lastStep === this.#shownStep) return;
    this.#shownStep = this.#lastStep;
    this.#stored(this.job.updateProgress(this.#lastStep));
  }

  /** The job is complete: its last step need not be written any more. */
  completed(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #append(level: string, message: string): void {
    this.#stored(this.job.log(`${level} ${redactErrorText(message).slice(0, MAX_LINE_LENGTH)}`));
  }

  #stored(written: Promise<unknown>): void {
    written.catch((thrown: unknown) => {
      if (this.isFull(thrown)) return;
      this.logger.warn({ reason: messageOf(thrown) }, 'a log line of the job could not be stored');
    });
  }
}

function showStep(log: JobLog): void {
  log.stopped();
}
