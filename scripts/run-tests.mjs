#!/usr/bin/env node
// Runs vitest with the given arguments and ends with one line that machines can read:
// "N passed, N failed", with ", N skipped" where there are any.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
// Left for scripts/requirements.ts.
const reportPath = fileURLToPath(new URL('../node_modules/.cache/tests.json', import.meta.url));
rmSync(reportPath, { force: true });

/** Counts of vitest's JSON report; a test file that could not even be loaded counts as one failure. */
function count(report) {
  const unloadable = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && !assertionResults.some((assertion) => assertion.status === 'failed'),
  );
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + unloadable.length,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

const { status } = spawnSync(
  process.execPath,
  [
    vitest,
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${reportPath}`,
    ...process.argv.slice(2),
  ],
  { cwd: fileURLToPath(new URL('..', import.meta.url)), stdio: 'inherit' },
);
const report = existsSync(reportPath) ? JSON.parse(readFileSync(reportPath, 'utf8')) : undefined;

const counts = report === undefined ? { passed: 0, failed: 0, skipped: 0 } : count(report);
const nothingRan = report !== undefined && report.testResults.length === 0;
if (nothingRan) {
  console.log('\nNo test ran.');
} else if (status !== 0 && counts.failed === 0) {
  console.log(
    `\nvitest ended with status ${status} outside of a test (see above); this counts as one failure.`,
  );
  counts.failed = 1;
}
const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
console.log(`${counts.passed} passed, ${counts.failed} failed${skipped}`);
process.exitCode = counts.failed > 0 || counts.passed === 0 ? 1 : 0;
