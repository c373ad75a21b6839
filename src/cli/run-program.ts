import { CommanderError } from 'commander';
import { Interrupted } from './interruption.js';
import { rejectFilesNamedLikeOptions } from './named-files.js';
import { errorJson, printError } from './print-error.js';
import { createProgram } from './program.js';
import { isOutputFailure } from './standard-output.js';
import { printJson } from './terminal/print.js';

/** Exit code of a command that was called in a way it does not know. */
const WRONG_USAGE = 2;

/**
 * Runs the `fleet` command with these arguments, prints what went wrong, and sets the exit code of the process. Only one
 * that a signal ended also ends the process.
 */
export async function runProgram(args: readonly string[]): Promise<void> {
  /**
   * An error of the whole command, where a program reads standard output, so that it always finds JSON: of `watch`, one object a
   * line.
   */
  const printErrorJson = (error: { readonly code: string; readonly message: string }): void => {
    if (args.includes('--json')) printJson({ error }, args[0] === 'watch' ? undefined : 2);
  };
  try {
    await rejectFilesNamedLikeOptions(args);
    const program = await createProgram(args);
    await program.parseAsync(args, { from: 'user' });
  } catch (thrown) {
    if (thrown instanceof CommanderError) {
      // commander has printed its message, or the help or version that was asked for.
      process.exitCode = thrown.exitCode === 0 ? 0 : WRONG_USAGE;
      if (thrown.exitCode !== 0) {
        printErrorJson({ code: 'usage', message: thrown.message.replace(/^error: /, '') });
      }
    } else if (thrown instanceof Interrupted) {
      // Everything is closed; what the command was still reading, such as standard input, must not keep it.
      await (await import('./replace-file.js')).endReplacements();
      process.exit(thrown.exitCode);
    } else if (!isOutputFailure(thrown)) {
      process.exitCode = printError(thrown).entry.exitCode;
      printErrorJson(errorJson(thrown));
    }
  }
}
