import type { EvaluationReport, Proportion } from '../../scripts/evaluation/labeled-pairs.js';
import type { Part } from './pairs/build-pairs.js';

const percent = (fraction: number): string => `${(fraction * 100).toFixed(1)} %`;
const interval = ({ low, high }: Proportion): string => `${percent(low)} to ${percent(high)}`;

/** The reliability table of the documentation, in Markdown. */
export function reliabilityTable(part: Part, { reliability }: EvaluationReport): string {
  const rows = reliability.map(
    ({ from, to, meanConfidence, right }) =>
      `| ${from.toFixed(2)} to ${to.toFixed(2)} | ${meanConfidence.toFixed(3)} | ${right.count} of ${right.of} | ${percent(right.fraction)} | ${interval(right)} |`,
  );
  return [
    `| confidence (${part}) | mean | right | fraction | 95 % interval |`,
    '|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}
