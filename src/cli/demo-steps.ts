import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'bullmq';
import { packagePath } from '../package-root.js';
import type { FleetClient } from '../producers/fleet-client.js';
import { checkedSolution } from '../producers/flows/checked-solution.js';
import { addGuardedEvaluation } from '../producers/flows/guarded-evaluation.js';
import { addRefinementStep } from '../producers/flows/refinement-step.js';
import { addSolutionCheck } from '../producers/solution-check.js';
import { waitForJob } from '../producers/wait-for-job.js';
import { workerConnection } from '../queues/connection.js';
import type { Colors } from './terminal/colors.js';
import { escapeControlCharsInLine } from './terminal/escape-control-chars.js';
import { print } from './terminal/print.js';
import { renderCheck } from './terminal/render-check.js';
import { renderRefinement } from './terminal/render-refinement.js';
import { widthOf } from './terminal/wrapped.js';

const QUEUE = 'evaluate';
const EXAMPLE = 'leaky_scaler.py';

/** One guarded evaluation, with the pipeline's evaluating side played here: it gets its script from the check alone. */
export async function showGuardedEvaluation(
  fleet: FleetClient,
  redisUrl: string,
  colors: Colors,
  signal: AbortSignal,
): Promise<void> {
  const content = await readFile(packagePath('examples', 'scripts', EXAMPLE), 'utf8');
  print(`\n${colors.bold('solution-check → evaluation')}: one guarded evaluation\n`);
  const evaluating = new Worker(
    QUEUE,
    async (job) => {
      const { solution, status } = await checkedSolution(job);
      return `got ${EXAMPLE} ${status}, ${solution.content === content ? 'as it was' : 'with its corrections'}`;
    },
    { connection: workerConnection(redisUrl), prefix: fleet.prefix },
  );
  try {
    const { evaluation } = await addGuardedEvaluation(fleet, {
      solution: { content },
      evaluation: { queue: QUEUE, name: 'score' },
    });
    print(`the evaluating side ${escapeControlCharsInLine(String(await evaluation.returned({ signal })))}`);
    const unguarded = await fleet.queue(QUEUE).add('score', { script: content });
    const { error } = await waitForJob(fleet, unguarded.id ?? '', { signal }, QUEUE);
    print(`a job made without the check: ${escapeControlCharsInLine(error?.message ?? 'was let through')}`);
  } finally {
    await evaluating.close();
  }
}

/** One refinement step: the shipped output of an ablation study, its summary, and the block to refine next. */
export async function showRefinementStep(
  fleet: FleetClient,
  colors: Colors,
  signal: AbortSignal,
): Promise<void> {
  const read = (name: string) => readFile(packagePath('examples', 'refinement', name), 'utf8');
  const [content, ablationCode, rawOutput] = await Promise.all([
    read('solution.py'),
    read('ablation.py'),
    read('output.txt'),
  ]);
  print(`\n${colors.bold('summarize → extract')}: one refinement step\n`);
  const step = { ablationCode, rawOutput, solution: { content }, previousBlocks: [] };
  const { extract, summarize } = await addRefinementStep(fleet, step);
  const extracted = await extract.result({ signal });
  const { summary } = await summarize.result({ signal });
  print(renderRefinement(content, summary, extracted, colors, widthOf(process.stdout)));
}

/** Checks the shipped example scripts, all at once, and shows them in order. */
export async function showLeakageChecks(
  fleet: FleetClient,
  colors: Colors,
  signal: AbortSignal,
): Promise<void> {
  const folder = packagePath('examples', 'scripts');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.py')).sort();
  print(`${colors.bold('solution-check')}: ${names.length} example scripts`);
  const checks = await Promise.all(
    names.map(async (name) => {
      const content = await readFile(join(folder, name), 'utf8');
      return { name, content, handle: await addSolutionCheck(fleet, { solution: { content } }) };
    }),
  );
  for (const { name, content, handle } of checks) {
    const result = await handle.result({ signal });
    const shown = { file: name, script: content, result };
    print(`\n${renderCheck(shown, colors, { width: widthOf(process.stdout) })}`);
  }
}
