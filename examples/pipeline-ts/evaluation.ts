import { type Job, Worker } from 'bullmq';
import {
  addGuardedEvaluation,
  checkedSolution,
  type FleetClient,
  type SolutionCheckResult,
} from '../../src/index.js';
import { readPython } from './python-files.js';
import type { ScriptRuns } from './script-runs.js';

const QUEUE = 'evaluate';

/**
 * The evaluating side: a worker of the pipeline's own. It takes its script from the check alone, so that no script
 * is evaluated unchecked.
 */
export function startEvaluator(redisUrl: string, prefix: string, runs: ScriptRuns): Worker {
  const worker = new Worker(
    QUEUE,
    async (job: Job) => {
      const { solution } = await checkedSolution(job);
      return scoreIn(await runs.run(solution.content));
    },
    { connection: { url: redisUrl }, prefix },
  );
  worker.on('error', (error) => process.stderr.write(`evaluator: ${error.message}\n`));
  return worker;
}

/** A script that was checked and evaluated. */
export interface Scored {
  readonly check: SolutionCheckResult;
  /** Validation accuracy, 0 to 1. */
  readonly score: number;
}

/** A script without a score, and why it has none. */
export interface Unscored {
  readonly check?: SolutionCheckResult;
  readonly reason: string;
}

/** What an answer is compared with known solutions for. */
export const TEST_CASE = 'digits';

/**
 * Has a script checked and then evaluated. It is refused with a leak that cannot be corrected, and as a copy of a known
 * solution; what it shares with the first solution does not count, since everybody has that.
 */
export async function evaluate(
  fleet: FleetClient,
  content: string,
  tags: Readonly<Record<string, string>>,
): Promise<Scored | Unscored> {
  const handles = await addGuardedEvaluation(fleet, {
    solution: { content },
    evaluation: { queue: QUEUE, name: 'accuracy' },
    contamination: {
      testCase: {
        id: TEST_CASE,
        name: 'Digits',
        difficulty: 'hard',
        starter: await readPython('solution.py'),
      },
    },
    require: { leakage: ['clean', 'corrected'], contamination: 'clean' },
    tags,
  });
  const { result, error } = await handles.evaluation.wait();
  const checked = await handles.check.wait();
  if (checked.error !== undefined) return { reason: `it could not be checked: ${checked.error.message}` };
  const check = await handles.check.result();
  if (error === undefined) return { check, score: Number(result) };
  return {
    check,
    reason: error.message.replace(`evaluation job ${handles.evaluation.id}`, 'its evaluation'),
  };
}

function scoreIn(printed: string): number {
  const score = /^Final Validation Performance: ([0-9.]+)$/m.exec(printed)?.[1];
  if (score === undefined) throw new Error('the script printed no "Final Validation Performance"');
  return Number(score);
}
