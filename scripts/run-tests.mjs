#!/usr/bin/env node
// Runs vitest with the given arguments and ends with one line that machines can read:
// "N passed, N failed", with ", N skipped" where there are any.
//
// Many tests kill processes, cut links and wait for locks to run out, on whatever else the machine is doing. Files in
// which a test failed are run once more, with nothing beside them; a test that passes then counts as passed, and is
// named, since it either asks too much of a busy machine or has found something that happens seldom.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
// Left for scripts/requirements.ts.
const reportPath = fileURLToPath(new URL('../node_modules/.cache/tests.json', import.meta.url));
/** More failed files than this are no accident of a busy machine. */
const MOST_RUN_AGAIN = 5;

/** Runs vitest and reads its JSON report; without one, vitest did not come as far as to a test. */
function runVitest(args) {
  rmSync(reportPath, { force: true });
  const { status } = spawnSync(
    process.execPath,
    [vitest, 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${reportPath}`, ...args],
    { cwd: root, stdio: 'inherit' },
  );
  const report = existsSync(reportPath) ? JSON.parse(readFileSync(reportPath, 'utf8')) : undefined;
  return { status, files: report?.testResults ?? [], report };
}

const outcomesOf = (files) => files.flatMap((file) => file.assertionResults.map(({ status }) => status));
/** A test file that could not even be loaded. */
const isUnloadable = (file) => file.status === 'failed' && !outcomesOf([file]).includes('failed');

function count(files) {
  const outcomes = outcomesOf(files);
  return {
    passed: outcomes.filter((status) => status === 'passed').length,
    failed: outcomes.filter((status) => status === 'failed').length + files.filter(isUnloadable).length,
    skipped: outcomes.filter((status) => status !== 'passed' && status !== 'failed').length,
  };
}

function failuresOf(files) {
  return files.flatMap((file) => {
    const name = relative(root, file.name);
    if (isUnloadable(file)) return [name];
    const failed = file.assertionResults.filter(({ status }) => status === 'failed');
    return failed.map(({ fullName }) => `${name} > ${fullName}`);
  });
}

const args = process.argv.slice(2);
const first = runVitest(args);
let files = first.files;
let { status } = first;
const failedFiles = files.filter((file) => file.status === 'failed');
// With arguments, somebody looks at single tests and wants to see each run as it was.
if (args.length === 0 && failedFiles.length > 0 && failedFiles.length <= MOST_RUN_AGAIN) {
  const failures = failuresOf(failedFiles);
  console.log(`\nRunning again, with nothing beside it, what failed in ${failedFiles.length} of the files:`);
  for (const failure of failures) console.log(`  ${failure}`);
  const again = runVitest(['--no-file-parallelism', ...failedFiles.map(({ name }) => relative(root, name))]);
  const rerun = new Map(again.files.map((file) => [file.name, file]));
  files = files.map((file) => rerun.get(file.name) ?? file);
  status = again.status;
  const stillFailing = new Set(failuresOf(files));
  const passedAlone = failures.filter((failure) => !stillFailing.has(failure));
  if (passedAlone.length > 0) console.log('\nFailed at first and passed when run again, alone:');
  for (const failure of passedAlone) console.log(`  ${failure}`);
  writeFileSync(reportPath, JSON.stringify({ ...first.report, testResults: files }));
}

const counts = count(files);
if (first.report !== undefined && files.length === 0) {
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
