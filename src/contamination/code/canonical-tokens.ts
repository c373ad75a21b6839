import { matchingBracket } from './brackets.js';
import { made } from './statement.js';
import { type Token, TokenKind } from './token.js';

const LONGEST = 1_000;
const PLAIN_SIGNS = new Map([
  ['===', '=='],
  ['!==', '!='],
  ['<>', '!='],
  ['and', '&&'],
  ['or', '||'],
]);
const ARITHMETIC = new Set(['+', '-', '*', '/', '%', '//', '**', '&', '|', '^', '<<', '>>']);
const SWAPPED = new Map([
  ['>', '<'],
  ['>=', '<='],
]);

/**
 * One form for what is written in several: `x = x + e` and `x++` as `x += e` and `x += 1`, `a > b` as
 * `b < a`, `===` as `==`, `list()` as `[]`, no comma before a closing bracket.
 */
export function canonicalTokens(tokens: readonly Token[]): readonly Token[] {
  // No statement that people write; here every bracket may be looked at from every other.
  if (tokens.length > LONGEST) return tokens;
  const signs = tokens.map((token) => {
    const plain = token.kind === TokenKind.string ? undefined : PLAIN_SIGNS.get(token.text);
    return plain === undefined ? token : made(plain, token);
  });
  const plain = emptyCollections(withoutNeedlessBrackets(withoutTrailingComma(signs)));
  return swappedComparisons(canonicalStep(plain));
}

const EMPTY = new Map([
  ['list', '[]'],
  ['Array', '[]'],
  ['dict', '{}'],
  ['Object', '{}'],
]);

/** `list()` and `new Array()` as `[]`, `dict()` and `new Object()` as `{}`. */
function emptyCollections(tokens: readonly Token[]): readonly Token[] {
  const isEmptyCall = (at: number): boolean =>
    EMPTY.has(tokens[at]?.text ?? '') &&
    tokens[at]?.kind === TokenKind.name &&
    tokens[at + 1]?.text === '(' &&
    tokens[at + 2]?.text === ')' &&
    tokens[at - 1]?.text !== '.' &&
    tokens[at + 3]?.text !== '.';
  if (!tokens.some((_, at) => isEmptyCall(at))) return tokens;
  const plain: Token[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] as Token;
    if (!isEmptyCall(at)) {
      plain.push(token);
      continue;
    }
    if (plain[plain.length - 1]?.text === 'new') plain.pop();
    for (const bracket of EMPTY.get(token.text) ?? '') plain.push(made(bracket, token));
    at += 2;
  }
  return plain;
}

/** `if (c)`, `return (v)`, `x = (v)` and `(a) => v` without their brackets. */
function withoutNeedlessBrackets(tokens: readonly Token[]): readonly Token[] {
  let remaining = tokens.filter((token, i) => {
    if (token.kind !== TokenKind.operator) return true;
    if (token.text === '(') return !(tokens[i + 2]?.text === ')' && tokens[i + 3]?.text === '=>');
    return !(token.text === ')' && tokens[i - 2]?.text === '(' && tokens[i + 1]?.text === '=>');
  });
  for (let open = 0; open < remaining.length && open <= 2; open++) {
    const starts =
      open === 0 ||
      (open === 1 && remaining[0]?.text === 'return') ||
      (open === 2 && remaining[1]?.text === '=');
    if (!starts || remaining[open]?.text !== '(' || matchingBracket(remaining, open) !== remaining.length - 1)
      continue;
    const inner = remaining.slice(open + 1, -1);
    // A tuple's brackets go as well: `return (a, b)` is `return a, b`.
    if (inner.length === 0) continue;
    remaining = [...remaining.slice(0, open), ...inner];
    open -= 1;
  }
  return remaining;
}

export function withoutTrailingComma(tokens: readonly Token[]): readonly Token[] {
  return tokens.filter((token, i) => token.text !== ',' || !/^[)\]}]$/.test(tokens[i + 1]?.text ?? ''));
}

function canonicalStep(tokens: readonly Token[]): readonly Token[] {
  const [first, second, third, fourth] = tokens;
  if (first === undefined || second === undefined) return tokens;
  const last = tokens[tokens.length - 1] as Token;
  if (last.text === '++' || last.text === '--') {
    return [
      ...tokens.slice(0, -1),
      made(last.text === '++' ? '+=' : '-=', last),
      made('1', last, TokenKind.number),
    ];
  }
  if (first.text === '++' || first.text === '--') {
    return [
      ...tokens.slice(1),
      made(first.text === '++' ? '+=' : '-=', first),
      made('1', first, TokenKind.number),
    ];
  }
  const repeats = second.text === '=' && third?.text === first.text && first.kind === TokenKind.name;
  if (repeats && fourth !== undefined && ARITHMETIC.has(fourth.text)) {
    const rest = tokens.slice(4);
    // Only where the operator is the outermost: `x = x - a + b` is not `x -= a + b`.
    if (!rest.some((token) => ARITHMETIC.has(token.text) || token.text === '?' || token.text === 'if')) {
      return [first, made(`${fourth.text}=`, fourth), ...rest];
    }
  }
  return tokens;
}

const LOOSER = new Set([
  '&&',
  '||',
  'not',
  '!',
  'if',
  'else',
  'return',
  '=',
  '?',
  ':',
  ',',
  '=>',
  'lambda',
  ';',
  'in',
  'is',
  'for',
]);
const COMPARISONS = new Set(['<', '<=', '>', '>=', '==', '!=']);

/** Turns `a > b` into `b < a` wherever both sides can be told without a grammar. */
function swappedComparisons(tokens: readonly Token[]): readonly Token[] {
  if (!tokens.some((token) => SWAPPED.has(token.text) && token.kind === TokenKind.operator)) return tokens;
  const result: Token[] = [...tokens];
  for (let i = 0; i < result.length; i++) {
    const sign = result[i] as Token;
    const swapped = sign.kind === TokenKind.operator ? SWAPPED.get(sign.text) : undefined;
    if (swapped === undefined) continue;
    const from = operandStart(result, i);
    const to = operandEnd(result, i);
    if (from === undefined || to === undefined) continue;
    const left = result.slice(from, i);
    const right = result.slice(i + 1, to);
    result.splice(from, to - from, ...right, made(swapped, sign), ...left);
    i = to - 1;
  }
  return result;
}

function operandStart(tokens: readonly Token[], sign: number): number | undefined {
  let depth = 0;
  let i = sign - 1;
  for (; i >= 0; i--) {
    const { text, kind } = tokens[i] as Token;
    if (kind === TokenKind.string) continue;
    if (')]}'.includes(text)) depth += 1;
    else if ('([{'.includes(text)) {
      if (depth === 0) break;
      depth -= 1;
    } else if (depth === 0 && COMPARISONS.has(text)) return undefined;
    else if (depth === 0 && LOOSER.has(text)) break;
  }
  return i + 1 === sign ? undefined : i + 1;
}

function operandEnd(tokens: readonly Token[], sign: number): number | undefined {
  let depth = 0;
  let i = sign + 1;
  for (; i < tokens.length; i++) {
    const { text, kind } = tokens[i] as Token;
    if (kind === TokenKind.string) continue;
    if ('([{'.includes(text)) depth += 1;
    else if (')]}'.includes(text)) {
      if (depth === 0) break;
      depth -= 1;
    } else if (depth === 0 && COMPARISONS.has(text)) return undefined;
    else if (depth === 0 && LOOSER.has(text)) break;
  }
  return i === sign + 1 ? undefined : i;
}
