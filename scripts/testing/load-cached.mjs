// Loads the bundle of a thread or program, which is in CommonJS, with the code that V8 compiled for it earlier: hundreds of
// them are started, and compiling is a good part of each start. `compile.mjs` copies this file beside the bundles.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';
import { threadId } from 'node:worker_threads';

// A script that was compiled before cannot import by itself. `compile.mjs` writes a call of this instead.
globalThis[Symbol.for('solution-fleet.import')] = (address) => import(address);

/** When the code of a process that goes on is kept, in milliseconds. */
const AFTER_MESSAGE_MS = 300;
const AFTER_START_MS = 1_500;

/** @returns the function of the bundle that runs a task */
export function loadThread(path) {
  const { exports, writeCode } = load(path, path);
  const run = exports.default;
  return writeCode === undefined ? run : writingAfterFirstTask(run, writeCode);
}

/** Runs the program of the bundle. Each command of a program calls functions of its own, so each keeps its own code. */
export function runProgram(path) {
  // Parses a few scripts at most: compiling the parser again, to run faster, took longer than all that it parses.
  setFlagsFromString('--liftoff-only');
  const [, , command = ''] = process.argv;
  const name = /^[a-z]+$/.test(command) ? `.${command}` : '';
  const { writeCode } = load(path, `${path}${name}`);
  if (writeCode === undefined) return;
  process.once('exit', writeCode);
  // Many are killed, without an event: a process that works for another one soon after its first message, workers later.
  process.once('message', () => setTimeout(writeCode, AFTER_MESSAGE_MS).unref());
  setTimeout(writeCode, AFTER_START_MS).unref();
}

/** V8 rejects code that was compiled under other flags: the test processes have some, the programs that they start have none. */
const FLAGS = process.execArgv.some((flag) => flag.startsWith('--')) ? '.flags' : '';

/** @returns what the bundle exports; and what keeps its code for the next start, unless there is code that can be used */
function load(path, name) {
  const cachePath = `${name}${FLAGS}.cache`;
  const cachedData = readCache(cachePath);
  // ASCII is read as it is: decoding megabytes of UTF-8 is a fifth of a start.
  const script = new Script(readFileSync(path, 'latin1'), {
    filename: path,
    ...(cachedData === undefined ? {} : { cachedData }),
  });
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(path), module, path, dirname(path));
  // Another version of Node rejects the code.
  const isUsable = script.cachedDataRejected === false;
  const writeCode = isUsable ? undefined : () => writeCache(cachePath, script.createCachedData());
  return { exports: module.exports, writeCode };
}

/**
 * Functions are compiled when they are first called: the code is kept after the first task, since a thread is ended without
 * an event. The first call only asks whether the thread is ready.
 */
function writingAfterFirstTask(run, write) {
  let calls = 0;
  return async (task) => {
    calls += 1;
    const isFirstTask = calls === 2;
    try {
      return await run(task);
    } finally {
      if (isFirstTask) write();
    }
  };
}

function readCache(path) {
  try {
    return readFileSync(path);
  } catch {
    // There is none yet.
    return undefined;
  }
}

function writeCache(path, data) {
  const fresh = `${path}.${process.pid}-${threadId}`;
  try {
    writeFileSync(fresh, data);
    renameSync(fresh, path);
  } catch {
    // Another run has removed these bundles as old ones. A cache that is missing costs only time.
  }
}
