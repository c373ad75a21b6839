import { setTimeout as wait } from 'node:timers/promises';
import { threadId, workerData } from 'node:worker_threads';
import { answering } from '../../src/fleet/thread-answer.js';

export interface TestThreadData {
  /** Fails as soon as the module is loaded. */
  readonly isBroken?: boolean;
  readonly startMs?: number;
}

const { isBroken = false, startMs = 0 } = (workerData ?? {}) as TestThreadData;
if (isBroken) throw new Error('this thread does not start');

/** A task: how long the thread is busy, in milliseconds. The result is the same number; for 0, the id of the thread. */
export default answering(
  async (busyMs: number) => {
    const end = performance.now() + busyMs;
    while (performance.now() < end);
    return busyMs === 0 ? threadId : busyMs;
  },
  () => wait(startMs),
);
