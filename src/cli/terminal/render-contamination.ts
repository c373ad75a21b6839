import Table from 'cli-table3';
import { EVASION_CHECKS } from '../../contamination/checks.js';
import type { ContaminationResult, EvasionCheck } from '../../contamination/types.js';
import type { Colors } from './colors.js';
import { escapeControlCharsInLine } from './escape-control-chars.js';

interface FileResult {
  readonly file: string;
  readonly result: ContaminationResult;
}

const fraction = (value: number) => value.toFixed(2);

function evasionLine(name: string, check: EvasionCheck, colors: Colors): string {
  if (check.status === 'skipped') return colors.dim(`${name}: ${check.skipped}`);
  const line = `${name} ${fraction(check.value)} of ${fraction(check.threshold)}`;
  return check.contaminated
    ? colors.red(`${line} (${escapeControlCharsInLine(check.known?.testCaseId ?? 'several')})`)
    : line;
}

/** A line for each check that ran, with its number and its threshold. */
function checkLines({ checks, note }: ContaminationResult, colors: Colors): string[] {
  const { similarity, timing, reasoning } = checks;
  const redIf = (flagged: boolean, line: string) => (flagged ? colors.red(line) : line);
  return [
    ...(note === undefined ? [] : [escapeControlCharsInLine(note)]),
    ...(similarity === undefined
      ? []
      : [
          redIf(
            similarity.contaminated,
            `similarity ${fraction(similarity.similarity)} of ${fraction(similarity.threshold)}`,
          ),
        ]),
    ...(timing === undefined
      ? []
      : [redIf(timing.contaminated, `timing ${fraction(timing.ratio)} of the expected time`)]),
    ...(reasoning === undefined
      ? []
      : [
          redIf(
            reasoning.jumpsToSolution,
            `reasoning: ${reasoning.jumpsToSolution ? 'jumps to the solution' : 'no jump'}`,
          ),
        ]),
    ...EVASION_CHECKS.flatMap((name) => {
      const check = checks[name];
      return check === undefined ? [] : [evasionLine(name, check, colors)];
    }),
  ];
}

/** A table of results for people. */
export function renderContamination(results: readonly FileResult[], colors: Colors): string {
  const table = new Table({
    head: ['output', 'verdict', 'confidence', 'checks'],
    style: { head: [], border: [] },
  });
  for (const { file, result } of results) {
    table.push([
      escapeControlCharsInLine(file),
      result.contaminated ? colors.red('contaminated') : colors.green('clean'),
      fraction(result.confidence),
      checkLines(result, colors).join('\n'),
    ]);
  }
  return table.toString();
}
