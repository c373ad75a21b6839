import type { Finding, SolutionCheckResult } from '../../queues/solution-check.js';
import { lineRange, linesOfBlock } from '../line-numbers.js';
import type { Colours } from './colours.js';
import { renderDiff } from './render-diff.js';
import { visible } from './visible.js';

function outcomeColour(finding: Finding, colours: Colours): string {
  const settled = finding.outcome === 'corrected' || finding.outcome === 'superseded';
  return settled ? colours.green(finding.outcome) : colours.yellow(finding.outcome);
}

function renderFinding(finding: Finding, script: string, colours: Colours): string[] {
  const lines = linesOfBlock(finding.codeBlock, script);
  const what = [
    finding.severity === undefined ? undefined : colours.bold(finding.severity),
    visible(finding.kind ?? 'data leakage'),
    lines === undefined ? undefined : lineRange(lines),
  ].filter(Boolean);
  const shown = [`  ${colours.red('leak')} ${what.join(' · ')} · ${outcomeColour(finding, colours)}`];
  if (finding.reason !== undefined) shown.push(`       ${visible(finding.reason)}`);
  return shown;
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
