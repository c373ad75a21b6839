#!/usr/bin/env node
// Runs vitest with the given arguments, says where the time went, and ends with one line that machines can read:
// "N passed, N failed", with ", N skipped" where there are any.
//
// Many tests kill processes, cut links and wait for locks to run out, on whatever else the machine is doing. Files in
// which a test failed are run once more, with nothing beside them. A test that passes then counts as passed, and its
// file is printed as "flaky:", since it depends on the machine or has found something that happens seldom.
//
// With --busy as the first argument, busy loops compete for the processor, and nothing is run again.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startBusyLoops } from './testing/busy-loops.mjs';
import { runTimed } from './testing/run-timed.mjs';
import { V8_FLAGS } from './testing/v8-flags.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
const secondsReporter = fileURLToPath(new URL('testing/file-seconds-reporter.mjs', import.meta.url));
const busy = process.argv[2] === '--busy';
const args = process.argv.slice(busy ? 3 : 2);
// Left for scripts/requirements.ts by a run of the whole suite.
const reportName = args.length === 0 ? 'tests.json' : 'some-tests.json';
const reportPath = fileURLToPath(new URL(`../node_modules/.cache/${reportName}`, import.meta.url));
const secondsPath = fileURLToPath(new URL('../node_modules/.cache/test-seconds.json', import.meta.url));
/** More failed files than this are no accident of a busy machine. */
const MAX_FILES_RUN_AGAIN = 5;
const MAX_LISTED_FILES = 10;

/** Runs vitest and reads its JSON report; without one, vitest did not come as far as to a test. */
function runVitest(args) {
  mkdirSync(dirname(reportPath), { recursive: true });
  for (const path of [reportPath, secondsPath]) rmSync(path, { force: true });
  const reporters = ['default', 'json', secondsReporter].map((name) => `--reporter=${name}`);
  const { status, wallSeconds, cpuSeconds } = runTimed(
    process.execPath,
    [...V8_FLAGS, vitest, 'run', ...reporters, `--outputFile.json=${reportPath}`, ...args],
    { cwd: root, env: { ...process.env, TEST_SECONDS_FILE: secondsPath } },
  );
  const read = (path) => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined);
  const report = read(reportPath);
  const fileSeconds = read(secondsPath) ?? [];
  return { status, wallSeconds, cpuSeconds, fileSeconds, files: report?.testResults ?? [], report };
}

const outcomesOf = (files) => files.flatMap((file) => file.assertionResults.map(({ status }) => status));
/** A test that was not run to its end is 'pending' in a file that counts as passed: the process of the file has died. */
const isFailure = (status) => status === 'failed' || status === 'pending';
const hasFailed = (file) => file.status === 'failed' || outcomesOf([file]).some(isFailure);
/** A test file that could not even be loaded. */
const isUnloadable = (file) => file.status === 'failed' && !outcomesOf([file]).some(isFailure);

function count(files) {
  const outcomes = outcomesOf(files);
  return {
    passed: outcomes.filter((status) => status === 'passed').length,
    failed: outcomes.filter(isFailure).length + files.filter(isUnloadable).length,
    skipped: outcomes.filter((status) => status !== 'passed' && !isFailure(status)).length,
  };
}

function failuresOf(file) {
  const name = relative(root, file.name);
  if (isUnloadable(file)) return [name];
  const failed = file.assertionResults.filter(({ status }) => isFailure(status));
  return failed.map(({ fullName }) => `${name} > ${fullName}`);
}

/** Runs the failed files alone, and prints those that pass then. */
function runAgain(failedFiles) {
  console.log(`\nRunning again, with nothing beside it, what failed in ${failedFiles.length} of the files:`);
  for (const failure of failedFiles.flatMap(failuresOf)) console.log(`  ${failure}`);
  const again = runVitest(['--no-file-parallelism', ...failedFiles.map(({ name }) => relative(root, name))]);
  const stillFailing = new Set(again.files.flatMap(failuresOf));
  for (const file of failedFiles) {
    const passedAlone = failuresOf(file).filter((failure) => !stillFailing.has(failure));
    if (passedAlone.length === 0) continue;
    console.log(`flaky: ${relative(root, file.name)}`);
    for (const failure of passedAlone)
      console.log(`  failed at first and passed when run again, alone: ${failure}`);
  }
  return again;
}

/** Times of all runs together; the system tells the processor time of the processes that were waited for. */
function printTimes(runs) {
  const total = (name) => runs.reduce((sum, run) => sum + run[name], 0);
  const files = runs.flatMap(({ fileSeconds }) => fileSeconds);
  const printHighest = (name) => {
    const sorted = files.toSorted((a, b) => b[name] - a[name]);
    for (const { file, [name]: seconds } of sorted.slice(0, MAX_LISTED_FILES)) {
      console.log(`  ${seconds.toFixed(1).padStart(6)} s  ${relative(root, file)}`);
    }
  };
  console.log('\nSlowest files:');
  printHighest('seconds');
  console.log('\nMost processor time:');
  printHighest('cpuSeconds');
  console.log(
    `Wall time ${total('wallSeconds').toFixed(0)} s, processor time ${total('cpuSeconds').toFixed(0)} s (user + system)`,
  );
}

const loops = busy ? startBusyLoops() : undefined;
const first = runVitest(args);
let { status, files } = first;
const runs = [first];
const failedFiles = files.filter(hasFailed);
// With arguments, somebody looks at single tests and wants to see each run as it was.
const mayRunAgain = args.length === 0 && !busy;
if (mayRunAgain && failedFiles.length > 0 && failedFiles.length <= MAX_FILES_RUN_AGAIN) {
  const again = runAgain(failedFiles);
  runs.push(again);
  const rerun = new Map(again.files.map((file) => [file.name, file]));
  files = files.map((file) => rerun.get(file.name) ?? file);
  status = again.status;
  writeFileSync(reportPath, JSON.stringify({ ...first.report, testResults: files }));
  // How long all files took beside each other, not how long a few took alone.
  writeFileSync(secondsPath, JSON.stringify(first.fileSeconds));
}
loops?.stop();

const counts = count(files);
if (first.report !== undefined && files.length === 0) {
  console.log('\nNo test ran.');
} else if (status !== 0 && counts.failed === 0) {
  console.log(
    `\nvitest ended with status ${status} outside of a test (see above); this counts as one failure.`,
  );
  counts.failed = 1;
}
printTimes(runs);
const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
console.log(`${counts.passed} passed, ${counts.failed} failed${skipped}`);
process.exitCode = counts.failed > 0 || counts.passed === 0 ? 1 : 0;
