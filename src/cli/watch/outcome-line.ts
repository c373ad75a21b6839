import { type CheckOutcome, problemOf } from '../check/checked-file.js';
import { locatedLeaks, locationText } from '../check/located.js';
import { errorJson } from '../print-error.js';
import type { Colors } from '../terminal/colors.js';
import { escapeControlCharsInLine } from '../terminal/escape-control-chars.js';
import { coverageText, statusColor } from '../terminal/render-check.js';

/** What became of one file, as one line for people: its status and where its leaks are, or why it was not checked. */
export function outcomeLine(outcome: CheckOutcome, colors: Colors): string {
  const name = colors.bold(escapeControlCharsInLine(outcome.file));
  const problem = 'error' in outcome ? outcome.error : problemOf(outcome);
  if ('error' in outcome || problem !== undefined) {
    const { code, message } = errorJson(problem);
    return `${name}: ${colors.red('not checked')}: ${escapeControlCharsInLine(message)} (${code})`;
  }
  const leaks = locatedLeaks(outcome).map(({ severity, kind = 'data leakage', location }) => {
    const what = [severity, escapeControlCharsInLine(kind)].filter(Boolean).join(' ');
    return location === undefined ? what : `${what}, ${locationText(location)}`;
  });
  const { result } = outcome;
  const found = leaks.length === 0 ? '' : `: ${leaks.join('; ')}`;
  return `${name}: ${statusColor(result.status, colors)}${coverageText(result)}${found}`;
}
