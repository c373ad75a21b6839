import type { LeakFinding } from '../analyze.js';

/** What a report says about one file. */
export interface ReportedFile {
  /** Path as the reader knows it, relative to where the check ran. */
  readonly file: string;
  readonly findings: readonly Pick<
    LeakFinding,
    'kind' | 'severity' | 'line' | 'endLine' | 'explanation' | 'whatToDo'
  >[];
}
