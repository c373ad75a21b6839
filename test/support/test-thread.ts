import { setTimeout as wait } from 'node:timers/promises';
import { threadId, workerData } from 'node:worker_threads';
import { answering } from '../../src/fleet/thread-answer.js';
import { threadMs } from '../../src/processor-time.js';

export interface TestThreadData {
  /** Fails as soon as the module is loaded. */
  readonly isBroken?: boolean;
  readonly startMs?: number;
}

const { isBroken = false, startMs = 0 } = (workerData ?? {}) as TestThreadData;
if (isBroken) throw new Error('this thread does not start');

/** Processor time, so that the machine's other work makes no difference; the clock where the system does not tell. */
const computedMs = () => threadMs() ?? performance.now();

/**
 * A task: how long the thread computes, in milliseconds; a negative number, how long it waits as it does without a
 * processor. The result is the same number; for 0, the id of the thread.
 */
export default answering(
  async (busyMs: number) => {
    if (busyMs < 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, -busyMs);
    const end = computedMs() + busyMs;
    while (computedMs() < end);
    return busyMs === 0 ? threadId : busyMs;
  },
  () => wait(startMs),
);
