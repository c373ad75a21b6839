import { LEAK_KINDS, type LeakKind } from '../../leakage/kinds.js';
import { cellOfLine, linesInFile } from '../../leakage/notebook.js';
import {
  REPORTED_KINDS,
  type ReportedFile,
  type ReportedNotice,
  toGithubAnnotations,
} from '../../leakage/report/reported-file.js';
import { toSarif } from '../../leakage/report/sarif.js';
import type { Finding } from '../../queues/solution-check.js';
import { errorJson, printError } from '../print-error.js';
import { colorsFor } from '../terminal/colors.js';
import { escapeControlChars, escapeControlCharsInLine } from '../terminal/escape-control-chars.js';
import { print, printFormat, printJson } from '../terminal/print.js';
import { type RenderCheckOptions, renderCheck } from '../terminal/render-check.js';
import { widthOf } from '../terminal/wrapped.js';
import { type CheckedFile, type CheckOutcome, problemOf } from './checked-file.js';
import { asRead, bySeverity, locatedFinding, locatedLeaks, locationText } from './located.js';
import { totalsOf, totalsText } from './totals.js';

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
  for (const outcome of outcomes) {
    if ('error' in outcome) {
      printError(outcome.error, outcome.file);
      continue;
    }
    if (format === 'text') {
      print(renderCheck(outcome, colors, { ...options, width: widthOf(process.stdout) }));
      if (outcome.written) print(`  written to ${escapeControlCharsInLine(outcome.file)}`);
    }
    const problem = problemOf(outcome);
    if (problem !== undefined) printError(problem, outcome.file);
  }
  const totals = totalsOf(outcomes);
  if (format === 'text' && outcomes.length > 1) print(totalsText(totals));
  const reported = outcomes.map(reportedFile);
  if (format === 'sarif') printJson(toSarif(reported, totals), 2);
  if (format === 'github') printFormat(toGithubAnnotations(reported.map(readable)));
}

/** GitHub shows these texts to people. Line breaks stay: the format escapes them. */
function readable({ file, findings, notices = [] }: ReportedFile): ReportedFile {
  const escaped = <T extends { readonly message: string }>(texts: readonly T[]): T[] =>
    texts.map((text) => ({ ...text, message: escapeControlChars(text.message) }));
  return { file: escapeControlChars(file), findings: escaped(findings), notices: escaped(notices) };
}

/** One entry of `--json`. */
export function jsonEntry(outcome: CheckOutcome): object {
  if ('error' in outcome) return { file: outcome.file, error: errorJson(outcome.error) };
  const { file, result, written } = outcome;
  const problem = problemOf(outcome);
  return {
    file,
    ...result,
    findings: bySeverity(result.findings).map((finding) => {
      const { lines: _lines, location, ...rest } = locatedFinding(finding, outcome);
      return { ...rest, ...location };
    }),
    ...(result.notFollowed === undefined
      ? {}
      : { notFollowed: result.notFollowed.map((at) => inCell(at, outcome)) }),
    ...(written === undefined ? {} : { written }),
    ...(problem === undefined ? {} : { error: errorJson(problem) }),
  };
}

/** Code that was not followed, with the line counted in its cell. */
function inCell<At extends { readonly line: number }>(
  at: At,
  { notebook }: CheckedFile,
): At & { cell?: number } {
  const found = notebook && cellOfLine(notebook, at.line);
  return { ...at, ...found };
}

function reportedKind({ kind }: Finding): LeakKind | 'data-leakage' {
  const known = Object.keys(LEAK_KINDS).find((name): name is LeakKind => name === kind);
  return known ?? 'data-leakage';
}

/** What the agent objects, and what the correction changed besides the leak, as sentences. */
function remarksOn({ objection, notes = [] }: Finding): string[] {
  return [
    ...(objection === undefined ? [] : [`Objection: ${objection}${objection.endsWith('.') ? '' : '.'}`]),
    ...notes.map((note) => `Note: ${note}.`),
  ];
}

/** What reports for other programs show of a file; a block that was not found is at line 1. */
export function reportedFile(outcome: CheckOutcome): ReportedFile {
  const { file } = outcome;
  if ('error' in outcome) {
    return { file, findings: [], notices: [{ level: 'error', message: errorJson(outcome.error).message }] };
  }
  const { text, notebook } = outcome;
  // In the file of a notebook, its code is at other lines than in its cells.
  const inFile = notebook === undefined ? (line: number) => line : linesInFile(text, notebook);
  const findings = locatedLeaks(outcome).map((finding) => {
    const kind = reportedKind(finding);
    const { first, last } = finding.lines ?? { first: 1, last: 1 };
    const where =
      notebook === undefined || finding.location === undefined ? [] : [`${locationText(finding.location)}:`];
    return {
      kind,
      severity: finding.severity ?? REPORTED_KINDS[kind].severity,
      line: inFile(first),
      endLine: inFile(last),
      message: [...where, finding.reason ?? REPORTED_KINDS[kind].whatToDo, ...remarksOn(finding)].join(' '),
    };
  });
  return { file, findings, notices: noticesOf(outcome, inFile) };
}

/** Why a file counts as not checked, or what the check of it did not cover. */
function noticesOf(outcome: CheckedFile, inFile: (line: number) => number): ReportedNotice[] {
  const problem = problemOf(outcome);
  const { coverage = 'full', notFollowed = [] } = outcome.result;
  return [
    ...(problem === undefined
      ? []
      : [{ level: 'error' as const, message: asRead(errorJson(problem).message, outcome) }]),
    ...(coverage === 'full'
      ? []
      : notFollowed.map(({ line, reason }) => ({
          level: 'warning' as const,
          line: inFile(line),
          message: `The analysis could not follow: ${reason} (${asRead(`line ${line}`, outcome)}; coverage ${coverage}).`,
        }))),
  ];
}
