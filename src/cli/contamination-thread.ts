import { workerData } from 'node:worker_threads';
import type { ContaminationCase } from '../contamination/contamination-checker.js';
import { ContaminationDetector } from '../contamination/index.js';
import type { KnownSolution } from '../contamination/types.js';
import { answering, PING } from '../fleet/thread-answer.js';

let detector: Promise<ContaminationDetector> | undefined;

async function load(): Promise<ContaminationDetector> {
  const made = new ContaminationDetector();
  await made.loadTrainingSet(workerData as readonly KnownSolution[]);
  return made;
}

function loaded(): Promise<ContaminationDetector> {
  detector ??= load();
  return detector;
}

/** Checks outputs against the known solutions of a file, which are loaded before the first task. */
export default answering(
  async ({ output, testCase }: ContaminationCase) => (await loaded()).checkContamination(output, testCase),
  loaded,
);

/** Whether the thread has called nearly all that it ever calls, after this task. */
export const isThorough = (task: ContaminationCase | typeof PING): boolean => task !== PING;
