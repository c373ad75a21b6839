import type { AblationInput, AblationReading, AblationScore, AblationVariant } from './ablation-reading.js';
import { decimalsOf, formatNumber } from './number-text.js';
import { readAblation } from './read-ablation.js';

const printedScore = (score: AblationScore): string =>
  score.printed ?? `${score.runs?.lowest ?? ''} to ${score.runs?.highest ?? ''} over its runs`;

function changeText(variant: AblationVariant, baseline: AblationScore | undefined): string | undefined {
  if (variant.printedChange !== undefined) return variant.printedChange;
  // The mean of several runs was not printed; a change of it would be a number nobody can look up.
  if (variant.score?.printed === undefined || baseline?.printed === undefined) return undefined;
  // 81.96% against 0.8102: the difference of the printed numbers is not the change.
  if (variant.score.printed.endsWith('%') !== baseline.printed.endsWith('%')) return undefined;
  const decimals = Math.max(decimalsOf(variant.score.printed), decimalsOf(baseline.printed));
  return formatNumber(variant.change, decimals, true);
}

function actionOf(variant: AblationVariant): string {
  switch (variant.kind) {
    case 'added':
      return 'adding it';
    case 'changed':
    case 'replaced':
      return 'changing it';
    default:
      return 'taking it out';
  }
}

function effectClause(variant: AblationVariant): string {
  if (variant.effect === 'harms')
    return variant.kind === 'added'
      ? ', so it is harmful: adding it makes the score worse'
      : `, so it is harmful: ${actionOf(variant)} improves the score`;
  if (variant.effect === 'helps')
    return variant.kind === 'added' ? ', so adding it helps' : ', so it helps the score';
  return variant.effect === 'none' ? ', so it makes no difference' : '';
}

function evidenceOf(variant: AblationVariant, reading: AblationReading): string {
  const metric = reading.metric ?? 'the score';
  const change = changeText(variant, reading.baseline?.score);
  const label = `in the run "${variant.label}"`;
  if (variant.score === undefined || reading.baseline === undefined)
    return `${label} the printed change is ${change ?? 'unknown'}`;
  const from = printedScore(reading.baseline.score);
  const to = printedScore(variant.score);
  if (change === undefined) return `${label} ${metric} is ${to}, against ${from} for the baseline`;
  const verb = variant.effect === 'none' ? 'stays at' : variant.change < 0 ? 'falls' : 'rises';
  return variant.effect === 'none'
    ? `${label} ${metric} ${verb} ${to} (change ${change})`
    : `${label} ${metric} ${verb} from ${from} to ${to} (change ${change})`;
}

function introduction(reading: AblationReading): string {
  const sentences: string[] = [];
  const better = {
    higher: 'higher is better',
    lower: 'lower is better',
    unknown: 'the output does not say whether higher or lower is better',
  };
  const sources = { code: ', as the metric in the script shows', output: ', as the output says' };
  const source =
    reading.directionFrom === 'code' || reading.directionFrom === 'output'
      ? sources[reading.directionFrom]
      : '';
  const base =
    reading.baseline === undefined
      ? 'the output gives changes against the baseline only'
      : `the baseline scores ${printedScore(reading.baseline.score)}`;
  sentences.push(
    `Ablation by ${reading.metric ?? 'the printed score'} (${better[reading.direction]}${source}): ${base}.`,
  );
  if (reading.otherMetrics.length > 0)
    sentences.push(`Also printed and not used for the ranking: ${reading.otherMetrics.join(', ')}.`);
  return sentences.join(' ');
}

function endings(reading: AblationReading): string[] {
  const lines: string[] = [];
  if (reading.failed.length > 0) {
    const names = reading.failed.map((failed) => `${failed.component} (${failed.reason})`).join(', ');
    lines.push(`Not ranked, because the run failed and gave no score: ${names}.`);
  }
  if (reading.interruption !== undefined && reading.unusable === undefined) {
    lines.push(`The output is cut short, so later variants may be missing: ${reading.interruption}`);
  }
  if (reading.partlyRead) lines.push('The output is very long; its middle was not read.');
  return lines;
}

function equalsOf(variant: AblationVariant, variants: readonly AblationVariant[]): string {
  const equal = variants.filter(
    (other) => other !== variant && Math.abs(other.impact - variant.impact) < 1e-12,
  );
  return equal.length === 0 ? '' : ` (equal to ${equal.map((other) => other.component).join(', ')})`;
}

/**
 * Writes the summary of a reading. One sentence starts with the most impactful component, another with the
 * least impactful one; both carry the printed numbers. An unusable reading gets its reason and no ranking.
 */
function describeReading(reading: AblationReading): string {
  const [most] = reading.variants;
  const least = reading.variants.at(-1);
  if (reading.unusable !== undefined || most === undefined || least === undefined) {
    const base =
      reading.baseline === undefined ? [] : [`The baseline scores ${printedScore(reading.baseline.score)}.`];
    return [
      reading.unusable ?? 'No scores of variants were found in the output.',
      ...base,
      'There is no ranking of components.',
      ...endings(reading),
    ].join('\n');
  }
  const lines = [introduction(reading)];
  lines.push(
    `The most impactful component is ${most.component}${equalsOf(most, reading.variants)}: ${evidenceOf(most, reading)}${effectClause(most)}.`,
  );
  if (least === most)
    lines.push(`The least impactful component is ${least.component} as well, being the only one measured.`);
  else
    lines.push(
      `The least impactful component is ${least.component}${equalsOf(least, reading.variants)}: ${evidenceOf(least, reading)}${effectClause(least)}.`,
    );
  const between = reading.variants.slice(1, -1);
  if (between.length > 0) lines.push('In between, by falling impact:');
  for (const variant of between)
    lines.push(`- ${variant.component}: ${evidenceOf(variant, reading)}${effectClause(variant)}.`);
  const harmful = reading.variants.filter((variant) => variant.effect === 'harms');
  if (harmful.length > 0) lines.push(`Harmful: ${harmful.map((variant) => variant.component).join(', ')}.`);
  return [...lines, ...endings(reading)].join('\n');
}

/**
 * Summary of an ablation run, computed from its printed numbers (REQ-P2O-011). It holds no number that does
 * not occur in the output or follow from two of its numbers.
 */
export async function summarizeAblation(input: AblationInput): Promise<string> {
  return describeReading(await readAblation(input));
}
