import { workerData } from 'node:worker_threads';
import type { ContaminationCase } from '../contamination/contamination-judge.js';
import type { ContaminationResult } from '../contamination/types.js';
import { FleetContaminationJudge } from '../known/fleet-contamination-judge.js';
import { KnownStore } from '../known/known-store.js';
import { connectProducer } from '../queues/connection.js';
import type { ContaminationThreadData } from './contamination-threads.js';

const { redisUrl, prefix } = workerData as ContaminationThreadData;
let judge: Promise<FleetContaminationJudge> | undefined;

async function connect(): Promise<FleetContaminationJudge> {
  const client = await connectProducer(redisUrl);
  client.on('error', () => undefined);
  return new FleetContaminationJudge(new KnownStore(client, prefix));
}

/** A task of the thread: judges one output. The connection and the index are made at the first one. */
export default async function judgeInThread(given: ContaminationCase): Promise<ContaminationResult> {
  judge ??= connect().catch((thrown: unknown) => {
    judge = undefined;
    throw thrown;
  });
  return (await judge).judge(given);
}
