import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { loadConfig } from '../../config/load-config.js';
import { UsageError } from '../../errors.js';
import type { FleetConnection } from '../../producers/fleet-connection.js';
import { addSolutionCheck } from '../../producers/solution-check.js';
import { SEVERITIES, type Severity, type SolutionCheckResult } from '../../queues/solution-check.js';
import { errorJson, printError } from '../print-error.js';
import { readText } from '../read-input.js';
import { withSession } from '../session.js';
import { coloursFor } from '../terminal/colours.js';
import { ProgressLine } from '../terminal/progress-line.js';
import { renderCheck } from '../terminal/render-check.js';
import { warnWithoutWorker } from '../warn-without-worker.js';
import { writeCorrection } from './check-file.js';

interface CheckOptions {
  readonly json?: true;
  readonly write?: true;
  readonly workspace?: string;
  readonly failOn: Severity;
}

/** What became of one file. */
type Outcome =
  | {
      readonly file: string;
      readonly script: string;
      readonly result: SolutionCheckResult;
      readonly written: boolean;
    }
  | { readonly file: string; readonly error: unknown };

export function addCheckCommand(program: Command): void {
  program
    .command('check')
    .description('Check Python scripts for data leakage and show how they are corrected.')
    .argument('<file...>', 'scripts to check; - reads standard input')
    .option('--json', 'print one JSON array, an entry per file')
    .option('--write', 'write the corrected scripts back')
    .option('--workspace <dir>', 'folder below which the agent may read files')
    .addOption(
      new Option('--fail-on <severity>', 'least severe leak that makes the exit code 1')
        .choices([...SEVERITIES].reverse())
        .default('low'),
    )
    .addHelpText('after', '\nExit code: 0 clean, 1 leakage found, 2 a file could not be checked.')
    .action(async (files: string[], options: CheckOptions) => {
      process.exitCode = await check(files, options);
    });
}

async function check(files: readonly string[], options: CheckOptions): Promise<number> {
  const config = loadConfig();
  if (options.write && files.includes('-')) {
    throw new UsageError('usage', '--write cannot write standard input back; name a file');
  }
  if (new Set(files).size < files.length) {
    throw new UsageError('usage', 'a file is named twice');
  }
  const progress = new ProgressLine();
  let done = 0;
  const outcomes = await withSession(config, { work: true }, async (fleet) => {
    await warnWithoutWorker(fleet, config, 'solution-check');
    progress.show(`checked 0 of ${files.length}`);
    return Promise.all(
      files.map(async (file) => {
        const outcome = await checkFile(fleet, file, options);
        done += 1;
        progress.show(`checked ${done} of ${files.length}`);
        return outcome;
      }),
    );
  });
  progress.clear();
  if (options.json) printJson(outcomes);
  else printForPeople(outcomes);
  return exitCode(outcomes, options.failOn);
}

async function checkFile(fleet: FleetConnection, file: string, options: CheckOptions): Promise<Outcome> {
  try {
    const script = await readText(file);
    const handle = await addSolutionCheck(fleet, {
      solution: { content: script },
      ...(options.workspace === undefined ? {} : { workspace: resolve(options.workspace) }),
    });
    const result = await handle.result();
    const written = options.write === true && (await writeCorrection(file, script, result));
    return { file, script, result, written };
  } catch (error) {
    return { file, error };
  }
}

function printJson(outcomes: readonly Outcome[]): void {
  const entries = outcomes.map((outcome) =>
    'error' in outcome
      ? { file: outcome.file, error: errorJson(outcome.error) }
      : { file: outcome.file, ...outcome.result },
  );
  process.stdout.write(`${JSON.stringify(entries, null, 2)}\n`);
}

function printForPeople(outcomes: readonly Outcome[]): void {
  const colours = coloursFor(process.stdout);
  for (const outcome of outcomes) {
    if ('error' in outcome) {
      printError(outcome.error, outcome.file);
      continue;
    }
    process.stdout.write(`${renderCheck(outcome.file, outcome.script, outcome.result, colours)}\n`);
    if (outcome.written) process.stdout.write(`  written to ${outcome.file}\n`);
  }
}

function exitCode(outcomes: readonly Outcome[], failOn: Severity): number {
  if (outcomes.some((outcome) => 'error' in outcome)) return 2;
  const bar = SEVERITIES.indexOf(failOn);
  const leaks = outcomes
    .flatMap((outcome) => ('error' in outcome ? [] : outcome.result.findings))
    .filter(({ leakageStatus }) => leakageStatus === 'Yes Data Leakage');
  // A leak whose severity nobody stated is never waved through.
  return leaks.some(({ severity }) => SEVERITIES.indexOf(severity ?? 'high') <= bar) ? 1 : 0;
}
