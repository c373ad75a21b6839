import { LEAK_KINDS, type LeakKind, REPORTED_KINDS, type ReportedFile } from '../../leakage/index.js';
import type { Finding } from '../../queues/solution-check.js';
import { linesOfBlock } from '../line-numbers.js';
import { type CheckedFile, leaksOf } from './checked-file.js';

function reportedKind({ kind }: Finding): LeakKind | 'data-leakage' {
  const known = Object.keys(LEAK_KINDS).find((name): name is LeakKind => name === kind);
  return known ?? 'data-leakage';
}

/** What the correction changed besides the leak, as sentences. */
function notesOf({ notes = [] }: Finding): string[] {
  return notes.map((note) => `Note: ${note}.`);
}

/** The leaks of a file as reports for other programs show them; a block that was not found is at line 1. */
export function reportedFile({ file, script, result }: CheckedFile): ReportedFile {
  return {
    file,
    findings: leaksOf(result).map((finding) => {
      const kind = reportedKind(finding);
      const lines = linesOfBlock(finding.codeBlock, script) ?? { first: 1, last: 1 };
      return {
        kind,
        severity: finding.severity ?? REPORTED_KINDS[kind].severity,
        line: lines.first,
        endLine: lines.last,
        message: [finding.reason ?? REPORTED_KINDS[kind].whatToDo, ...notesOf(finding)].join(' '),
      };
    }),
  };
}
