import type { Command } from 'commander';
import { loadConfig } from '../../config/load-config.js';
import { addRefinementStep } from '../../producers/flows/refinement-step.js';
import type { ExtractResult } from '../../queues/extract.js';
import { lineRange, linesOfBlock } from '../line-numbers.js';
import { readOutput, readText } from '../read-input.js';
import { withSession } from '../session.js';
import { coloursFor } from '../terminal/colours.js';
import { visible } from '../terminal/visible.js';
import { warnWithoutWorker } from '../warn-without-worker.js';

interface RefineOptions {
  readonly solution: string;
  readonly ablation: string;
  readonly output: string;
  readonly previous?: readonly string[];
  readonly json?: true;
}

export function addRefineCommand(program: Command): void {
  program
    .command('refine')
    .description('From an ablation study to the block to refine next, and a plan for it.')
    .requiredOption('--solution <file>', 'the present solution')
    .requiredOption('--ablation <file>', 'the ablation script that was run')
    .requiredOption('--output <file>', 'what it printed; - reads standard input')
    .option('--previous <file...>', 'blocks that were refined before, one a file')
    .option('--json', 'print JSON: the extract result and the summary')
    .addHelpText('after', '\nExit code: 0 a block was selected, 1 none could be, 2 error.')
    .action(async (options: RefineOptions) => {
      process.exitCode = await refine(options);
    });
}

async function refine(options: RefineOptions): Promise<number> {
  const config = loadConfig();
  const solution = { content: await readText(options.solution) };
  const step = {
    solution,
    ablationCode: await readText(options.ablation),
    rawOutput: await readOutput(options.output),
    previousBlocks: await Promise.all((options.previous ?? []).map(readText)),
  };
  const { summary, extracted } = await withSession(config, { work: true }, async (fleet) => {
    await warnWithoutWorker(fleet, config, 'extract');
    const handles = await addRefinementStep(fleet, step);
    const result = await handles.extract.result();
    return { summary: (await handles.summarize.result()).summary, extracted: result };
  });
  if (options.json) process.stdout.write(`${JSON.stringify({ ...extracted, summary }, null, 2)}\n`);
  else print(solution.content, summary, extracted);
  return extracted.outcome === 'selected' ? 0 : 1;
}

function print(script: string, summary: string, extracted: ExtractResult): void {
  const colours = coloursFor(process.stdout);
  process.stdout.write(`${colours.bold('summary')}\n${visible(summary.trimEnd())}\n\n`);
  if (extracted.codeBlock === undefined) {
    process.stdout.write(
      `${colours.yellow('no block could be singled out')} after ${extracted.attempts} answers\n`,
    );
    return;
  }
  const lines = linesOfBlock(extracted.codeBlock, script);
  process.stdout.write(`${colours.bold('block')}${lines === undefined ? '' : ` (${lineRange(lines)})`}\n`);
  const width = String(lines?.last ?? 1).length;
  for (const [index, line] of visible(extracted.codeBlock.replace(/\r?\n$/, ''))
    .split('\n')
    .entries()) {
    const number = String((lines?.first ?? 1) + index).padStart(width);
    process.stdout.write(`${colours.dim(`${number} |`)} ${line}\n`);
  }
  process.stdout.write(`\n${colours.bold('plan')}\n${visible(extracted.plan ?? '')}\n`);
}
