import {
  LEAK_KINDS,
  type LeakKind,
  REPORTED_KINDS,
  type ReportedFile,
  toGithubAnnotations,
  toSarif,
} from '../../leakage/index.js';
import type { Finding } from '../../queues/solution-check.js';
import { linesOfBlock } from '../line-numbers.js';
import { errorJson, printError } from '../print-error.js';
import { colorsFor } from '../terminal/colors.js';
import { escapeControlChars, escapeControlCharsInLine } from '../terminal/escape-control-chars.js';
import { print, printFormat, printJson } from '../terminal/print.js';
import { type RenderCheckOptions, renderCheck } from '../terminal/render-check.js';
import { widthOf } from '../terminal/wrapped.js';
import { type CheckedFile, type CheckOutcome, leaksOf } from './checked-file.js';

export const FORMATS = ['text', 'json', 'sarif', 'github'] as const;
export type Format = (typeof FORMATS)[number];

/** Prints what became of the files; what is for other programs goes to standard output alone. */
export function printOutcomes(
  outcomes: readonly CheckOutcome[],
  format: Format,
  options: RenderCheckOptions,
): void {
  if (format === 'json') {
    printJson(outcomes.map(jsonEntry), 2);
    return;
  }
  const colors = colorsFor(process.stdout);
  const checked: CheckedFile[] = [];
  for (const outcome of outcomes) {
    if ('error' in outcome) {
      printError(outcome.error, outcome.file);
      continue;
    }
    checked.push(outcome);
    if (format === 'text') {
      print(renderCheck(outcome, colors, { ...options, width: widthOf(process.stdout) }));
      if (outcome.written) print(`  written to ${escapeControlCharsInLine(outcome.file)}`);
    }
    if (outcome.notWritten !== undefined) printError(outcome.notWritten, outcome.file);
  }
  const reported = checked.map(reportedFile);
  if (format === 'sarif') printJson(toSarif(reported), 2);
  if (format === 'github') printFormat(toGithubAnnotations(reported.map(readable)));
}

/** GitHub shows these texts to people. Line breaks stay: the format escapes them. */
function readable({ file, findings }: ReportedFile): ReportedFile {
  return {
    file: escapeControlChars(file),
    findings: findings.map((finding) => ({ ...finding, message: escapeControlChars(finding.message) })),
  };
}

function jsonEntry(outcome: CheckOutcome): object {
  if ('error' in outcome) return { file: outcome.file, error: errorJson(outcome.error) };
  const { file, result, written, notWritten } = outcome;
  return {
    file,
    ...result,
    ...(written === undefined ? {} : { written }),
    ...(notWritten === undefined ? {} : { error: errorJson(notWritten) }),
  };
}

function reportedKind({ kind }: Finding): LeakKind | 'data-leakage' {
  const known = Object.keys(LEAK_KINDS).find((name): name is LeakKind => name === kind);
  return known ?? 'data-leakage';
}

/** What the correction changed besides the leak, as sentences. */
function notesOf({ notes = [] }: Finding): string[] {
  return notes.map((note) => `Note: ${note}.`);
}

/** The leaks of a file as reports for other programs show them; a block that was not found is at line 1. */
export function reportedFile({ file, script, result }: CheckedFile): ReportedFile {
  return {
    file,
    findings: leaksOf(result).map((finding) => {
      const kind = reportedKind(finding);
      const lines = linesOfBlock(finding.codeBlock, script) ?? { first: 1, last: 1 };
      return {
        kind,
        severity: finding.severity ?? REPORTED_KINDS[kind].severity,
        line: lines.first,
        endLine: lines.last,
        message: [finding.reason ?? REPORTED_KINDS[kind].whatToDo, ...notesOf(finding)].join(' '),
      };
    }),
  };
}
