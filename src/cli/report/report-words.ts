import { percent } from '../../percent.js';
import { SEVERITIES } from '../../queues/solution-check.js';
import type { ReportRow, RowStatus, RunReport } from './run-report.js';

/** What a status is called, in text and HTML. */
export const STATUS_NAMES: Readonly<Record<RowStatus, string>> = {
  failed: 'failed',
  'left-leaky': 'left leaky',
  'not-checked': 'not checked',
  'not-ended': 'not ended',
  cancelled: 'cancelled',
  unknown: 'unknown',
  corrected: 'corrected',
  clean: 'clean',
};

/** The status of a row, with what is not in the word. */
export function statusText({ status, failure, state, kind }: ReportRow): string {
  if (failure !== undefined) return `${STATUS_NAMES[status]}: ${failure.code}`;
  if (status === 'not-ended') return `${STATUS_NAMES[status]}: ${state}`;
  // Other jobs have no status about leakage.
  return status === 'unknown' && kind === 'contamination' ? state : STATUS_NAMES[status];
}

/** The leaks by severity and what became of them, as in `2 leaks (1 high, 1 low), 1 corrected`; empty without leaks. */
export function leaksText({ leaks }: Pick<ReportRow, 'leaks'>): string {
  if (leaks.length === 0) return '';
  const named = SEVERITIES.flatMap((severity) => {
    const number = leaks.filter((leak) => leak.severity === severity).length;
    return number === 0 ? [] : [`${number} ${severity}`];
  });
  const severities = named.length === 0 ? '' : ` (${named.join(', ')})`;
  // One correction may remove several leaks.
  const settled = leaks.filter(({ outcome }) => outcome === 'corrected' || outcome === 'superseded').length;
  return `${leaks.length} ${leaks.length === 1 ? 'leak' : 'leaks'}${severities}, ${settled} corrected`;
}

/** The kinds of the leaks, each once. */
export function kindsText({ leaks }: Pick<ReportRow, 'leaks'>): string {
  return [...new Set(leaks.flatMap(({ kind }) => kind ?? []))].join(', ');
}

/** How the text compares with known solutions; empty if it was not compared, or is no copy. */
export function copyText({ contamination }: Pick<ReportRow, 'contamination'>): string {
  if (contamination === undefined || contamination.status === 'clean') return '';
  if (contamination.status === 'not-compared') return 'not compared: no known solution';
  const { testCaseId, confidence } = contamination;
  const of = testCaseId === undefined ? 'a known solution' : `a known solution of ${testCaseId}`;
  return `copy of ${of}${confidence === undefined ? '' : ` (confidence ${confidence.toFixed(2)})`}`;
}

/** The totals as pairs of a name and a number, in the order in which they are read. */
export function totalsOf({ totals }: RunReport): readonly (readonly [string, number])[] {
  const { statuses, candidates, copies } = totals;
  const rest = (['not-checked', 'not-ended', 'cancelled', 'unknown'] as const).filter(
    (status) => statuses[status] > 0,
  );
  return [
    ['candidates', candidates],
    ...(['clean', 'corrected', 'left-leaky', 'failed', ...rest] as const).map(
      (status) => [STATUS_NAMES[status], statuses[status]] as const,
    ),
    ['copies', copies],
  ];
}

/** What the calls of the run cost, in a sentence. @param money Writes an amount of US dollars. */
export function costText({ totals }: RunReport, money: (usd: number) => string): string {
  const { spentUsd, inDoubtUsd, budgetUsd, calls, batchCalls, callsInDoubt, unpricedCalls } = totals;
  const { reusedCalls, reusedUsd, cacheReadFraction } = totals;
  const parts = [
    `${money(spentUsd + inDoubtUsd)}${budgetUsd === null ? '' : ` of ${money(budgetUsd)}`} for ${calls} calls`,
    `${batchCalls} of them in batches`,
  ];
  if (cacheReadFraction !== null)
    parts.push(`${percent(cacheReadFraction)} of their input read from the prompt cache`);
  if (reusedCalls > 0)
    parts.push(`${reusedCalls} more answered by other jobs, where the answers had cost ${money(reusedUsd)}`);
  if (callsInDoubt > 0) parts.push(`${callsInDoubt} more in doubt, at their likely price`);
  if (unpricedCalls > 0) parts.push(`the price of ${unpricedCalls} is not known`);
  return parts.join(', ');
}
