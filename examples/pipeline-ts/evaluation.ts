import { type Job, Worker } from 'bullmq';
import { addGuardedEvaluation, checkedSolution, type FleetClient } from '../../src/index.js';
import { readPython } from './python-files.js';
import type { ScriptRuns } from './script-runs.js';

export const EVALUATION_QUEUE = 'evaluate';

/**
 * The evaluating side: a worker of the pipeline's own. It takes its script from the check alone, so that no script
 * is evaluated unchecked.
 */
export function startEvaluator(redisUrl: string, prefix: string, runs: ScriptRuns): Worker {
  const worker = new Worker(
    EVALUATION_QUEUE,
    async (job: Job) => {
      const { solution } = await checkedSolution(job);
      return scoreIn(await runs.run(solution.content));
    },
    { connection: { url: redisUrl }, prefix },
  );
  worker.on('error', (error) => process.stderr.write(`evaluator: ${error.message}\n`));
  return worker;
}

/** What an answer is compared with known solutions for. */
export const TEST_CASE = 'digits';

/**
 * A corrected script is checked once more. A script is refused with a leak that cannot be corrected, and as a copy of a known solution; what it shares with the first
 * solution does not count, since everybody has that.
 */
export async function conditions() {
  const starter = await readPython('solution.py');
  return {
    verify: 'agent',
    contamination: { testCase: { id: TEST_CASE, name: 'Digits', difficulty: 'hard', starter } },
    require: { leakage: ['clean', 'corrected'], contamination: 'clean' },
  } as const;
}

/** A script that was checked and evaluated. */
export interface Scored {
  readonly content: string;
  readonly status: string;
  /** Validation accuracy, 0 to 1. */
  readonly score: number;
}

/** Has a script checked and then evaluated. */
export async function evaluate(
  fleet: FleetClient,
  content: string,
  tags: Readonly<Record<string, string>>,
): Promise<Scored> {
  const { evaluation, check } = await addGuardedEvaluation(fleet, {
    solution: { content },
    evaluation: { queue: EVALUATION_QUEUE, name: 'accuracy' },
    ...(await conditions()),
    tags,
  });
  const score = Number(await evaluation.returned());
  const { solution, status } = await check.result();
  return { content: solution.content, status, score };
}

function scoreIn(printed: string): number {
  const score = /^Final Validation Performance: ([0-9.]+)$/m.exec(printed)?.[1];
  if (score === undefined) throw new Error('the script printed no "Final Validation Performance"');
  return Number(score);
}
