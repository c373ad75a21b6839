import { maybeMagic, physicalLine } from './lines.js';
import type { InterpreterResult } from './python-answer.js';
import { type ParseOwner, PythonParser } from './python-parser.js';
import type { firstSyntaxError } from './syntax-error.js';

/** Whether a text is Python. `exact`: Python itself said so; else the syntax tree, which misses some errors. */
export type ParseResult =
  | { readonly ok: true; readonly exact: boolean }
  | {
      readonly ok: false;
      readonly exact: boolean;
      /** Line and column of the error, both from 1; the column counts UTF-16 code units. */
      readonly line: number;
      readonly column: number;
      readonly message: string;
    };

const parsers = new Map<string, PythonParser>();

/** The parser of the interpreter that FLEET_PYTHON names; none where it is set to nothing. */
function configuredParser(): PythonParser | undefined {
  const interpreter = process.env.FLEET_PYTHON ?? 'python3';
  if (interpreter === '') return undefined;
  const parser = parsers.get(interpreter) ?? new PythonParser(interpreter);
  parsers.set(interpreter, parser);
  return parser;
}

/** Starts the interpreter, where there is one, before there is a text: for a process that parses its own texts alone. */
export function startPython(): void {
  configuredParser()?.startAlone();
}

/** Python counts code points and may leave the position out. */
function inCodeUnits(text: string, result: InterpreterResult & { ok: false }): ParseResult {
  const { message } = result;
  const line = physicalLine(text, result.line ?? Number.POSITIVE_INFINITY);
  let column = 1;
  let points = 1;
  for (const point of line.text) {
    if (points >= (result.column ?? 1)) break;
    points += 1;
    column += point.length;
  }
  return { ok: false, exact: true, line: line.number, column, message };
}

/**
 * How a text is parsed; all that is left out is done in place, and for nobody in particular. What it is done with is loaded
 * then: a worker has threads for it.
 */
export interface ParseOptions extends ParseOwner {
  /** The first error by the syntax tree: in a thread where that must not block the caller. */
  readonly syntaxError?: typeof firstSyntaxError;
  /** Puts Python instead of a notebook's commands: the same. */
  readonly neutralize?: (text: string) => Promise<string>;
}

async function parse(text: string, options: ParseOptions): Promise<ParseResult> {
  const result = await configuredParser()?.parse(text, options);
  if (typeof result === 'object') {
    return result.ok ? { ok: true, exact: true } : inCodeUnits(text, result);
  }
  const error = await (options.syntaxError ?? (await import('./syntax-error.js')).firstSyntaxError)(text);
  return error === null ? { ok: true, exact: false } : { ok: false, exact: false, ...error };
}

/**
 * Whether `text` parses as Python 3. Asked of a `python3` on the PATH (FLEET_PYTHON names another one; set to
 * nothing, none is used), which runs `ast.parse` and nothing else; where there is none, or it has no answer
 * within 10 s, of the syntax tree. A notebook's magics are not errors. No part of the text is ever run.
 *
 * @throws AnalysisLimitError where Python has no answer and the syntax tree takes too long; the reason of the signal, if it aborts before the
 * turn of the text.
 */
export async function parsesAsPython(text: string, options: ParseOptions = {}): Promise<ParseResult> {
  // A byte order mark is part of the file, not of the script; Python takes it off as well.
  const source = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const asItIs = await parse(source, options);
  if (asItIs.ok) return asItIs;
  if (!maybeMagic(source)) return asItIs;
  const neutralize = options.neutralize ?? (await import('./notebook-magics.js')).neutralizeMagics;
  const neutral = await neutralize(source);
  return neutral === source ? asItIs : parse(neutral, options);
}
