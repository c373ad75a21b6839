#!/usr/bin/env node
import { LONG_RUNNING } from '../code-cache/long-running.js';
import { watchStandardStreams } from './standard-output.js';
import { COMMAND_PARTS } from './start/command-parts.js';
import { startAnalysisEarly } from './start/early-analysis.js';

/** The loader of the bundle keeps the code of these. */
export const commands = Object.keys(COMMAND_PARTS).filter((name) => !LONG_RUNNING.includes(name));

const args = process.argv.slice(2);
watchStandardStreams();
// The program takes longest to load.
startAnalysisEarly(args);
void import('./run-program.js').then(({ runProgram }) => runProgram(args));
