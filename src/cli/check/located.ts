import { cellOfLine, inCells } from '../../leakage/notebook.js';
import { type Finding, SEVERITIES } from '../../queues/solution-check.js';
import { linesOfBlock } from '../line-numbers.js';
import { type CheckedFile, leaksOf } from './checked-file.js';

type Checked = Pick<CheckedFile, 'script' | 'notebook' | 'result'>;

/** Lines as a reader counts them: of the script, or of the cells of a notebook. Counted from 1. */
export interface Location {
  readonly cell?: number;
  readonly startLine: number;
  /** Absent if it is the same cell. */
  readonly endCell?: number;
  readonly endLine: number;
}

/** A finding with its location, and with the lines that its sentences name counted in the same way. */
export interface LocatedFinding extends Finding {
  /** First and last line in the script, or in the joined code of a notebook. */
  readonly lines: { readonly first: number; readonly last: number } | undefined;
  readonly location: Location | undefined;
}

/** The leaks, the most severe first. One whose severity is not known counts as severe. */
export function locatedLeaks(checked: Checked): LocatedFinding[] {
  return bySeverity(leaksOf(checked.result)).map((finding) => locatedFinding(finding, checked));
}

export function bySeverity(findings: readonly Finding[]): Finding[] {
  const rank = ({ severity = 'high' }: Finding) => SEVERITIES.indexOf(severity);
  return [...findings].sort((a, b) => rank(a) - rank(b));
}

export function locatedFinding(finding: Finding, checked: Checked): LocatedFinding {
  const lines = linesOfBlock(finding.codeBlock, checked.script);
  return {
    ...finding,
    ...(finding.reason === undefined ? {} : { reason: asRead(finding.reason, checked) }),
    ...(finding.objection === undefined ? {} : { objection: asRead(finding.objection, checked) }),
    lines,
    location: lines && locationOf(lines, checked),
  };
}

function locationOf({ first, last }: { first: number; last: number }, { notebook }: Checked): Location {
  const start = notebook && cellOfLine(notebook, first);
  const end = notebook && cellOfLine(notebook, last);
  if (start === undefined || end === undefined) return { startLine: first, endLine: last };
  return {
    cell: start.cell,
    startLine: start.line,
    ...(end.cell === start.cell ? {} : { endCell: end.cell }),
    endLine: end.line,
  };
}

/** A sentence about the script; about the code of a notebook, with cells and their lines. */
export function asRead(sentence: string, { notebook }: Pick<Checked, 'notebook'>): string {
  return notebook === undefined ? sentence : inCells(sentence, notebook);
}

/** Code that was not followed, as sentences. */
export function notFollowedSentences(checked: Checked): string[] {
  return (checked.result.notFollowed ?? []).map(({ line, reason }) =>
    asRead(`line ${line}: ${reason}`, checked),
  );
}

/** A location as people write it: `line 12`, `lines 12-18`, `cell 3 lines 1-4`, `cell 3 line 2 to cell 5 line 1`. */
export function locationText({ cell, startLine, endCell, endLine }: Location): string {
  if (endCell !== undefined) return `cell ${cell} line ${startLine} to cell ${endCell} line ${endLine}`;
  const lines = startLine === endLine ? `line ${startLine}` : `lines ${startLine}-${endLine}`;
  return cell === undefined ? lines : `cell ${cell} ${lines}`;
}
