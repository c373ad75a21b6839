import { type Logger, pino } from 'pino';
import { redactErrorText } from '../config/redact.js';

export type { Logger } from 'pino';

/**
 * Bytes that are written together: a write for each line would cost a worker more than the rest of a small job. With four
 * times as many, each line was measured to cost twice as much, because the lines are buffered as one growing text.
 */
const TOGETHER_BYTES = 4_096;

/** Maximum time that a line waits for others, in milliseconds. */
const MAX_WAIT_MS = 100;

/**
 * The destination of lines: it writes several at a time, and the rest when the process exits. If the process is killed, the
 * lines of the last tenth of a second are lost.
 */
export function logDestination(fileDescriptor: number): ReturnType<typeof pino.destination> {
  return pino.destination({
    dest: fileDescriptor,
    sync: false,
    minLength: TOGETHER_BYTES,
    periodicFlush: MAX_WAIT_MS,
  });
}

/** A logger that writes JSON lines to standard error; standard output is for results. */
export function createLogger(level: string): Logger {
  return pino(
    {
      level,
      base: { pid: process.pid },
      // Secrets are removed from the whole line, including stack traces of libraries.
      hooks: { streamWrite: redactErrorText },
      redact: {
        paths: ['*.apiKey', '*.authorization', '*.password', 'apiKey', 'authorization'],
        remove: true,
      },
    },
    logDestination(2),
  );
}
