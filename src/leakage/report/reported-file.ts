import { LEAK_KINDS, type LeakKind, type Severity } from '../kinds.js';

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
  /** What the reader should know about the check itself: that it failed, or what it did not cover. */
  readonly notices?: readonly ReportedNotice[];
}

/** A sentence about the check of a file. */
export interface ReportedNotice {
  readonly level: 'error' | 'warning';
  /** Counted from 1; absent: the file as a whole. */
  readonly line?: number;
  readonly message: string;
}

const COMMANDS = { high: 'error', medium: 'warning', low: 'notice' } as const;

/**
 * Findings as workflow commands of GitHub Actions, one line each: printed by a step, they become annotations of
 * the lines in the pull request (GitHub documentation, "Workflow commands").
 */
export function toGithubAnnotations(files: readonly ReportedFile[]): string {
  const lines = files.flatMap(({ file, findings, notices = [] }) => [
    ...findings.map(({ kind, severity, line, endLine, message }) => {
      const properties = [
        `file=${property(file)}`,
        `line=${line}`,
        `endLine=${endLine}`,
        `title=${property(`Data leakage: ${REPORTED_KINDS[kind].title}`)}`,
      ];
      return `::${COMMANDS[severity]} ${properties.join(',')}::${data(message)}\n`;
    }),
    ...notices.map(({ level, line, message }) => {
      const at = line === undefined ? '' : `,line=${line}`;
      const title = level === 'error' ? 'Not checked' : 'Not followed';
      return `::${level} file=${property(file)}${at},title=${title}::${data(message)}\n`;
    }),
  ]);
  return lines.join('');
}

/** A message must not end its line or hold an escape of its own. */
function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

/** A property also must not end itself. */
function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
