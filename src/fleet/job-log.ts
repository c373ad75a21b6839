import type { Job } from 'bullmq';
import type { WorkLog } from '../agents/agent-runner.js';
import { messageOf } from '../errors.js';
import type { Logger } from './logger.js';

/** Longest line that is kept on a job, in characters. */
const LONGEST_LINE = 4_000;

/** How soon a step shows on its job, in milliseconds: what is over sooner, nobody could have seen. */
const STEP_SHOWN_MS = 50;

export interface JobLog extends WorkLog {
  /** Shows on the job what it is doing, unless it has done so within a moment. */
  readonly progress: (step: string) => void;
  /** Shows the last step at once: the job stops there. */
  stopped(): void;
  /** The job has done what it was to do: its last step need not be shown any more. */
  completed(): void;
}

/**
 * Log lines and progress of one job: they go to the worker's log, and to the job itself. Nothing waits for that: they
 * go over the same connection as the job's end, and so come before it and in their order. What Redis did not take is
 * reported and does not stop the job.
 */
export function jobLog(job: Job, logger: Logger): JobLog {
  let shownStep: string | undefined;
  let lastStep: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  const stored = (written: Promise<unknown>) => {
    written.catch((thrown: unknown) => {
      logger.warn({ reason: messageOf(thrown) }, 'a log line of the job could not be stored');
    });
  };
  const line = (level: 'info' | 'warn', message: string) => {
    logger[level](message);
    stored(job.log(`${level.toUpperCase()} ${message.slice(0, LONGEST_LINE)}`));
  };
  const forgetTimer = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  const show = () => {
    forgetTimer();
    if (lastStep === undefined || lastStep === shownStep) return;
    shownStep = lastStep;
    stored(job.updateProgress(lastStep));
  };
  return {
    info: (message) => line('info', message),
    warn: (message) => line('warn', message),
    progress: (step) => {
      logger.debug({ step }, 'progress');
      lastStep = step;
      timer ??= setTimeout(show, STEP_SHOWN_MS);
    },
    stopped: show,
    completed: forgetTimer,
  };
}
