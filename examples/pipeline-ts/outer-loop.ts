import { addKnownSolutions, addRefinementLoop, type FleetClient } from '../../src/index.js';
import { CODER_QUEUE } from './coder.js';
import { conditions, EVALUATION_QUEUE, evaluate, TEST_CASE } from './evaluation.js';
import { readPython } from './python-files.js';
import type { Report } from './report.js';
import type { ScriptRuns } from './script-runs.js';

/** Maximum number of new blocks in one step. */
const ROUNDS = 4;

/**
 * The outer loop of MLE-STAR's Algorithm 2 (arXiv 2506.15692). Each step: what matters (an ablation study), then one job of
 * the fleet that does the rest. It chooses a block and a plan, gets new blocks from the coder, has each checked and evaluated,
 * and returns the best script.
 */
export async function refineSolution(
  fleet: FleetClient,
  runs: ScriptRuns,
  report: Report,
  steps: number,
): Promise<void> {
  const ablationCode = await readPython('ablation.py');
  await addKnownSolutions(fleet, [{ testCaseId: TEST_CASE, solution: await readPython('published.py') }]);
  const first = await evaluate(fleet, await readPython('solution.py'), { run: 'digits', step: '0' });
  report.start(first);
  let best: { readonly content: string; readonly score: number } = first;
  let previousBlocks: string[] = [];
  for (let step = 1; step <= steps; step += 1) {
    report.step(step, steps);
    const loop = await addRefinementLoop(fleet, {
      solution: { content: best.content },
      score: best.score,
      direction: 'higher',
      ablationCode,
      rawOutput: await runs.run(ablationCode, best.content),
      previousBlocks,
      rounds: ROUNDS,
      newBlock: { queue: CODER_QUEUE },
      evaluation: { queue: EVALUATION_QUEUE },
      ...(await conditions()),
      tags: { run: 'digits', step: String(step) },
    });
    const result = await loop.result();
    report.refined(result, best);
    best = { content: result.solution.content, score: result.score };
    previousBlocks = result.previousBlocks;
  }
  report.end(first.score, best.score);
}
