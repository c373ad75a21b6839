import { setTimeout as wait } from 'node:timers/promises';
import { isOutage } from '../queues/redis-refusal.js';

/** Pause before work is tried again, and how long it is tried again, in milliseconds. */
const PAUSE_MS = 200;
const MAX_OUTAGE_MS = 60_000;

/**
 * Does work that may be done again, until no outage of Redis interferes. Work that submits needs a key for that: the reply
 * to a submission can be lost with the connection.
 * @throws what the work throws, an outage only if it lasts longer than a minute; AbortError once the signal is aborted.
 */
export async function throughOutage<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  let firstFailure: number | undefined;
  for (;;) {
    try {
      return await work();
    } catch (thrown) {
      const now = performance.now();
      firstFailure ??= now;
      if (!isOutage(thrown) || now - firstFailure > MAX_OUTAGE_MS) throw thrown;
      await wait(PAUSE_MS, undefined, { signal });
    }
  }
}
