// Prints one hostile text through every printer of the command line, each after a line that names it:
// `tsx hostile-printers.ts`.
import type { CheckedFile } from '../../src/cli/check/checked-file.js';
import { FORMATS, printOutcomes } from '../../src/cli/check/print-outcomes.js';
import { printError } from '../../src/cli/print-error.js';
import { detailLines, jobLine, printJob } from '../../src/cli/print-job.js';
import type { RunReport } from '../../src/cli/report/run-report.js';
import { colorsFor } from '../../src/cli/terminal/colors.js';
import { escapeControlChars, escapeControlCharsInLine } from '../../src/cli/terminal/escape-control-chars.js';
import { print, printJson, printNote, printUsageError } from '../../src/cli/terminal/print.js';
import { renderContamination } from '../../src/cli/terminal/render-contamination.js';
import { renderRefinement } from '../../src/cli/terminal/render-refinement.js';
import { renderReport } from '../../src/cli/terminal/render-report.js';
import { UsageError } from '../../src/errors.js';
import type { JobView } from '../../src/producers/job-view.js';
import { HOSTILE_TEXT as TEXT } from '../support/hostile-text.js';

const colors = colorsFor({}, process.argv.includes('--colors') ? { FORCE_COLOR: '1' } : {});
if (process.argv.includes('--colors')) process.env.FORCE_COLOR = '1';

const checked = {
  file: TEXT,
  text: TEXT,
  script: `${TEXT}\nb = 1\n`,
  written: true,
  notWritten: new UsageError('unwritable-output', TEXT),
  result: {
    status: 'corrected',
    solution: { content: `${TEXT}\nb = 2\n` },
    notes: [TEXT],
    notFollowed: [{ line: 1, reason: TEXT }],
    findings: [
      {
        leakageStatus: 'Yes Data Leakage',
        kind: TEXT,
        severity: 'high',
        outcome: 'corrected',
        reason: TEXT,
        codeBlock: TEXT,
        correctedBlock: TEXT,
      },
    ],
  },
} as unknown as CheckedFile;

const job = {
  id: TEXT,
  state: 'failed',
  createdAt: TEXT,
  progress: TEXT,
  key: TEXT,
  status: TEXT,
  tags: { run: TEXT },
  error: { code: TEXT, message: TEXT },
  usage: { calls: 1, reusedCalls: 0, costUsd: null },
  callsInDoubt: [{ step: TEXT, turn: TEXT, likelyUsd: null }],
  result: { [TEXT]: TEXT },
} as unknown as JobView;

const result = {
  contaminated: true,
  confidence: 1,
  checks: {
    rename: { status: 'ran', value: 1, threshold: 1, contaminated: true, known: { testCaseId: TEXT } },
  },
};

const row = {
  key: TEXT,
  id: TEXT,
  kind: TEXT,
  state: 'completed',
  status: 'left-leaky',
  leaks: [{ kind: TEXT, outcome: 'uncorrected' }],
  notAnalyzed: TEXT,
  contamination: { status: 'contaminated', testCaseId: TEXT },
  calls: 1,
  costUsd: null,
};
const report = {
  run: TEXT,
  totals: { jobs: 1, candidates: 1, statuses: {}, spentUsd: 0, inDoubtUsd: 0, budgetUsd: null },
  failures: [{ code: 'job-failed', count: 1, example: { kind: TEXT, jobId: TEXT, message: TEXT } }],
  candidates: [row],
  others: [{ ...row, status: 'failed' }],
} as unknown as RunReport;

const PRINTERS: Readonly<Record<string, () => unknown>> = {
  line: () => print(escapeControlCharsInLine(TEXT)),
  lines: () => print(escapeControlChars(TEXT)),
  'nothing escaped before': () => print(TEXT),
  note: () => printNote(TEXT),
  json: () => printJson({ [TEXT]: TEXT }, 2),
  'usage error': () => printUsageError(`error: unknown option '${TEXT}'\n(Did you mean --json?)\n`),
  error: () => printError(new Error(TEXT), TEXT),
  'job line': () => print(jobLine(job, colors)),
  'job details': () => print(detailLines(job, colors, 60).join('\n')),
  job: () => printJob(job, false),
  'job as JSON': () => printJob(job, true),
  refinement: () =>
    print(
      renderRefinement(
        TEXT,
        TEXT,
        { outcome: 'selected', codeBlock: TEXT, plan: TEXT, attempts: 1 } as never,
        colors,
        40,
      ),
    ),
  results: () => print(renderContamination([{ file: TEXT, result: result as never }], colors)),
  report: () => print(renderReport(report, colors, 60)),
  ...Object.fromEntries(
    FORMATS.map((format) => [
      `check as ${format}`,
      () => printOutcomes([checked, { file: TEXT, error: new Error(TEXT) }], format, { explain: true }),
    ]),
  ),
};

for (const [name, printer] of Object.entries(PRINTERS)) {
  // Both streams go to the same file, and in this order.
  process.stdout.write(`=== ${name}\n`);
  printer();
}
