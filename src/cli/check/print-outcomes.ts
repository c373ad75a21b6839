import { toGithubAnnotations, toSarif } from '../../leakage/index.js';
import { errorJson, printError } from '../print-error.js';
import { coloursFor } from '../terminal/colours.js';
import { type RenderCheckOptions, renderCheck } from '../terminal/render-check.js';
import { visible } from '../terminal/visible.js';
import { widthOf } from '../terminal/wrapped.js';
import type { CheckedFile, CheckOutcome } from './checked-file.js';
import { reportedFile } from './report-findings.js';

export const FORMATS = ['text', 'json', 'sarif', 'github'] as const;
export type Format = (typeof FORMATS)[number];

/** Prints what became of the files; what is for other programs goes to standard output alone. */
export function printOutcomes(
  outcomes: readonly CheckOutcome[],
  format: Format,
  options: RenderCheckOptions,
): void {
  if (format === 'json') {
    process.stdout.write(`${JSON.stringify(outcomes.map(jsonEntry), null, 2)}\n`);
    return;
  }
  const colours = coloursFor(process.stdout);
  const checked: CheckedFile[] = [];
  for (const outcome of outcomes) {
    if ('error' in outcome) {
      printError(outcome.error, outcome.file);
      continue;
    }
    checked.push(outcome);
    if (format === 'text') {
      process.stdout.write(
        `${renderCheck(outcome, colours, { ...options, width: widthOf(process.stdout) })}\n`,
      );
      if (outcome.written) process.stdout.write(`  written to ${visible(outcome.file)}\n`);
    }
    if (outcome.notWritten !== undefined) printError(outcome.notWritten, outcome.file);
  }
  const reported = checked.map(reportedFile);
  if (format === 'sarif') process.stdout.write(`${JSON.stringify(toSarif(reported), null, 2)}\n`);
  if (format === 'github') process.stdout.write(toGithubAnnotations(reported));
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
