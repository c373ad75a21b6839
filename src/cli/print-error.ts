import { redactErrorText } from '../config/redact.js';
import { type FleetError, toFleetError } from '../errors.js';
import { colorsFor } from './terminal/colors.js';
import { escapeControlCharsInLine } from './terminal/escape-control-chars.js';
import { printNote } from './terminal/print.js';

/** Writes an error to standard error as two sentences: what happened, and what to do. */
export function printError(thrown: unknown, subject?: string): FleetError {
  const error = toFleetError(thrown);
  const message = redactErrorText(error.message);
  const colors = colorsFor(process.stderr);
  const what = subject === undefined ? message : `${subject}: ${message}`;
  printNote(`${colors.red('error')} ${escapeControlCharsInLine(what)} ${colors.dim(`(${error.code})`)}`);
  printNote(`      ${error.entry.whatToDo}`);
  return error;
}

/** An error as JSON output shows it. */
export function errorJson(thrown: unknown): { code: string; message: string } {
  const { code, message } = toFleetError(thrown);
  return { code, message: redactErrorText(message) };
}
