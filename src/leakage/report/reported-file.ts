import type { Severity } from '../kinds.js';
import { LEAK_KINDS, type LeakKind } from '../kinds.js';

interface ReportedKindEntry {
  readonly severity: Severity;
  readonly title: string;
  readonly whatToDo: string;
}

/** Every kind that a report can name: those of the analysis, and a leak whose kind nobody stated. */
export const REPORTED_KINDS: Readonly<Record<ReportedKind, ReportedKindEntry>> = {
  ...LEAK_KINDS,
  'data-leakage': {
    severity: 'high',
    title: 'data leakage',
    whatToDo: 'Keep everything that is learned to the training part.',
  },
};
export type ReportedKind = LeakKind | 'data-leakage';

/** One leak in a report. */
export interface ReportedFinding {
  readonly kind: ReportedKind;
  readonly severity: Severity;
  /** First and last line, counted from 1. */
  readonly line: number;
  readonly endLine: number;
  readonly message: string;
}

/** What a report says about one file. */
export interface ReportedFile {
  /** Path as the reader knows it, relative to where the check ran. */
  readonly file: string;
  readonly findings: readonly ReportedFinding[];
}
