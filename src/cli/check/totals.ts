import { plural } from '../terminal/amounts.js';
import { type CheckOutcome, leaksOf, problemOf } from './checked-file.js';

/** How many files came to what. A file counts once: as not checked, or with leaks, or clean. */
export interface Totals {
  readonly files: number;
  readonly clean: number;
  readonly withLeaks: number;
  readonly notChecked: number;
  /** Leaks in all files. */
  readonly leaks: number;
  /** Those of them that were corrected. */
  readonly corrected: number;
}

export function totalsOf(outcomes: readonly CheckOutcome[]): Totals {
  const notChecked = outcomes.filter((outcome) => 'error' in outcome || problemOf(outcome) !== undefined);
  const leaks = outcomes.map((outcome) => ('error' in outcome ? [] : leaksOf(outcome.result)));
  const withLeaks = outcomes.filter(
    (outcome, at) => !notChecked.includes(outcome) && (leaks[at] ?? []).length > 0,
  );
  return {
    files: outcomes.length,
    clean: outcomes.length - withLeaks.length - notChecked.length,
    withLeaks: withLeaks.length,
    notChecked: notChecked.length,
    leaks: leaks.flat().length,
    corrected: leaks.flat().filter(({ outcome }) => outcome === 'corrected').length,
  };
}

/** As in `12 files: 9 clean, 2 with leaks (3 leaks, 2 corrected), 1 not checked`. */
export function totalsText({ files, clean, withLeaks, notChecked, leaks, corrected }: Totals): string {
  const found = `${plural(leaks, 'leak')}, ${corrected} corrected`;
  const parts = [
    `${clean} clean`,
    ...(withLeaks === 0 && leaks === 0 ? [] : [`${withLeaks} with leaks (${found})`]),
    ...(notChecked === 0 ? [] : [`${notChecked} not checked`]),
  ];
  return `${plural(files, 'file')}: ${parts.join(', ')}`;
}
