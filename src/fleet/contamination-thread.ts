import { workerData } from 'node:worker_threads';
import { FleetContaminationChecker } from '../known/fleet-contamination-checker.js';
import { asRedisError } from '../queues/connection.js';
import type { ContaminationThreadData } from './contamination-threads.js';
import { storeOfThread } from './store-of-thread.js';
import { answering } from './thread-answer.js';

const store = storeOfThread(workerData as ContaminationThreadData);
let checker: FleetContaminationChecker | undefined;

async function connected(): Promise<FleetContaminationChecker> {
  checker ??= new FleetContaminationChecker(await store());
  return checker;
}

/** Checks any output, with an index of the whole known set that is built before the first task. */
export default answering(
  async (input: Parameters<FleetContaminationChecker['check']>[0]) => (await connected()).check(input),
  async () => (await connected()).prepare(),
  asRedisError,
);
