import { setMaxListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import { abortable, mapAtOnce } from '../../async.js';
import { loadConfig } from '../../config/load-config.js';
import type { Solution } from '../../queues/common.js';
import { checkFile } from '../check/check-file.js';
import type { CheckOutcome } from '../check/checked-file.js';
import { isGone } from '../check/on-disk.js';
import { jsonEntry } from '../check/print-outcomes.js';
import { withLocalProcessing } from '../local-session.js';
import { assertDirectory } from '../named-files.js';
import { outputEnded } from '../standard-output.js';
import { plural } from '../terminal/amounts.js';
import { colorsFor } from '../terminal/colors.js';
import { escapeControlCharsInLine } from '../terminal/escape-control-chars.js';
import { print, printJson, printNote } from '../terminal/print.js';
import { ChangedFiles } from '../watch/changed-files.js';
import { FolderWatchers } from '../watch/folder-watchers.js';
import { outcomeLine } from '../watch/outcome-line.js';

interface WatchOptions {
  readonly exclude: readonly string[];
  readonly json?: true;
}

/** An editor writes a file in several steps. */
const SETTLE_MS = 50;

const REASON = 'agents: offline static analysis (fleet watch sends nothing anywhere)';

/** How a line about a file is printed. */
interface Lines {
  outcome(outcome: CheckOutcome): void;
  gone(file: string): void;
}

const TEXT: Lines = {
  outcome: (outcome) => void print(outcomeLine(outcome, colorsFor(process.stdout))),
  gone: (file) => void print(`${escapeControlCharsInLine(file)}: gone`),
};
const JSON_LINES: Lines = {
  outcome: (outcome) => void printJson(jsonEntry(outcome)),
  gone: (file) => void printJson({ file, gone: true }),
};

export function addWatchCommand(program: Command): void {
  program
    .command('watch')
    .description(
      'Check the scripts and notebooks of a folder, and again each one that changes: a line a file.',
    )
    .argument('[dir]', 'folder to watch, with those below it', '.')
    .option(
      '--exclude <pattern>',
      'leave out files, by a pattern as in .gitignore; may be repeated',
      (pattern: string, others: readonly string[]) => [...others, pattern],
      [] as readonly string[],
    )
    .option('--json', 'print a JSON object a line')
    .addHelpText('after', '\nRuns until Ctrl-C. It corrects nothing: fleet check --write does that.')
    .action(watchFolder);
}

async function watchFolder(folder: string, { exclude, json }: WatchOptions): Promise<void> {
  const config = loadConfig();
  await assertDirectory('watch', folder);
  const lines = json === true ? JSON_LINES : TEXT;
  const files = new ChangedFiles(folder, exclude);
  const watchers = new FolderWatchers((...event) => files.isRelevant(...event));
  await withLocalProcessing(config, REASON, async (processing, interrupted) => {
    const signal = AbortSignal.any([interrupted, outputEnded]);
    // As of the signal that it follows.
    setMaxListeners(0, signal);
    const check = (solution: Solution) => processing.check({ solution }, signal);
    const checkAndPrint = async (file: string) => {
      const outcome = await checkFile(file, { config, write: false, check });
      // What was in work then says only that it was aborted.
      signal.throwIfAborted();
      // The next look says that it is gone.
      if ('error' in outcome && outcome.error instanceof Error && isGone(outcome.error.cause)) return;
      lines.outcome(outcome);
    };
    const watchChanges = async () => {
      for (let round = 1; ; round += 1) {
        const before = performance.now();
        const { changed, gone, unreadable, folders } = await files.look();
        const lookMs = performance.now() - before;
        watchers.watch(folders);
        for (const file of gone) lines.gone(file);
        for (const outcome of unreadable) lines.outcome(outcome);
        await mapAtOnce(changed, processing.atOnce, checkAndPrint);
        if (round === 1) {
          printNote(`${plural(changed.length, 'file')} checked; waiting for changes until Ctrl-C`);
        }
        await watchers.next(signal);
        // Where files are written all the time, looking takes no more than half of it.
        await wait(Math.max(SETTLE_MS, lookMs), undefined, { signal });
      }
    };
    try {
      await abortable(watchChanges(), signal);
    } finally {
      watchers.close();
    }
  });
}
