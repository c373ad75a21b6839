import { REPORTED_KINDS, type ReportedFile } from './reported-file.js';

const COMMANDS = { high: 'error', medium: 'warning', low: 'notice' } as const;

/**
 * Findings as workflow commands of GitHub Actions, one line each: printed by a step, they become annotations of
 * the lines in the pull request (GitHub documentation, "Workflow commands").
 */
export function toGithubAnnotations(files: readonly ReportedFile[]): string {
  const lines = files.flatMap(({ file, findings }) =>
    findings.map(({ kind, severity, line, endLine, message }) => {
      const properties = [
        `file=${property(file)}`,
        `line=${line}`,
        `endLine=${endLine}`,
        `title=${property(`Data leakage: ${REPORTED_KINDS[kind].title}`)}`,
      ];
      return `::${COMMANDS[severity]} ${properties.join(',')}::${data(message)}\n`;
    }),
  );
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
