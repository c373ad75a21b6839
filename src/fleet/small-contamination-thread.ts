import { workerData } from 'node:worker_threads';
import { SmallCaseJudge } from '../known/small-case-judge.js';
import { asRedisError } from '../queues/connection.js';
import type { ContaminationThreadData } from './contamination-threads.js';
import { storeOfThread } from './store-of-thread.js';
import { answering } from './thread-answer.js';

const store = storeOfThread(workerData as ContaminationThreadData);
let judge: SmallCaseJudge | undefined;

async function connected(): Promise<SmallCaseJudge> {
  judge ??= new SmallCaseJudge(await store());
  return judge;
}

/** Judges small cases; the others have no verdict here. */
export default answering(
  async (given: Parameters<SmallCaseJudge['judge']>[0]) => (await connected()).judge(given),
  connected,
  asRedisError,
);
