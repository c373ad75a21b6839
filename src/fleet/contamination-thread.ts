import { workerData } from 'node:worker_threads';
import { FleetContaminationJudge } from '../known/fleet-contamination-judge.js';
import { asRedisError } from '../queues/connection.js';
import type { ContaminationThreadData } from './contamination-threads.js';
import { storeOfThread } from './store-of-thread.js';
import { answering } from './thread-answer.js';

const store = storeOfThread(workerData as ContaminationThreadData);
let judge: FleetContaminationJudge | undefined;

async function connected(): Promise<FleetContaminationJudge> {
  judge ??= new FleetContaminationJudge(await store());
  return judge;
}

/** Judges any output, against an index of the whole known set, which is made before the first task. */
export default answering(
  async (given: Parameters<FleetContaminationJudge['judge']>[0]) => (await connected()).judge(given),
  async () => (await connected()).prepare(),
  asRedisError,
);
