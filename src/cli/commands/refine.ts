import type { Command } from 'commander';
import { loadConfig } from '../../config/load-config.js';
import { addRefinementStep } from '../../producers/flows/refinement-step.js';
import { type BudgetOption, withBudget } from '../budget-option.js';
import { rejectDuplicateStdin } from '../named-files.js';
import { outputLimit, readOutput, readScript, readText, textLimit } from '../read-input.js';
import { withSession } from '../session.js';
import { colorsFor } from '../terminal/colors.js';
import { print, printJson } from '../terminal/print.js';
import { renderRefinement } from '../terminal/render-refinement.js';
import { widthOf } from '../terminal/wrapped.js';
import { warnWithoutWorker } from '../warn-without-worker.js';

interface RefineOptions extends BudgetOption {
  readonly solution: string;
  readonly ablation: string;
  readonly output: string;
  readonly previous?: readonly string[];
  readonly json?: true;
}

export function addRefineCommand(program: Command): void {
  withBudget(program.command('refine'), 'both jobs together')
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
  rejectDuplicateStdin([options.solution, options.ablation, options.output, ...(options.previous ?? [])]);
  const solution = { content: (await readScript(options.solution, textLimit(config))).text };
  const step = {
    solution,
    ablationCode: await readText(options.ablation, textLimit(config)),
    rawOutput: await readOutput(options.output, outputLimit(config)),
    previousBlocks: await Promise.all(
      (options.previous ?? []).map((file) => readText(file, textLimit(config))),
    ),
  };
  const budget = options.budgetUsd === undefined ? {} : { budgetUsd: options.budgetUsd };
  const { summary, extracted } = await withSession(
    config,
    { work: true, isolated: true },
    async (fleet, submissions) => {
      await warnWithoutWorker(fleet, config, 'extract');
      const handles = await submissions.add(
        () => addRefinementStep(fleet, step, budget),
        ({ extract }) => extract,
      );
      const result = await handles.extract.result();
      return { summary: (await handles.summarize.result()).summary, extracted: result };
    },
  );
  if (options.json) printJson({ ...extracted, summary }, 2);
  else
    print(
      renderRefinement(
        solution.content,
        summary,
        extracted,
        colorsFor(process.stdout),
        widthOf(process.stdout),
      ),
    );
  return extracted.outcome === 'selected' ? 0 : 1;
}
