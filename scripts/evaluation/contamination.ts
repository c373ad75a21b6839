import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { completeKnownSolution, MemoryKnownSet } from '../../src/contamination/index.js';
import { messageOf } from '../../src/errors.js';
import { type EvaluationReport, evaluatePairs, type Proportion, reportOn } from './labeled-pairs.js';
import { type ReadRows, readKnownSolutions, readPairs } from './read-pairs.js';

const USAGE = `usage: npm run eval:contamination -- FILE.jsonl [--background KNOWN.jsonl] [--json]

Checks every pair of FILE (id, kind, label, known, output) with a set of just its known solution, plus the
solutions of KNOWN (testCaseId, solution) as other tasks' ones. Prints recall and false-positive rate per kind
with 95 % intervals, the wrong rows, and how far the confidence can be relied on.
Exit code 2: nothing could be read.
`;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      background: { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const [file] = positionals;
  if (values.help === true || file === undefined || positionals.length > 1) {
    (values.help === true ? process.stdout : process.stderr).write(USAGE);
    return values.help === true ? 0 : 2;
  }
  const pairs = readPairs(readFileSync(file, 'utf8'));
  warn(file, pairs);
  if (pairs.rows.length === 0) {
    process.stderr.write(`${file} holds no row that can be read\n`);
    return 2;
  }
  const background =
    values.background === undefined ? new MemoryKnownSet() : loadBackground(values.background);
  const report = reportOn(await evaluatePairs(pairs.rows, background));
  const unread = pairs.broken.length;
  if (values.json === true) process.stdout.write(`${JSON.stringify({ ...report, unread }, null, 2)}\n`);
  else process.stdout.write(describe(report, unread));
  return 0;
}

function loadBackground(file: string): MemoryKnownSet {
  const known = readKnownSolutions(readFileSync(file, 'utf8'));
  warn(file, known);
  const set = new MemoryKnownSet();
  for (const row of known.rows) set.add(completeKnownSolution(row));
  return set;
}

function warn(file: string, { rows, broken }: ReadRows<unknown>): void {
  for (const { line, problem } of broken) process.stderr.write(`${file}:${line}: ${problem}\n`);
  if (broken.length > 0)
    process.stderr.write(`${file}: ${broken.length} of ${broken.length + rows.length} rows cannot be read\n`);
}

const percent = (fraction: number): string => `${(fraction * 100).toFixed(1)} %`;
const shown = ({ count, of, fraction, low, high }: Proportion): string =>
  `${`${count}/${of}`.padStart(9)}  ${percent(fraction).padStart(7)}  [${percent(low)}, ${percent(high)}]`;

function describe(report: EvaluationReport, unread: number): string {
  const lines = [
    `recall                ${shown(report.recall)}`,
    `false-positive rate   ${shown(report.falsePositives)}`,
    `rows not readable     ${String(unread).padStart(9)}`,
    '',
    'kind                             flagged  fraction  95 % interval',
    ...report.kinds.map(
      ({ kind, label, flagged }) =>
        `${`${label === 'clean' ? '  clean ' : ''}${kind}`.padEnd(30)}${shown(flagged)}`,
    ),
    '',
    'confidence     mean   right',
    ...report.reliability.map(
      ({ from, to, meanConfidence, right }) =>
        `${from.toFixed(2)}-${to.toFixed(2)}     ${meanConfidence.toFixed(3)} ${shown(right)}`,
    ),
    '',
    `wrong rows: ${report.wrong.length === 0 ? 'none' : ''}`,
    ...report.wrong.map(
      ({ id, kind, confidence, reason }) =>
        `  ${id}  ${kind}  confidence ${confidence.toFixed(2)}  ${reason ?? 'not flagged'}`,
    ),
  ];
  return `${lines.join('\n')}\n`;
}

process.exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`${messageOf(error)}\n`);
  return 2;
});
