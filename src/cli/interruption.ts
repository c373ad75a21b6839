import { setMaxListeners } from 'node:events';

/** Signals that end a command, with the exit codes that shells know them by (128 and the signal's number). */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;
type StopSignal = keyof typeof EXIT_CODES;

/** Thrown out of a command that a signal ended, after it has cleaned up. */
export class Interrupted extends Error {
  readonly exitCode: number;

  constructor(signal: StopSignal) {
    super(`ended by ${signal}`);
    this.name = 'Interrupted';
    this.exitCode = EXIT_CODES[signal];
  }
}

/**
 * Does something that the first SIGINT or SIGTERM aborts, with an `Interrupted` as the signal's reason; what is done
 * then cleans up and throws it. A second one ends the process at once.
 */
export async function interruptible<T>(action: (interrupted: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  // All that is done at the same time listens: on a machine with many cores, more than Node.js takes for a leak.
  setMaxListeners(0, controller.signal);
  const listeners = (Object.keys(EXIT_CODES) as StopSignal[]).map((signal) => {
    const listener = () => {
      if (controller.signal.aborted) process.exit(EXIT_CODES[signal]);
      controller.abort(new Interrupted(signal));
    };
    process.on(signal, listener);
    return () => process.off(signal, listener);
  });
  try {
    return await action(controller.signal);
  } finally {
    for (const remove of listeners) remove();
  }
}
