// Runs the bundle of a thread or program with the code that V8 compiled for it earlier: hundreds of them are started, and compiling
// is a good part of each start. `compile.mjs` puts this beside the bundles.
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { loadBundle } from '../../src/code-cache/load-bundle.js';
import { startThread } from '../../src/code-cache/start-thread.js';

/** When the code of a process that goes on is kept, in milliseconds. */
const AFTER_MESSAGE_MS = 300;
const AFTER_START_MS = 1_500;

/** The modules of the bundles know their locations already. */
const ROOT = pathToFileURL('/');

/** @returns the function of the bundle that runs a task */
export const loadThread = (path: string) => startThread(pathToFileURL(path), ROOT);

/** Runs the program of the bundle. Each command of a program calls functions of its own, so each keeps its own code. */
export function runProgram(path: string): void {
  // Parses a few scripts at most: compiling the parser again, to run faster, took longer than all that it parses.
  setFlagsFromString('--liftoff-only');
  const [, , command = ''] = process.argv;
  const name = /^[a-z]+$/.test(command) ? command : 'none';
  const { keepCode } = loadBundle(pathToFileURL(path), { root: ROOT, name });
  if (keepCode === undefined) return;
  process.once('exit', keepCode);
  // Many are killed, without an event: a process that works for another one soon after its first message, workers later.
  process.once('message', () => setTimeout(keepCode, AFTER_MESSAGE_MS).unref());
  setTimeout(keepCode, AFTER_START_MS).unref();
}
