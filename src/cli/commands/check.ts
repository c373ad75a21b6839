import { type Command, Option } from 'commander';
import type { Config } from '../../config/settings.js';
import { UsageError } from '../../errors.js';
import { namedDescriptor } from '../../open-descriptor.js';
import { SEVERITIES, type Severity } from '../../queues/solution-check.js';
import { type BudgetOption, withBudget } from '../budget-option.js';
import { type CheckOutcome, leaksOf, problemOf } from '../check/checked-file.js';
import type { CheckFiles } from '../check/checking.js';
import { FORMATS, type Format, printOutcomes } from '../check/print-outcomes.js';
import { type FilesToCheck, filesOf } from '../check/python-files.js';
import { Interrupted } from '../interruption.js';
import { assertDirectory, rejectDuplicateFiles } from '../named-files.js';
import { agentReason, type OfflineOption, withOffline } from '../offline-option.js';
import { printError } from '../print-error.js';
import { beforeCommand } from '../start/before-command.js';
import { runsHere } from '../start/where-jobs-run.js';
import { ProgressLine } from '../terminal/progress-line.js';

interface CheckOptions extends BudgetOption, OfflineOption {
  readonly exclude: readonly string[];
  readonly json?: true;
  readonly format: Format;
  readonly explain?: true;
  readonly write?: true;
  readonly workspace?: string;
  readonly trial?: true;
  readonly failOn?: Severity;
  readonly failOnPartial?: true;
}

export function addCheckCommand(program: Command): void {
  withOffline(withBudget(program.command('check'), 'all files together'))
    .description('Check Python scripts and notebooks for data leakage and show how they are corrected.')
    .argument(
      '<file...>',
      'scripts, .ipynb notebooks, or folders of them to check; - reads a script from standard input',
    )
    .option(
      '--exclude <pattern>',
      'leave out files of a folder, by a pattern as in .gitignore; may be repeated',
      (pattern: string, others: readonly string[]) => [...others, pattern],
      [] as readonly string[],
    )
    .option('--json', 'print one JSON array, an entry per file')
    .addOption(new Option('--format <format>', 'how to print').choices(FORMATS).default('text'))
    .option('--explain', 'show the lines of each leak')
    .option('--write', 'write the corrected files back')
    .option('--workspace <dir>', 'folder below which the agent may read files')
    .option(
      '--trial',
      'run each corrected script beside the original on made-up data, in a sandbox, and refuse corrections that fail',
    )
    .addOption(
      new Option(
        '--fail-on <severity>',
        'lowest severity of a leak that makes the exit code 1 (default: FLEET_MIN_SEVERITY)',
      ).choices([...SEVERITIES].reverse()),
    )
    .option('--fail-on-partial', 'exit with 1 if the analysis could not follow the whole way to a score')
    .addHelpText('after', '\nExit code: 0 clean, 1 leakage found, 2 a file could not be checked.')
    .action(async (files: string[], options: CheckOptions, command: Command) => {
      process.exitCode = await check(files, options, command);
    });
}

async function check(args: readonly string[], options: CheckOptions, command: Command): Promise<number> {
  const format = options.json ? 'json' : options.format;
  let found: FilesToCheck = { files: args, unreadable: [] };
  try {
    const config = await beforeCommand(command);
    found = await filesOf(args, options.exclude);
    const outcomes = [...(await checkAll(config, found.files, options)), ...found.unreadable];
    printOutcomes(outcomes, format, { explain: options.explain === true });
    return exitCode(outcomes, options.failOn ?? config.minSeverity, options.failOnPartial === true);
  } catch (thrown) {
    // The JSON has an entry for each file, whatever happened.
    if (format === 'json' && !(thrown instanceof Interrupted)) {
      const notChecked = found.files.map((file) => ({ file, error: thrown }));
      printOutcomes([...notChecked, ...found.unreadable], format, {});
      return printError(thrown).entry.exitCode;
    }
    throw thrown;
  }
}

async function checkAll(
  config: Config,
  files: readonly string[],
  options: CheckOptions,
): Promise<CheckOutcome[]> {
  if (options.write && files.includes('-')) {
    throw new UsageError('usage', '--write cannot write standard input back; name a file');
  }
  const stream = options.write ? files.find((file) => namedDescriptor(file) !== undefined) : undefined;
  if (stream !== undefined)
    throw new UsageError('usage', `--write cannot write ${stream} back: it is a pipe`);
  await rejectDuplicateFiles(files);
  if (options.workspace !== undefined) await assertDirectory('--workspace', options.workspace);
  const progress = new ProgressLine();
  const show = (done: number) => progress.show(`checked ${done} of ${files.length}`);
  let done = 0;
  try {
    show(done);
    return await (await checkFiles(config))({
      config,
      files,
      write: options.write === true,
      trial: options.trial === true,
      workspace: options.workspace,
      budgetUsd: options.budgetUsd,
      reason: agentReason(config, options),
      onChecked: () => show(++done),
    });
  } finally {
    progress.clear();
  }
}

/** Most of what one of the two loads, the other does not need. */
async function checkFiles(config: Config): Promise<CheckFiles> {
  return runsHere(config)
    ? (await import('../check/check-here.js')).checkHere
    : (await import('../check/check-by-fleet.js')).checkByFleet;
}

function exitCode(outcomes: readonly CheckOutcome[], failOn: Severity, failOnPartial: boolean): number {
  if (outcomes.some((outcome) => 'error' in outcome || problemOf(outcome) !== undefined)) return 2;
  const isPartial = (outcome: CheckOutcome) =>
    !('error' in outcome) && (outcome.result.coverage ?? 'full') !== 'full';
  if (failOnPartial && outcomes.some(isPartial)) return 1;
  const threshold = SEVERITIES.indexOf(failOn);
  const leaks = outcomes.flatMap((outcome) => ('error' in outcome ? [] : leaksOf(outcome.result)));
  // A leak whose severity nobody stated is never waved through.
  return leaks.some(({ severity }) => SEVERITIES.indexOf(severity ?? 'high') <= threshold) ? 1 : 0;
}
