import type { Command } from 'commander';
import type { Config } from '../../config/settings.js';
import type { Replay } from '../../recordings/replay.js';
import type { RunOptions } from '../../recordings/run-recording.js';
import { type KindsFromOption, withKindsFrom } from '../known-kinds.js';
import { withSession } from '../session.js';
import { configWith } from '../start/config-with.js';
import { escapeControlChars, escapeControlCharsInLine } from '../terminal/escape-control-chars.js';
import { print, printJson, printNote } from '../terminal/print.js';
import { configuredTrials } from '../trial-settings.js';

interface ReplayOptions extends KindsFromOption {
  readonly json?: true;
}

/** The commands that turn a job into a file, and run such a file. */
export function addRecordingCommands(program: Command): void {
  withKindsFrom(program.command('record'))
    .description(
      'Print a job that has ended as a recording: payload, model answers and result, without secrets.',
    )
    .argument('<id>', 'id that submit printed')
    .addHelpText(
      'after',
      '\nfleet record ID > job.json. Use the version and the settings of the worker that ran the job. docs/testing-a-pipeline.md',
    )
    .action(async (id: string, options: KindsFromOption) => {
      const config = configWith(options);
      const { recordJob } = await import('../../recordings/record-job.js');
      const run = await runOptions(config);
      printJson(await withSession(config, { work: false }, (fleet) => recordJob(fleet, id, config, run)), 2);
    });
  withKindsFrom(program.command('replay'))
    .description('Run a recorded job again with the recorded answers: no Redis, no model, no network.')
    .argument('<file>', 'file that record printed')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExit code: 0 the same result, 1 another one, 2 it cannot be run.')
    .action(async (file: string, options: ReplayOptions) => {
      const { readRecording, replay } = await import('../../recordings/replay.js');
      const replayed = await replay(await readRecording(file), await runOptions(configWith(options)));
      if (options.json === true) printJson(replayed, 2);
      else printReplay(file, replayed);
      if (!replayed.same) process.exitCode = 1;
    });
}

async function runOptions(config: Config): Promise<RunOptions> {
  const { kindsFrom, analysisTimeoutMs: timeoutMs, analysisHeapMb: heapMb } = config;
  const options = { analysis: { timeoutMs, heapMb }, trials: configuredTrials(config) };
  if (kindsFrom === undefined) return options;
  const { loadKinds } = await import('../../processors/load-kinds.js');
  return { ...options, kinds: await loadKinds(kindsFrom) };
}

function printReplay(file: string, { same, difference = '', diff = '', changedRequests }: Replay): void {
  const name = escapeControlCharsInLine(file);
  if (changedRequests.length > 0) {
    const requests = escapeControlCharsInLine(changedRequests.join(', '));
    printNote(`${name}: other requests than recorded: ${requests}; a prompt or the processor has changed`);
  }
  if (same) {
    print(`${name}: the same result`);
    return;
  }
  print(`${name}: another result: ${escapeControlCharsInLine(difference)}`);
  print(escapeControlChars(diff.trimEnd()));
}
