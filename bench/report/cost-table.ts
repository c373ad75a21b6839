import { markdownTable } from '../../scripts/markdown-tables.js';
import type { MeasuredRow } from '../harness/measurement.js';

/** Whether a row is one of the cost rows, which have a table of their own. */
export function isCost({ row: { name } }: MeasuredRow): boolean {
  return name.startsWith('cost ');
}

/** What a result costs by each way of asking. */
export function costTable(rows: readonly MeasuredRow[]): string {
  return markdownTable(
    [
      'way',
      'settings',
      'dollars',
      'a script',
      'a right result',
      'right',
      'scripts asked about',
      'calls',
      'in batches',
      'tokens a script',
      'of these from the cache',
      'other results than the fleet as it is',
    ],
    rows.filter(isCost).map(({ row, measurement, samples }) => {
      const {
        scripts = 0,
        usd = 0,
        right = 0,
        asked = 0,
        calls = 0,
        batchCalls = 0,
        tokens = 0,
        cacheReadTokens = 0,
        differ = 0,
      } = samples[0]?.numbers ?? {};
      const each = (sum: number) => Math.round(sum / scripts).toLocaleString('en');
      return [
        row.name.replace(/^cost /, ''),
        row.work,
        (measurement.ratio ?? Number.NaN).toFixed(2),
        `$${(usd / scripts).toFixed(5)}`,
        `$${(usd / right).toFixed(5)}`,
        `${right} of ${scripts}`,
        String(asked),
        String(calls),
        String(batchCalls),
        each(tokens),
        each(cacheReadTokens),
        `${((100 * differ) / scripts).toFixed(0)} %`,
      ];
    }),
  );
}
