import { readFile } from 'node:fs/promises';
import { packagePath } from '../../package-root.js';
import type { FleetClient } from '../../producers/fleet-client.js';
import { addRefinementStep } from '../../producers/flows/refinement-step.js';
import type { Colors } from '../terminal/colors.js';
import { print } from '../terminal/print.js';
import { renderRefinement } from '../terminal/render-refinement.js';
import { widthOf } from '../terminal/wrapped.js';

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
