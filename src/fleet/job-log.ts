import type { Job } from 'bullmq';
import type { WorkLog } from '../agents/agent-runner.js';
import { messageOf } from '../errors.js';
import type { Logger } from './logger.js';

/** Longest line that is kept on a job, in characters. */
const LONGEST_LINE = 4_000;

export interface JobLog extends WorkLog {
  /** Shows on the job what it is doing. */
  readonly progress: (step: string) => void;
  /** Resolves when all lines so far are stored. */
  written(): Promise<void>;
}

/**
 * Log lines and progress of one job: they go to the worker's log and, one after the other so that they keep
 * their order, to the job itself. A line that Redis did not take is reported and does not stop the job.
 */
export function jobLog(job: Job, logger: Logger): JobLog {
  let last: Promise<unknown> = Promise.resolve();
  const store = (write: () => Promise<unknown>) => {
    last = last.then(write).catch((thrown: unknown) => {
      logger.warn({ reason: messageOf(thrown) }, 'a log line of the job could not be stored');
    });
  };
  const line = (level: 'info' | 'warn', message: string) => {
    logger[level](message);
    store(() => job.log(`${level.toUpperCase()} ${message.slice(0, LONGEST_LINE)}`));
  };
  return {
    info: (message) => line('info', message),
    warn: (message) => line('warn', message),
    progress: (step) => {
      logger.info({ step }, 'progress');
      store(() => job.updateProgress(step));
    },
    written: async () => {
      await last;
    },
  };
}
