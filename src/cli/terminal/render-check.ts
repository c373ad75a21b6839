import type { Finding, SolutionCheckResult } from '../../queues/solution-check.js';
import type { CheckedFile } from '../check/checked-file.js';
import {
  asRead,
  type LocatedFinding,
  locatedLeaks,
  locationText,
  notFollowedSentences,
} from '../check/located.js';
import { numberedLines } from '../line-numbers.js';
import type { Colors } from './colors.js';
import { escapeControlChars, escapeControlCharsInLine } from './escape-control-chars.js';
import { renderDiff } from './render-diff.js';
import { wrapped } from './wrapped.js';

const INDENTATION = ' '.repeat(7);

export interface RenderCheckOptions {
  /** Whether the lines of each leak are shown. */
  readonly explain?: boolean;
  /** Columns that sentences are wrapped to; default: they are not. Code never is. */
  readonly width?: number | undefined;
}

type Shown = Pick<CheckedFile, 'file' | 'script' | 'notebook' | 'result'>;

function outcomeColor(finding: Finding, colors: Colors): string {
  const settled = finding.outcome === 'corrected' || finding.outcome === 'superseded';
  return settled ? colors.green(finding.outcome) : colors.yellow(finding.outcome);
}

/** What a status rests on, if that is less than the whole way to the scores. */
export function coverageText({ coverage = 'full', checkedBy = [] }: SolutionCheckResult): string {
  if (coverage === 'full') return '';
  const by = checkedBy.length === 0 ? 'nothing was checked' : `checked by ${checkedBy.join(' and ')}`;
  return ` (coverage ${coverage}: ${by})`;
}

function renderFinding(
  finding: LocatedFinding,
  shown: Shown,
  colors: Colors,
  { explain = false, width }: RenderCheckOptions,
  shownBlocks: Set<string>,
): string[] {
  const what = [
    finding.severity === undefined ? undefined : colors.bold(finding.severity),
    escapeControlCharsInLine(finding.kind ?? 'data leakage'),
    finding.location && locationText(finding.location),
  ].filter(Boolean);
  const reason =
    finding.reason === undefined ? [] : wrapped(escapeControlChars(finding.reason), INDENTATION, width);
  const notes = (finding.notes ?? []).flatMap((note) =>
    wrapped(escapeControlChars(`note: ${note}`), INDENTATION, width),
  );
  const code = explain ? codeOnce(finding, colors, shownBlocks) : [];
  // Not `push(...code)` and the like: a text may have more lines than a call can have arguments.
  return [
    `  ${colors.red('leak')} ${what.join(' · ')} · ${outcomeColor(finding, colors)}`,
    ...witnesses(finding, shown.result).flatMap((line) => wrapped(line, INDENTATION, width)),
    ...reason,
    ...notes.map((line) => colors.dim(line)),
    ...code.map((line) => `${INDENTATION}${line}`),
  ];
}

/** The numbered lines of a finding, or where they are if an earlier finding has shown them. */
function codeOnce(
  { codeBlock, lines, location }: LocatedFinding,
  colors: Colors,
  shownBlocks: Set<string>,
): string[] {
  const key = `${lines?.first} ${codeBlock}`;
  if (shownBlocks.has(key)) return [colors.dim('the lines are shown above')];
  shownBlocks.add(key);
  return numberedLines(codeBlock, location?.startLine ?? 1, colors);
}

/** Who found a leak, if only one of two did, and what the other says to it. */
function witnesses({ source, agreedBy, objection }: Finding, { agent }: SolutionCheckResult): string[] {
  const found = agreedBy ?? (source === 'analysis' && agent.runner !== 'offline' ? ['analysis'] : []);
  if (found.length !== 1)
    return source === 'analysis' && found.length > 1 ? ['found by static analysis; the agent agrees'] : [];
  if (found[0] === 'agent') return ['found by the agent; static analysis sees no leak here'];
  return [
    'found by static analysis; the agent did not report it',
    ...(objection === undefined ? [] : [`objection: ${escapeControlChars(objection)}`]),
  ];
}

/** What came of the trials of corrected scripts, if they were asked for. */
function trialText({ trial }: SolutionCheckResult): string[] {
  if (trial === undefined) return [];
  const { passed, refused, notPossible, sandbox, reason } = trial;
  if (passed + refused + notPossible === 0) return ['trial: there was no corrected script to try out'];
  const counts = [
    `${passed} ran as the original does`,
    `${refused} refused`,
    ...(notPossible === 0 ? [] : [`${notPossible} could not be tried out (${reason})`]),
  ];
  return [`trial of corrected scripts (${sandbox}): ${counts.join(', ')}`];
}

export function statusColor(status: SolutionCheckResult['status'], colors: Colors): string {
  if (status === 'clean') return colors.green('clean');
  if (status === 'corrected') return colors.cyan('corrected');
  return colors.yellow(status);
}

/** What a check of one script found, for people: status, findings, notes and the diff of its correction. */
export function renderCheck(shown: Shown, colors: Colors, options: RenderCheckOptions = {}): string {
  const { file, script, result } = shown;
  const coverage = coverageText(result);
  const head = `${colors.bold(escapeControlCharsInLine(file))}: ${statusColor(result.status, colors)}${coverage}`;
  const shownBlocks = new Set<string>();
  const lines = [head].concat(
    locatedLeaks(shown).flatMap((finding) => renderFinding(finding, shown, colors, options, shownBlocks)),
  );
  const remarks = [
    ...trialText(result),
    ...(result.notes ?? []).map((note) => `note: ${asRead(note, shown)}`),
    ...notFollowedSentences(shown).map((sentence) => `not followed: ${sentence}`),
  ];
  // A remark may have as many lines as a call cannot have arguments.
  for (const line of remarks.flatMap((remark) => wrapped(escapeControlChars(remark), '  ', options.width))) {
    lines.push(colors.dim(line));
  }
  if (result.solution.content !== script) {
    const diff = renderDiff(script, result.solution.content, colors);
    return lines.concat(diff.split('\n').map((line) => `  ${line}`)).join('\n');
  }
  return lines.join('\n');
}
