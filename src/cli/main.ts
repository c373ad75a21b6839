#!/usr/bin/env node
import { watchStandardStreams } from './standard-output.js';
import { COMMAND_PARTS } from './start/command-parts.js';
import { startAnalysisEarly } from './start/early-analysis.js';

/** These run for long: code that is loaded before it is called would take memory all the time, and a start is rare. */
const LONG_RUNNING: readonly string[] = ['worker', 'serve'];
/** The loader of the bundle keeps the code of these. */
export const commands = Object.keys(COMMAND_PARTS).filter((name) => !LONG_RUNNING.includes(name));

const args = process.argv.slice(2);
watchStandardStreams();
// The program takes longest to load.
startAnalysisEarly(args);
void import('./run-program.js').then(({ runProgram }) => runProgram(args));
