#!/usr/bin/env node
import { watchStandardStreams } from './standard-output.js';
import { startAnalysisEarly } from './start/early-analysis.js';

const args = process.argv.slice(2);
watchStandardStreams();
// The program takes longest to load.
startAnalysisEarly(args);
await import('./run-program.js').then(({ runProgram }) => runProgram(args));
