import type { Command } from 'commander';
import type { Config } from '../../config/settings.js';
import { NOW } from '../../producers/add-options.js';
import type { RefinementStep } from '../../producers/flows/refinement-step.js';
import type { ExtractResult } from '../../queues/extract.js';
import { type BudgetOption, withBudget } from '../budget-option.js';
import { rejectDuplicateStdin } from '../named-files.js';
import { agentReason, type OfflineOption, withOffline } from '../offline-option.js';
import { outputLimit, readOutput, readScript, readText, textLimit } from '../read-input.js';
import { configWith } from '../start/config-with.js';
import { runsHere } from '../start/where-jobs-run.js';
import { colorsFor } from '../terminal/colors.js';
import { print, printJson } from '../terminal/print.js';
import { renderRefinement } from '../terminal/render-refinement.js';
import { widthOf } from '../terminal/wrapped.js';

interface RefineOptions extends BudgetOption, OfflineOption {
  readonly solution: string;
  readonly ablation: string;
  readonly output: string;
  readonly previous?: readonly string[];
  readonly json?: true;
}

export function addRefineCommand(program: Command): void {
  withOffline(withBudget(program.command('refine'), 'both jobs together'))
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
  const config = configWith(options);
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
  const { summary, extracted } = runsHere(config)
    ? await refineHere(config, step, agentReason(config, options))
    : await refineByFleet(config, step, options);
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

interface Refined {
  readonly summary: string;
  readonly extracted: ExtractResult;
}

async function refineHere(
  config: Config,
  { solution, ablationCode, rawOutput, previousBlocks }: RefinementStep,
  reason: string,
): Promise<Refined> {
  const { withLocalProcessing } = await import('../local-session.js');
  const { summary, extracted } = await withLocalProcessing(config, reason, (processing, signal) =>
    processing.refine(
      {
        summarize: { ablationCode, rawOutput },
        extract: { solution, previousBlocks: [...previousBlocks] },
      },
      signal,
    ),
  );
  return { summary: summary.summary, extracted };
}

async function refineByFleet(
  config: Config,
  step: RefinementStep,
  { budgetUsd }: BudgetOption,
): Promise<Refined> {
  const [{ withSession }, { addRefinementStep }, { jobOfKey }, { warnWithoutWorker }] = await Promise.all([
    import('../session.js'),
    import('../../producers/flows/refinement-step.js'),
    import('../../producers/job-handle.js'),
    import('../warn-without-worker.js'),
  ]);
  return withSession(config, { work: true, isolated: true }, async (fleet, submissions) => {
    await warnWithoutWorker(fleet, config, 'extract');
    const options = { deadline: NOW, ...(budgetUsd === undefined ? {} : { budgetUsd }) };
    const handles = await submissions.addThroughOutage(
      (key) => addRefinementStep(fleet, step, { ...options, key }),
      (key) => jobOfKey(fleet, 'extract', key),
    );
    const extracted = await handles.extract.result();
    return { summary: (await handles.summarize.result()).summary, extracted };
  });
}
