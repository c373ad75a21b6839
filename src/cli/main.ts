#!/usr/bin/env node
import { WITHOUT_CODE_CACHE } from '../code-cache/until-stopped.js';
import { watchStandardStreams } from './standard-output.js';
import { COMMAND_PARTS } from './start/command-parts.js';
import { startAnalysisEarly } from './start/early-analysis.js';

/** The loader of the bundle keeps the code of these. */
export const commands = Object.keys(COMMAND_PARTS).filter((name) => !WITHOUT_CODE_CACHE.includes(name));

const args = process.argv.slice(2);
watchStandardStreams();
// The program takes longest to load.
startAnalysisEarly(args);
void import('./run-program.js').then(({ runProgram }) => runProgram(args));
