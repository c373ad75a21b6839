#!/usr/bin/env node
import { CommanderError } from 'commander';
import { Interrupted } from './interruption.js';
import { refuseFilesNamedLikeOptions } from './named-files.js';
import { errorJson, printError } from './print-error.js';
import { createProgram } from './program.js';
import { isOutputFailure, watchStandardStreams } from './standard-output.js';
import { printJson } from './terminal/print.js';

/** Exit code of a command that was called in a way it does not know. */
const WRONG_USAGE = 2;

/** An error of the whole command, where a program reads standard output, so that it always finds JSON. */
function printErrorJson(error: { readonly code: string; readonly message: string }): void {
  if (process.argv.includes('--json')) printJson({ error }, 2);
}

watchStandardStreams();
try {
  await refuseFilesNamedLikeOptions(process.argv.slice(2));
  await createProgram().parseAsync();
} catch (thrown) {
  if (thrown instanceof CommanderError) {
    // commander has printed its message, or the help or version that was asked for.
    process.exitCode = thrown.exitCode === 0 ? 0 : WRONG_USAGE;
    if (thrown.exitCode !== 0) {
      printErrorJson({ code: 'usage', message: thrown.message.replace(/^error: /, '') });
    }
  } else if (thrown instanceof Interrupted) {
    // Everything is closed; what the command was still reading, such as standard input, must not keep it.
    process.exit(thrown.exitCode);
  } else if (!isOutputFailure(thrown)) {
    process.exitCode = printError(thrown).entry.exitCode;
    printErrorJson(errorJson(thrown));
  }
}
