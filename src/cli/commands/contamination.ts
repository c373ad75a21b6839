import { basename } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { loadConfig } from '../../config/load-config.js';
import type { ContaminationChecker } from '../../contamination/contamination-checker.js';
import { type ReportEntry, renderReport } from '../../contamination/report/render-report.js';
import type { ContaminationResult, Difficulty, TestCase } from '../../contamination/types.js';
import { UsageError } from '../../errors.js';
import { readKnownFile } from '../../known/read-known-file.js';
import { contaminationLane } from '../contamination-lane.js';
import { rejectDuplicateStdin } from '../named-files.js';
import { errorJson, printError } from '../print-error.js';
import { assertUnambiguousName } from '../read-file.js';
import { formatLimit, outputLimit, readJson, readText } from '../read-input.js';
import { writeOutput } from '../replace-file.js';
import { colorsFor } from '../terminal/colors.js';
import { escapeControlCharsInLine } from '../terminal/escape-control-chars.js';
import { print, printJson, printNote } from '../terminal/print.js';
import { renderContamination } from '../terminal/render-contamination.js';

interface ContaminationOptions {
  readonly known: string;
  readonly output: readonly string[];
  readonly testCase?: string;
  readonly difficulty: Difficulty;
  readonly solveTime?: number;
  readonly thoughts?: string;
  readonly html?: string;
  readonly json?: true;
}

type Outcome =
  | {
      readonly file: string;
      readonly testCaseId: string;
      readonly output: string;
      readonly result: ContaminationResult;
    }
  | { readonly file: string; readonly error: unknown };

export function addContaminationCommand(program: Command): void {
  program
    .command('contamination')
    .description('Tell whether outputs are copies of known solutions; needs no Redis.')
    .requiredOption('--known <file>', 'known solutions, a JSONL file as `fleet known import` takes it')
    .requiredOption('--output <file...>', 'outputs to be checked; - reads standard input')
    .option(
      '--test-case <id>',
      "test case that the outputs solve (default: each file's name without its ending)",
    )
    .addOption(
      new Option('--difficulty <difficulty>', 'difficulty of the test case')
        .choices(['easy', 'medium', 'hard'])
        .default('medium'),
    )
    .option('--solve-time <ms>', 'milliseconds that the answer took', milliseconds)
    .option('--thoughts <file>', 'thought chain of the answer, a JSON array of strings')
    .option('--html <file>', 'write an HTML report')
    .option('--json', 'print JSON, an entry an output')
    .addHelpText('after', '\nExit code: 0 none is contaminated, 1 one is, 2 error.')
    .action(async (options: ContaminationOptions) => {
      process.exitCode = await checkAll(options);
    });
}

function milliseconds(text: string): number {
  const value = Number(text);
  if (!(value > 0 && Number.isFinite(value))) throw new InvalidArgumentError('expected milliseconds above 0');
  return value;
}

async function checkAll(options: ContaminationOptions): Promise<number> {
  rejectDuplicateStdin([
    options.known,
    ...options.output,
    ...(options.thoughts === undefined ? [] : [options.thoughts]),
  ]);
  for (const name of [options.known, options.html ?? '']) assertUnambiguousName(name);
  const { solutions, broken } = await readKnownFile(options.known);
  for (const { line, reason } of broken)
    printNote(escapeControlCharsInLine(`${options.known}:${line}: ${reason}`));
  if (solutions.length === 0 && broken.length > 0) {
    const what = broken.length === 1 ? 'its one line cannot' : `none of its ${broken.length} lines can`;
    throw new UsageError('unreadable-input', `${options.known} has no known solution: ${what} be read`);
  }
  const thoughtChain = options.thoughts === undefined ? undefined : await readThoughts(options.thoughts);
  const lane = contaminationLane(solutions, loadConfig());
  const outcomes: Outcome[] = [];
  try {
    for (const file of options.output) outcomes.push(await checkFile(lane, file, thoughtChain, options));
  } finally {
    await lane.close();
  }

  if (options.html !== undefined) await writeReport(options.html, outcomes, solutions);
  printOutcomes(outcomes, options.json === true);
  if (outcomes.some((outcome) => 'error' in outcome)) return 2;
  return outcomes.some((outcome) => 'result' in outcome && outcome.result.contaminated) ? 1 : 0;
}

async function checkFile(
  checker: ContaminationChecker,
  file: string,
  thoughtChain: readonly string[] | undefined,
  { testCase: id, difficulty, solveTime }: ContaminationOptions,
): Promise<Outcome> {
  try {
    const output = await readText(file, outputLimit(loadConfig()));
    const name = id ?? basename(file).replace(/\.[^.]*$/, '');
    const testCase: TestCase = { id: name, name, difficulty, solveTime, thoughtChain };
    return { file, testCaseId: name, output, result: await checker.check({ output, testCase }) };
  } catch (error) {
    return { file, error };
  }
}

async function writeReport(
  file: string,
  outcomes: readonly Outcome[],
  known: ReportEntry['known'],
): Promise<void> {
  const entries = outcomes.flatMap((outcome): ReportEntry[] =>
    'error' in outcome
      ? []
      : [
          {
            name: outcome.file,
            testCaseId: outcome.testCaseId,
            output: outcome.output,
            result: outcome.result,
            known,
          },
        ],
  );
  await writeOutput(file, renderReport(entries));
}

async function readThoughts(file: string): Promise<string[]> {
  const parsed = z.array(z.string()).safeParse(await readJson(file, formatLimit(loadConfig())));
  if (parsed.success) return parsed.data;
  throw new UsageError('unreadable-input', `${file} is not a JSON array of strings`);
}

function printOutcomes(outcomes: readonly Outcome[], json: boolean): void {
  if (json) {
    const entries = outcomes.map((outcome) =>
      'error' in outcome
        ? { file: outcome.file, error: errorJson(outcome.error) }
        : { file: outcome.file, ...outcome.result },
    );
    printJson(entries, 2);
    return;
  }
  for (const outcome of outcomes) if ('error' in outcome) printError(outcome.error, outcome.file);
  const checked = outcomes.flatMap((outcome) => ('error' in outcome ? [] : [outcome]));
  if (checked.length > 0) print(renderContamination(checked, colorsFor(process.stdout)));
}
