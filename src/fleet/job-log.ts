import type { Job } from 'bullmq';
import { redactErrorText } from '../config/redact.js';
import { messageOf } from '../errors.js';
import type { Logger } from './logger.js';
import type { ProcessingLog } from './process-job.js';

/** Longest line that is kept on a job, in characters. */
const MAX_LINE_LENGTH = 4_000;

/** How soon a step shows on its job, in milliseconds: what is over sooner, nobody could have seen. */
const STEP_SHOWN_MS = 50;

/**
 * Log lines and progress of one job: they go to the worker's log, and to the job itself. Nothing waits for that: they
 * go over the same connection as the job's end, and so come before it and in their order. What Redis did not take is
 * reported and does not stop the job.
 */
export class JobLog implements ProcessingLog {
  #shownStep: string | undefined;
  #lastStep: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly job: Job,
    private readonly logger: Logger,
    /** Whether an error was a refusal of a full Redis, which is logged once for all. */
    private readonly isFull: (thrown: unknown) => boolean = () => false,
  ) {}

  info(message: string): void {
    this.logger.info(message);
    this.#keep('INFO', message);
  }

  warn(message: string): void {
    this.logger.warn(message);
    this.#keep('WARN', message);
  }

  /** Shows on the job what it is doing, unless it has done so within a moment. */
  progress(step: string): void {
    this.logger.debug({ step }, 'progress');
    this.#lastStep = redactErrorText(step);
    this.#timer ??= setTimeout(showStep, STEP_SHOWN_MS, this);
  }

  /** Shows the last step at once: the job stops there. */
  stopped(): void {
    this.completed();
    if (this.#lastStep === undefined || this.#lastStep === this.#shownStep) return;
    this.#shownStep = this.#lastStep;
    this.#stored(this.job.updateProgress(this.#lastStep));
  }

  /** The job has done what it was to do: its last step need not be shown any more. */
  completed(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #keep(level: string, message: string): void {
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
