import { PYTHON_KEYWORDS } from './python-words.js';
import { type Token, TokenKind } from './token.js';

const NAME = /[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}]{0,9999}/uy;
const NUMBER = /(?:0[xXbBoO][\da-fA-F_]+|(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d[\d_]*)?[jJlL]?)/y;
const STRING_START = /[rRbBuUfFtT]{0,2}("""|'''|"|')/y;
const OPERATOR =
  /\*\*=|\/\/=|>>=|<<=|\.\.\.|!=|<>|->|:=|\*\*|\/\/|>>|<<|<=|>=|==|[-+*/%&|^@]=|[-+*/%&|^~<>()[\]{},:.;@=]/y;
const TAB_WIDTH = 8;

/**
 * Tokens of a Python text (any version), with logical line ends and indentation. Never throws: a character
 * that Python does not know becomes an operator of its own, an unclosed string ends with its line (or with
 * the text, where triple-quoted), a dedent to no known column closes to the nearest one.
 */
export function lexPython(source: string): Token[] {
  const tokens: Token[] = [];
  const columns = [0];
  let brackets = 0;
  let at = source.charCodeAt(0) === 0xfeff ? 1 : 0;
  let lineStart = true;
  let afterBreak = true;
  let openTriple = false;
  const push = (kind: TokenKind, start: number, end: number): void => {
    tokens.push({ kind, text: source.slice(start, end), start, end, afterBreak });
    afterBreak = false;
  };
  const endLine = (): void => {
    const last = tokens[tokens.length - 1];
    if (last === undefined || last.kind >= TokenKind.newline) return;
    push(TokenKind.newline, at, at);
  };
  while (at < source.length) {
    if (lineStart && brackets === 0) {
      const line = indentation(source, at);
      at = line.end;
      lineStart = false;
      if (line.blank) continue;
      let column = columns[columns.length - 1] as number;
      if (line.column > column) {
        columns.push(line.column);
        push(TokenKind.indent, at, at);
      }
      while (line.column < column) {
        columns.pop();
        push(TokenKind.dedent, at, at);
        column = columns[columns.length - 1] as number;
      }
      continue;
    }
    const char = source[at] as string;
    if (char === '\n' || char === '\r') {
      if (brackets === 0) endLine();
      at += 1;
      lineStart = true;
      afterBreak = true;
      continue;
    }
    if (char === ' ' || char === '\t' || char === '\f' || char === '\u00a0') {
      at += 1;
      continue;
    }
    if (char === '\\' && (source[at + 1] === '\n' || source[at + 1] === '\r')) {
      at += source[at + 1] === '\r' && source[at + 2] === '\n' ? 3 : 2;
      continue;
    }
    if (char === '#') {
      at = endOfLine(source, at);
      continue;
    }
    const start = at;
    const quote = matchAt(STRING_START, source, at);
    if (quote !== undefined) {
      const end =
        openTriple && quote[1]?.length === 3
          ? undefined
          : endOfString(source, STRING_START.lastIndex, quote[1] as string);
      // A docstring that never ends (an answer cut off) must not swallow the text after it.
      if (end === undefined) openTriple = true;
      at = end ?? STRING_START.lastIndex;
      push(end === undefined ? TokenKind.operator : TokenKind.string, start, at);
    } else if (matchAt(NAME, source, at) !== undefined) {
      at = NAME.lastIndex;
      push(PYTHON_KEYWORDS.has(source.slice(start, at)) ? TokenKind.keyword : TokenKind.name, start, at);
    } else if (startsNumber(source, at) && matchAt(NUMBER, source, at) !== undefined) {
      at = NUMBER.lastIndex;
      push(TokenKind.number, start, at);
    } else {
      at = matchAt(OPERATOR, source, at) === undefined ? at + 1 : OPERATOR.lastIndex;
      if ('([{'.includes(char)) brackets += 1;
      else if (')]}'.includes(char)) brackets = Math.max(0, brackets - 1);
      push(TokenKind.operator, start, at);
    }
    // A bracket that is never closed would swallow the rest as one line: `def` and `class` are never inside one.
    if (brackets > 0 && afterBreakOf(tokens) && startsDefinition(tokens)) brackets = reopenLine(tokens);
  }
  endLine();
  return tokens;
}

function matchAt(pattern: RegExp, source: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(source) ?? undefined;
}

function startsNumber(source: string, at: number): boolean {
  const unit = source.charCodeAt(at);
  if (unit >= 0x30 && unit <= 0x39) return true;
  const next = source.charCodeAt(at + 1);
  return unit === 0x2e && next >= 0x30 && next <= 0x39;
}

function afterBreakOf(tokens: readonly Token[]): boolean {
  return tokens[tokens.length - 1]?.afterBreak === true;
}

function startsDefinition(tokens: readonly Token[]): boolean {
  const text = tokens[tokens.length - 1]?.text;
  return text === 'def' || text === 'class' || text === 'return' || text === 'import';
}

/** Ends the unfinished line before the last token; the new bracket depth. */
function reopenLine(tokens: Token[]): number {
  const first = tokens.pop() as Token;
  tokens.push(
    { kind: TokenKind.newline, text: '', start: first.start, end: first.start, afterBreak: false },
    first,
  );
  return 0;
}

function endOfLine(source: string, from: number): number {
  let at = from;
  while (at < source.length && source[at] !== '\n' && source[at] !== '\r') at += 1;
  return at;
}

interface Indentation {
  readonly column: number;
  readonly end: number;
  readonly blank: boolean;
}

function indentation(source: string, from: number): Indentation {
  let column = 0;
  let at = from;
  for (; at < source.length; at++) {
    const char = source[at];
    if (char === ' ') column += 1;
    else if (char === '\t') column += TAB_WIDTH - (column % TAB_WIDTH);
    else if (char !== '\f') break;
  }
  const char = source[at];
  const blank = char === undefined || char === '\n' || char === '\r' || char === '#';
  return { column, end: at, blank };
}

/** Where a string ends; undefined for a triple-quoted one that never does. */
function endOfString(source: string, from: number, quote: string): number | undefined {
  const triple = quote.length === 3;
  let at = from;
  while (at < source.length) {
    const char = source[at] as string;
    if (char === '\\') {
      at += 2;
      continue;
    }
    if (!triple && (char === '\n' || char === '\r')) return at;
    if (source.startsWith(quote, at)) return at + quote.length;
    at += 1;
  }
  return triple ? undefined : source.length;
}
