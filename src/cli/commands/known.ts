import { once } from 'node:events';
import type { Command } from 'commander';
import { loadConfig } from '../../config/load-config.js';
import { type ImportReport, importKnown } from '../../known/import-known.js';
import {
  addKnownSolutions,
  KNOWN_GROWTH,
  knownStore,
  removeKnownSolutions,
} from '../../producers/known-solutions.js';
import { sizeOf } from '../../producers/memory-admission.js';
import { assertUnambiguousName } from '../read-file.js';
import { outputLimit, readText } from '../read-input.js';
import { withSession } from '../session.js';
import { escapeControlCharsInLine } from '../terminal/escape-control-chars.js';
import { print, printJson, printNote } from '../terminal/print.js';
import { ProgressLine } from '../terminal/progress-line.js';

/** `fleet known …`: the fleet's set of known solutions. */
export function addKnownCommand(program: Command): void {
  const known = program.command('known').description("Manage the fleet's set of known solutions.");
  known
    .command('add')
    .description('Add one known solution from a file.')
    .argument('<testCaseId>')
    .argument('<file>', 'the solution; - reads standard input')
    .action(async (testCaseId: string, file: string) => {
      const solution = await readText(file, outputLimit(loadConfig()));
      const added = await session((fleet) => addKnownSolutions(fleet, [{ testCaseId, solution }]));
      print(added === 1 ? 'added' : 'already known');
    });
  known
    .command('import')
    .description(
      'Add known solutions from a JSONL file: {"testCaseId", "solution", "language"?, "addedToTraining"?}.',
    )
    .argument('<file>')
    .option('--strict', 'exit code 2 where a line could not be read')
    .option('--json', 'print JSON')
    .action(importFile);
  known
    .command('export')
    .description('Write all known solutions to standard output, one JSON object a line.')
    .action(exportAll);
  known
    .command('list')
    .description('List known solutions: test case, hash, length.')
    .argument('[testCaseId]')
    .action((testCaseId?: string) =>
      session(async (fleet) => {
        const store = knownStore(fleet);
        const entries = testCaseId === undefined ? store.all() : await store.ofCase(testCaseId);
        for await (const { testCaseId: id, hash, solution } of entries) {
          await drained(
            print(`${escapeControlCharsInLine(id)} ${escapeControlCharsInLine(hash)} ${solution.length}`),
          );
        }
      }),
    );
  known
    .command('remove')
    .description('Remove one known solution of a test case, or all of them.')
    .argument('<testCaseId>')
    .argument('[hash]')
    .action(async (testCaseId: string, hash?: string) => {
      const removed = await session((fleet) => removeKnownSolutions(fleet, testCaseId, hash));
      print(`removed ${removed}`);
      if (removed === 0) process.exitCode = 1;
    });
}

function session<T>(action: Parameters<typeof withSession<T>>[2]): Promise<T> {
  return withSession(loadConfig(), { work: false }, action);
}

async function importFile(
  file: string,
  options: { readonly strict?: true; readonly json?: true },
): Promise<void> {
  assertUnambiguousName(file);
  const progress = new ProgressLine();
  const report = await session((fleet) =>
    importKnown(
      knownStore(fleet),
      file,
      (fraction) => progress.show(`imported ${bar(fraction)}`),
      (solutions) => fleet.memory.admit(KNOWN_GROWTH * sizeOf(solutions)),
    ),
  ).finally(() => progress.clear());
  if (options.json) printJson(report, 2);
  else printReport(file, report);
  if (options.strict && report.broken.length > 0) process.exitCode = 2;
}

function bar(fraction: number): string {
  const full = Math.round(fraction * 20);
  return `${'█'.repeat(full)}${'░'.repeat(20 - full)} ${Math.round(fraction * 100)} %`;
}

function printReport(file: string, { lines, added, broken }: ImportReport): void {
  print(`${lines} lines, ${added} new`);
  for (const { line, reason } of broken) printNote(escapeControlCharsInLine(`${file}:${line}: ${reason}`));
}

async function exportAll(): Promise<void> {
  await session(async (fleet) => {
    for await (const { hash: _hash, ...entry } of knownStore(fleet).all()) await drained(printJson(entry));
  });
}

/** Waits for the reader of standard output, so a large set needs no memory. */
async function drained(written: boolean): Promise<void> {
  if (!written) await once(process.stdout, 'drain');
}
