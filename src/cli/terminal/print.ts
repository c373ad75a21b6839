import { colorsFor } from './colors.js';
import {
  COLOR,
  escapeControlChars,
  escapeControlCharsExceptColors,
  escapeControlCharsInLine,
} from './escape-control-chars.js';
import { ProgressLine } from './progress-line.js';

/**
 * Prints lines for people. Whatever is in them reaches no terminal as a control sequence (except for the colors that
 * this program adds), and no runner of a continuous integration as a command.
 */
export function print(text: string, stream: NodeJS.WriteStream = process.stdout): boolean {
  const shown = colorsFor(stream).isColorSupported
    ? escapeControlCharsExceptColors(text)
    : escapeControlChars(text);
  return ProgressLine.printAbove(() => stream.write(`${withoutCommands(shown)}\n`));
}

/** Prints lines for people to standard error. */
export function printNote(text: string): boolean {
  return print(text, process.stderr);
}

/** A message of commander: one line, and perhaps a suggestion on a second one. */
export function printUsageError(message: string): boolean {
  const text = message.trimEnd();
  const [, problem = text, suggestion] = USAGE_ERROR.exec(text) ?? [];
  return printNote(
    [problem, ...(suggestion === undefined ? [] : [suggestion])].map(escapeControlCharsInLine).join('\n'),
  );
}

const USAGE_ERROR = /^([\s\S]*)\n(\(Did you mean [^\n]*\?\))$/;

/** Prints JSON for programs: the same data, in characters that no terminal and no runner acts on. */
export function printJson(value: unknown, indentation?: number): boolean {
  return process.stdout.write(`${jsonText(value, indentation)}\n`);
}

/** Prints text in a format that other programs define, as the commands of GitHub Actions. The caller escapes it. */
export function printFormat(text: string): boolean {
  return process.stdout.write(text);
}

function jsonText(value: unknown, indentation?: number): string {
  return JSON.stringify(value, null, indentation)
    .replace(UNSAFE_IN_JSON, (character) =>
      [...Array(character.length).keys()]
        .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
        .join(''),
    )
    .replace(COMMAND_MARKER, '#\\u0023');
}

/** What `JSON.stringify` leaves: DEL and C1 controls, format characters, line separators. Line feeds are its own. */
const UNSAFE_IN_JSON = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}](?<!\n)/gu;

/** `##[`, `##vso[` and `##teamcity[` begin a command of GitHub Actions, Azure Pipelines and TeamCity anywhere in a line. */
const COMMAND_MARKER = /##(?=\w*\[)/g;
/** `::` begins a command of GitHub Actions at the beginning of a line, after white space that ends no line. */
const COMMAND_START = new RegExp(`^((?:[^\\S\\n\\r\\u2028\\u2029]|${COLOR})*):(?=:)`, 'gm');

function withoutCommands(text: string): string {
  return text.replace(COMMAND_MARKER, '#\\x23').replace(COMMAND_START, '$1\\x3a');
}
