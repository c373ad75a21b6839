import { type Logger, pino } from 'pino';

export type { Logger } from 'pino';

/** A logger that writes JSON lines to standard error, so that standard output stays free for results. */
export function createLogger(level: string): Logger {
  return pino(
    {
      level,
      base: { pid: process.pid },
      redact: {
        paths: ['*.apiKey', '*.authorization', '*.password', 'apiKey', 'authorization'],
        remove: true,
      },
    },
    pino.destination({ dest: 2, sync: true }),
  );
}
