import { addKnownSolutions, addRefinementStep, type FleetClient, replaceBlock } from '../../src/index.js';
import { evaluate, type Scored, TEST_CASE } from './evaluation.js';
import { readPython } from './python-files.js';
import type { Report } from './report.js';
import type { ScriptRuns } from './script-runs.js';
import { refineBlock } from './stand-in-coder.js';

/** The best solution so far. */
interface Best {
  readonly content: string;
  readonly score: number;
}

/**
 * The outer loop of MLE-STAR's Algorithm 2 (arXiv 2506.15692). Each step: what matters (an ablation study), where
 * to work and how (block and plan, from the fleet), and then the refined blocks, each put in, checked, evaluated
 * and kept if it is better.
 */
export async function refineSolution(
  fleet: FleetClient,
  runs: ScriptRuns,
  report: Report,
  steps: number,
): Promise<void> {
  const ablationCode = await readPython('ablation.py');
  const tags = { run: 'digits' };
  await addKnownSolutions(fleet, [{ testCaseId: TEST_CASE, solution: await readPython('published.py') }]);
  const first = await firstSolution(fleet, report);
  let best = first;
  const refinedBlocks: string[] = [];
  for (let step = 1; step <= steps; step += 1) {
    report.step(step, steps);
    const rawOutput = await runs.run(ablationCode, best.content);
    const refinement = await addRefinementStep(fleet, {
      ablationCode,
      rawOutput,
      solution: { content: best.content },
      previousBlocks: refinedBlocks,
      tags: { ...tags, step: String(step) },
    });
    const { codeBlock, plan } = await refinement.extract.result();
    report.impact((await refinement.summarize.result()).summary);
    if (codeBlock === undefined || plan === undefined) {
      report.nothingToDo('no block could be singled out');
      continue;
    }
    report.block(codeBlock, best.content);
    report.plan(plan);
    refinedBlocks.push(codeBlock);

    const attempts = refineBlock(codeBlock);
    if (attempts.length === 0) report.nothingToDo('the stand-in coder knows no rewrite of this block');
    const before = best.content;
    for (const [index, { idea, code }] of attempts.entries()) {
      report.attempt(index + 1, idea);
      const candidate = replaceBlock({ content: before }, codeBlock, code);
      const evaluated = await evaluate(fleet, candidate.content, { ...tags, step: String(step) });
      report.evaluated(evaluated, best.score);
      // Keep the script that was evaluated, which is the checked one.
      if ('score' in evaluated && evaluated.score > best.score) best = bestOf(evaluated);
    }
    // The new form of the block is refined too: the next step turns to another part.
    const refined = replacementOf(codeBlock, before, best.content);
    if (refined !== undefined) refinedBlocks.push(refined);
  }
  report.end(first.score, best.score);
}

async function firstSolution(fleet: FleetClient, report: Report): Promise<Best> {
  const evaluated = await evaluate(fleet, await readPython('solution.py'), { run: 'digits', step: '0' });
  if (!('score' in evaluated)) throw new Error(`the first solution has no score: ${evaluated.reason}`);
  report.start(evaluated);
  return bestOf(evaluated);
}

function bestOf({ check, score }: Scored): Best {
  return { content: check.solution.content, score };
}

/** The text that replaced `block` of `before` in `after`; undefined if more than the block was changed. */
function replacementOf(block: string, before: string, after: string): string | undefined {
  const start = before.indexOf(block);
  const head = before.slice(0, start);
  const tail = before.slice(start + block.length);
  if (!after.startsWith(head) || !after.endsWith(tail)) return undefined;
  return after.slice(head.length, after.length - tail.length);
}
