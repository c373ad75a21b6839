import type { ExtractResult } from '../../queues/extract.js';
import { lineRange, linesOfBlock, numberedLines } from '../line-numbers.js';
import type { Colors } from './colors.js';
import { escapeControlChars } from './escape-control-chars.js';
import { wrapped } from './wrapped.js';

/** A refinement step for people: the summary, the block with its line numbers in the script, and the plan. */
export function renderRefinement(
  script: string,
  summary: string,
  extracted: ExtractResult,
  colors: Colors,
  width?: number | undefined,
): string {
  const parts = [colors.bold('summary'), ...wrapped(escapeControlChars(summary.trimEnd()), '', width), ''];
  if (extracted.codeBlock === undefined) {
    const why = extracted.reason === undefined ? '' : `: ${escapeControlChars(extracted.reason)}`;
    parts.push(`${colors.yellow('no block was selected')}${why}`);
    return parts.join('\n');
  }
  const lines = linesOfBlock(extracted.codeBlock, script);
  parts.push(`${colors.bold('block')}${lines === undefined ? '' : ` (${lineRange(lines)})`}`);
  // Not `push(...)`: a block may have more lines than a call can have arguments.
  const code = numberedLines(extracted.codeBlock, lines?.first ?? 1, colors);
  const plan = wrapped(escapeControlChars(extracted.plan ?? ''), '', width);
  return parts.concat(code, '', colors.bold('plan'), plan).join('\n');
}
