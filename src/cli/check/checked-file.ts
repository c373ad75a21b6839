import { AgentError } from '../../errors.js';
import type { NotebookCode } from '../../leakage/notebook.js';
import type { Finding, SolutionCheckResult } from '../../queues/solution-check.js';

/** A file that was checked. */
export interface CheckedFile {
  readonly file: string;
  /** The file's own text. */
  readonly text: string;
  /** The encoding of the file, if that is not UTF-8. */
  readonly encoding?: string;
  /** The script that was checked: the text, or the code cells of a notebook. */
  readonly script: string;
  /** Set for a notebook: where its code comes from. */
  readonly notebook?: NotebookCode;
  readonly result: SolutionCheckResult;
  /** Whether the correction was written back; absent where that was not asked for. */
  readonly written?: boolean;
  /** Why it could not be, although there is one. */
  readonly notWritten?: unknown;
}

/** Why the exit code says that a file was not checked, or not corrected: it could not be written, or nothing checked its score. */
export function problemOf({ result, notWritten }: CheckedFile): unknown {
  if (notWritten !== undefined) return notWritten;
  const { notAnalyzed } = result;
  return notAnalyzed === undefined ? undefined : new AgentError('cannot-analyze', notAnalyzed);
}

/** What became of one file. */
export type CheckOutcome = CheckedFile | { readonly file: string; readonly error: unknown };

/** The findings that say "Yes". */
export function leaksOf({ findings }: SolutionCheckResult): readonly Finding[] {
  return findings.filter(({ leakageStatus }) => leakageStatus === 'Yes Data Leakage');
}
