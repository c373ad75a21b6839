import { type Command, InvalidArgumentError, Option } from 'commander';
import { loadConfig } from '../../config/load-config.js';
import { ERROR_TABLE, type ErrorCode } from '../../errors.js';
import {
  type DeadLetterAction,
  type DeadLetterFilter,
  discardDeadLetters,
  getDeadLetter,
  listDeadLetters,
  retryDeadLetters,
} from '../../producers/dead-letters.js';
import type { FleetClient } from '../../producers/fleet-client.js';
import type { JobView } from '../../producers/job-view.js';
import { assertKindLoaded } from '../../producers/unloaded-kinds.js';
import { NO_USAGE } from '../../queues/usage.js';
import { noteUnloadedKinds } from '../note-unloaded-kinds.js';
import { detailLines, jobLine } from '../print-job.js';
import { withSession } from '../session.js';
import { colorsFor } from '../terminal/colors.js';
import { escapeControlCharsInLine } from '../terminal/escape-control-chars.js';
import { print, printJson, printNote } from '../terminal/print.js';
import { widthOf } from '../terminal/wrapped.js';

interface FilterOptions {
  readonly kind?: string;
  readonly run?: string;
  readonly tenant?: string;
  readonly code?: ErrorCode;
  readonly olderThan?: number;
  readonly json?: true;
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

function duration(text: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const ms = Number(count) * (UNITS[unit] ?? Number.NaN);
  if (Number.isNaN(ms))
    throw new InvalidArgumentError('expected minutes, hours or days, as in 30m, 12h or 7d');
  return ms;
}

function withFilter(command: Command): Command {
  return command
    .option('--kind <kind>', 'only jobs of this kind, or in this pipeline queue')
    .option('--run <run>', 'only jobs of this pipeline run (tags.run)')
    .option('--tenant <tenant>', 'only jobs of this tenant')
    .addOption(
      new Option('--code <code>', 'only jobs that failed with this error code').choices(
        Object.keys(ERROR_TABLE),
      ),
    )
    .option('--older-than <age>', 'only jobs that failed so long ago, as in 30m, 12h or 7d', duration)
    .option('--json', 'print JSON');
}

function filterOf(
  { kind, run, tenant, code, olderThan }: FilterOptions,
  ids: readonly string[],
): DeadLetterFilter {
  return {
    ...(ids.length === 0 ? {} : { ids }),
    ...(kind === undefined ? {} : { kind }),
    ...(run === undefined ? {} : { run }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(code === undefined ? {} : { code }),
    ...(olderThan === undefined ? {} : { olderThanMs: olderThan }),
  };
}

/** `fleet dead`: the jobs that failed for good. */
export function addDeadCommand(program: Command): void {
  const dead = program
    .command('dead')
    .description('Jobs that failed for good: look at them, run them again.');
  addList(dead);
  addShow(dead);
  addAction(
    dead,
    'retry',
    'Run dead letters again; calls that were answered are not paid again.',
    retryDeadLetters,
  );
  addAction(dead, 'drop', 'Remove dead letters permanently.', discardDeadLetters);
}

function addList(dead: Command): void {
  withFilter(dead.command('list').description('List dead letters, newest first.'))
    .option('--limit <n>', 'most jobs to list', (text) => Number.parseInt(text, 10) || 100, 100)
    .action(async (options: FilterOptions & { readonly limit: number }) => {
      const found = await withSession(loadConfig(), { work: false }, async (fleet) => {
        const letters = await listDeadLetters(fleet, filterOf(options, []), options.limit);
        if (options.kind === undefined) await noteUnloadedKinds(fleet, 'failed');
        return letters;
      });
      if (options.json) {
        printJson(found, 2);
        return;
      }
      for (const view of found) {
        print(deadLine(view));
        const free = { ...view, usage: NO_USAGE };
        for (const line of detailLines(free, colorsFor(process.stdout), widthOf(process.stdout))) print(line);
      }
      if (found.length === 0) printNote('no dead letters');
    });
}

function deadLine(view: JobView): string {
  const { error, usage } = view;
  const cost = usage.costUsd === null ? 'unknown cost' : `$${usage.costUsd.toFixed(4)}`;
  const reason = escapeControlCharsInLine((error?.message ?? '').split('\n', 1)[0] ?? '');
  return `${jobLine(view, colorsFor(process.stdout))} ${cost} ${escapeControlCharsInLine(error?.code ?? 'no code')}: ${reason}`;
}

function addShow(dead: Command): void {
  dead
    .command('show')
    .description('Show a dead letter with its payload, its error and its agent calls, as JSON.')
    .argument('<id>', 'id of the job')
    .action(async (id: string) => {
      const letter = await withSession(loadConfig(), { work: false }, async (fleet) => {
        await assertKindLoaded(fleet, id);
        return getDeadLetter(fleet, id);
      });
      printJson(letter, 2);
    });
}

function addAction(
  dead: Command,
  name: string,
  description: string,
  action: (fleet: FleetClient, filter: DeadLetterFilter) => Promise<DeadLetterAction>,
): void {
  withFilter(dead.command(name).description(description).argument('[ids...]', 'ids of jobs')).action(
    async (ids: string[], options: FilterOptions) => {
      const { done, refused } = await withSession(loadConfig(), { work: false }, (fleet) =>
        action(fleet, filterOf(options, ids)),
      );
      if (refused.length > 0) process.exitCode = 2;
      if (options.json) {
        printJson({ done, refused }, 2);
        return;
      }
      print(`${name === 'drop' ? 'dropped' : 'run again'}: ${done.length}`);
      for (const { id, reason } of refused) printNote(escapeControlCharsInLine(`${id}: ${reason}`));
    },
  );
}
