import { workerData } from 'node:worker_threads';
import { FleetContaminationChecker } from '../known/fleet-contamination-checker.js';
import { asRedisError } from '../queues/redis-refusal.js';
import type { ContaminationThreadData } from './contamination-threads.js';
import { storeOfThread } from './store-of-thread.js';
import { answering, PING } from './thread-answer.js';

const store = storeOfThread(workerData as ContaminationThreadData);
let checker: FleetContaminationChecker | undefined;

function connected(): FleetContaminationChecker {
  checker ??= new FleetContaminationChecker(store());
  return checker;
}

/** Checks any output, with an index of the whole known set that is built before the first task. */
export default answering(
  async (input: Parameters<FleetContaminationChecker['check']>[0]) => connected().check(input),
  async () => connected().prepare(),
  asRedisError,
);

/** Whether the thread has called nearly all that it ever calls, after this task. */
export const isThorough = (task: Parameters<FleetContaminationChecker['check']>[0] | typeof PING): boolean =>
  task !== PING;
