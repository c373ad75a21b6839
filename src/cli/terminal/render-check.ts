import type { Finding, SolutionCheckResult } from '../../queues/solution-check.js';
import { locateBlock } from '../../solution/index.js';
import type { Colours } from './colours.js';
import { renderDiff } from './render-diff.js';
import { visible } from './visible.js';

/** The lines that a block takes in a script, as `line 12` or `lines 12-18`; empty where it is not there. */
function linesOf(block: string, script: string): string {
  const located = locateBlock(block, script);
  if (located === null) return '';
  const first = lineAt(script, located.start);
  const last = lineAt(script, Math.max(located.start, located.end - 1));
  return first === last ? `line ${first}` : `lines ${first}-${last}`;
}

function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

function outcomeColour(finding: Finding, colours: Colours): string {
  const settled = finding.outcome === 'corrected' || finding.outcome === 'superseded';
  return settled ? colours.green(finding.outcome) : colours.yellow(finding.outcome);
}

function renderFinding(finding: Finding, script: string, colours: Colours): string[] {
  const what = [
    finding.severity === undefined ? undefined : colours.bold(finding.severity),
    visible(finding.kind ?? 'data leakage'),
    linesOf(finding.codeBlock, script),
  ].filter(Boolean);
  const lines = [`  ${colours.red('leak')} ${what.join(' · ')} · ${outcomeColour(finding, colours)}`];
  if (finding.reason !== undefined) lines.push(`       ${visible(finding.reason)}`);
  return lines;
}

function statusColour(status: SolutionCheckResult['status'], colours: Colours): string {
  if (status === 'clean') return colours.green('clean');
  if (status === 'corrected') return colours.cyan('corrected');
  return colours.yellow(status);
}

/** What a check of one script found, for people: verdict, findings, notes and the diff of its correction. */
export function renderCheck(
  name: string,
  script: string,
  result: SolutionCheckResult,
  colours: Colours,
): string {
  const leaks = result.findings.filter(({ leakageStatus }) => leakageStatus === 'Yes Data Leakage');
  const lines = [`${colours.bold(visible(name))}: ${statusColour(result.status, colours)}`];
  for (const finding of leaks) lines.push(...renderFinding(finding, script, colours));
  for (const note of result.notes ?? []) lines.push(colours.dim(`  note: ${visible(note)}`));
  if (result.solution.content !== script) {
    const diff = renderDiff(script, result.solution.content, colours);
    lines.push(...diff.split('\n').map((line) => `  ${line}`));
  }
  return lines.join('\n');
}
