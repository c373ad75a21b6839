#!/usr/bin/env node
import { runProgram } from './run-program.js';
import { watchStandardStreams } from './standard-output.js';

watchStandardStreams();
await runProgram(process.argv.slice(2));
