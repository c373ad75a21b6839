import { escapeControlCharsInLine } from './terminal/escape-control-chars.js';
import { printNote } from './terminal/print.js';

/**
 * What becomes of a command whose standard output fails. A reader that has gone (`| head -1`) is not a failure: the
 * command goes on to its end, with the exit code that it would have had. Anything else, such as a full disk, means
 * that the output is incomplete: one sentence says so, and the exit code is 2.
 */
const INCOMPLETE_OUTPUT = 2;

function codeOf(thrown: unknown): string | undefined {
  return (thrown as NodeJS.ErrnoException | undefined)?.code;
}

let failure: Error | undefined;

const ended = new AbortController();

/**
 * Aborted once standard output has failed in either way, with its error as the reason: the end of a command that would go on
 * printing forever. Thrown, the reason leaves the exit code as described above.
 */
export const outputEnded: AbortSignal = ended.signal;

/** Has failures of the standard streams end the command as described above, instead of as uncaught errors. */
export function watchStandardStreams(): void {
  process.stdout.on('error', (error: Error) => {
    ended.abort(error);
    if (codeOf(error) === 'EPIPE' || failure !== undefined) return;
    failure = error;
    printNote(`error standard output could not be written: ${escapeControlCharsInLine(error.message)}`);
  });
  // There is nowhere left to say that standard error fails.
  process.stderr.on('error', () => undefined);
  process.on('exit', () => {
    if (failure !== undefined) process.exitCode = INCOMPLETE_OUTPUT;
  });
}

/** Whether an error only says that standard output failed, which `watchStandardStreams` has dealt with. */
export function isOutputFailure(thrown: unknown): boolean {
  return (
    thrown === failure || (codeOf(thrown) === 'EPIPE' && (thrown as { syscall?: string }).syscall === 'write')
  );
}
