// Loads the bundle of a thread, which is in CommonJS, with the code that V8 compiled for it in an earlier thread: hundreds of
// threads are started, and compiling is a good part of each start. `compile.mjs` copies this file beside the bundles.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { Script } from 'node:vm';
import { threadId } from 'node:worker_threads';

/** @returns the function of the bundle that runs a task */
export function loadCached(path) {
  const cachePath = `${path}.cache`;
  const cachedData = readCache(cachePath);
  const script = new Script(Module.wrap(readFileSync(path, 'utf8')), {
    filename: path,
    ...(cachedData === undefined ? {} : { cachedData }),
  });
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(path), module, path, dirname(path));
  const run = module.exports.default;
  // Another version of Node rejects the code.
  if (script.cachedDataRejected === false) return run;
  return writingAfterFirstTask(run, () => writeCache(cachePath, script.createCachedData()));
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
