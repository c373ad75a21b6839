import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { markdownTable, writeTable } from '../../scripts/markdown-tables.js';
import { packagePath } from '../../src/package-root.js';
import type { MeasuredRow } from '../harness/measurement.js';
import { rowText } from '../harness/table.js';
import { commandsTable } from './commands-table.js';
import { costTable, isCost } from './cost-table.js';
import { sizingTable } from './sizing-table.js';

const DOCUMENT = 'performance.md';

/** The run from which the tables are made. */
export interface RunFacts {
  readonly machine: string;
  readonly minutes: number;
  /** As in `measuredCommit`. */
  readonly commit: string;
}

function benchmarkTable(rows: readonly MeasuredRow[]): string {
  return markdownTable(
    ['row', 'work', 'against', 'ratio', 'min – max (runs)', 'to reach', 'met', 'numbers'],
    rows.map((measured) => {
      const { ratio, spread, target, met, details } = rowText(measured);
      const { name, work, against } = measured.row;
      return [name, work, against, ratio, spread, target, met, details.join('; ')];
    }),
  );
}

/** Short name of the commit that was measured, and whether anything was changed since. */
export async function measuredCommit(): Promise<string> {
  const git = async (...args: string[]) =>
    (await promisify(execFile)('git', args, { cwd: packagePath() })).stdout.trim();
  try {
    const changed = (await git('status', '--porcelain', '--untracked-files=no')) !== '';
    return `commit ${await git('rev-parse', '--short', 'HEAD')}${changed ? ' with changes' : ''}`;
  } catch {
    return 'no commit known';
  }
}

/** Writes the tables of `docs/performance.md` from one run of all rows, or that of the cost rows alone. @returns The document. */
export async function writeMarkdown(rows: readonly MeasuredRow[], run: RunFacts): Promise<string> {
  const date = new Date().toISOString().slice(0, 10);
  const facts = `${run.machine}. ${date}, ${run.commit}, ${run.minutes.toFixed(0)} minutes in all.`;
  if (rows.some(isCost)) {
    writeTable(DOCUMENT, 'cost run', facts);
    writeTable(DOCUMENT, 'cost', costTable(rows));
  }
  // The other tables are of one run of all rows.
  if (rows.every(isCost)) return `docs/${DOCUMENT}`;
  writeTable(DOCUMENT, 'run', facts);
  writeTable(
    DOCUMENT,
    'benchmarks',
    benchmarkTable(rows.filter((one) => !isCommands(one.row.name) && !isCost(one))),
  );
  writeTable(DOCUMENT, 'redis commands', commandsTable(rows));
  writeTable(DOCUMENT, 'sizing', sizingTable(rows));
  return `docs/${DOCUMENT}`;
}

function isCommands(name: string): boolean {
  return name.startsWith('commands ');
}
