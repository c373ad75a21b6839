import type { TargetReport } from './fuzz-target.js';

/** The closing table, and where the failing inputs are. */
export function renderReports(reports: readonly TargetReport[], seed: number): string {
  const header = ['target', 'inputs', 'refused', 'inputs/s', 'max CPU ms', 'findings'];
  const rows = reports.map((report) => [
    report.target,
    String(report.inputs),
    String(report.refused),
    (report.inputs / (report.durationMs / 1_000)).toFixed(0),
    report.maxCpuMs.toFixed(0),
    String(report.findings.length),
  ]);
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ');
  const findings = reports.flatMap((report) =>
    report.findings.map(
      ({ target, result, times, size, file }) =>
        `${target}: ${result.signature} (${times} times; ${size} characters): ${file}`,
    ),
  );
  return `${[`seed ${seed}`, line(header), ...rows.map(line), ...findings].join('\n')}\n`;
}
