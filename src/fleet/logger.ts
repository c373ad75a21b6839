import { type Logger, pino } from 'pino';
import { redactErrorText } from '../config/redact.js';

export type { Logger } from 'pino';

/**
 * Bytes that are written together; a line each would cost a worker more than the rest of a small job. Four times as many
 * were measured to cost twice as much a line: the lines are kept as one growing text until they are written.
 */
const TOGETHER_BYTES = 4_096;

/** How long a line waits for others at most, in milliseconds. */
const MAX_WAIT_MS = 100;

/**
 * Where lines go: several at a time, and what is left at the end of the process, however it comes to end by itself. Of a
 * process that is killed the lines of the last tenth of a second are lost.
 */
export function logDestination(fileDescriptor: number): ReturnType<typeof pino.destination> {
  return pino.destination({
    dest: fileDescriptor,
    sync: false,
    minLength: TOGETHER_BYTES,
    periodicFlush: MAX_WAIT_MS,
  });
}

/** A logger that writes JSON lines to standard error, so that standard output stays free for results. */
export function createLogger(level: string): Logger {
  return pino(
    {
      level,
      base: { pid: process.pid },
      // Whatever a line holds, stack traces of libraries included, leaves its secrets behind.
      hooks: { streamWrite: redactErrorText },
      redact: {
        paths: ['*.apiKey', '*.authorization', '*.password', 'apiKey', 'authorization'],
        remove: true,
      },
    },
    logDestination(2),
  );
}
