import { workerData } from 'node:worker_threads';
import { SmallCaseChecker } from '../known/small-case-checker.js';
import { asRedisError } from '../queues/redis-refusal.js';
import type { ContaminationThreadData } from './contamination-threads.js';
import { storeOfThread } from './store-of-thread.js';
import { answering, PING } from './thread-answer.js';

const store = storeOfThread(workerData as ContaminationThreadData);
let checker: SmallCaseChecker | undefined;

function connected(): SmallCaseChecker {
  checker ??= new SmallCaseChecker(store());
  return checker;
}

/** Checks small cases; it returns no result for others. */
export default answering(
  async (input: Parameters<SmallCaseChecker['check']>[0]) => connected().check(input),
  async () => connected(),
  asRedisError,
);

/** Whether the thread has called nearly all that it ever calls, after this task. */
export const isThorough = (task: Parameters<SmallCaseChecker['check']>[0] | typeof PING): boolean =>
  task !== PING;
