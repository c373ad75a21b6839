import { Rebuilt, type Statement, TOP } from './statement.js';
import { type Token, TokenKind } from './token.js';

/**
 * Puts literals back where they were taken from: a name that is assigned one number or string, once, and never changed,
 * stands for that literal. Then literals that are only combined with each other become one.
 */
export function withoutNamedConstants<S extends Statement>(statements: readonly S[]): S[] {
  const constants = namedConstants(statements);
  const rebuilt = new Rebuilt<S>();
  statements.forEach((statement, index) => {
    const [name] = statement.tokens;
    if (name !== undefined && constants.get(keyOf(statement.scope, name.text))?.statement === index) return;
    const scopes = constants.size === 0 ? [] : scopesAround(statements, statement.scope);
    const tokens = constants.size === 0 ? statement.tokens : inlined(statement.tokens, constants, scopes);
    const location = { parent: rebuilt.at(statement.parent), scope: rebuilt.at(statement.scope) };
    rebuilt.add({ ...statement, ...location, tokens: folded(tokens) });
    rebuilt.maps(index);
  });
  return rebuilt.statements;
}

interface Constant {
  readonly statement: number;
  readonly literal: Token;
}

/**
 * A counter whose steps were cut off looks like a constant too. So a constant is one by its scope, or because nothing is
 * counted or gathered from its value on. The name does not tell: a copy may have another.
 */
const START_VALUE = /^(?:[-+]?[01](?:\.0*)?|(?:[a-z]{0,2})?(?:''|""|``))$/i;

/** Nested functions that are looked through; people write no more. */
const MAX_NESTED = 32;

/** The scope of a statement and those around it, the innermost first. */
function scopesAround(statements: readonly Statement[], scope: number): number[] {
  const around: number[] = [];
  for (let at = scope; at !== TOP && around.length < MAX_NESTED; at = statements[at]?.scope ?? TOP)
    around.push(at);
  return [...around, TOP];
}

const keyOf = (scope: number, name: string): string => `${scope}:${name}`;

/** The constants by scope and name. A name that an inner function changes is none in the scopes around it either. */
function namedConstants(statements: readonly Statement[]): Map<string, Constant> {
  const constants = new Map<string, Constant>();
  const uses = new Map<string, number>();
  const changed = new Set<string>();
  statements.forEach((statement, index) => {
    const { tokens, role, scope } = statement;
    const around = scopesAround(statements, role === 'define' ? index : scope);
    const end = targetsEnd(statement);
    tokens.forEach((token, at) => {
      if (token.kind !== TokenKind.name || isAttribute(tokens, at)) return;
      const isChanged = at > 0 && isTarget(statement, at, end);
      for (const each of around) {
        const key = keyOf(each, token.text);
        uses.set(key, (uses.get(key) ?? 0) + 1);
        if (isChanged) changed.add(key);
      }
    });
    const [name, sign, literal] = tokens;
    if (name?.kind !== TokenKind.name) return;
    const isLiteral = literal?.kind === TokenKind.number || literal?.kind === TokenKind.string;
    const isConstant = (statement.parent === TOP && scope === TOP) || !START_VALUE.test(literal?.text ?? '');
    const key = keyOf(scope, name.text);
    const isNew = !constants.has(key);
    if (role === 'plain' && sign?.text === '=' && isLiteral && tokens.length === 3 && isConstant && isNew) {
      constants.set(key, { statement: index, literal: literal as Token });
      // For the scopes around it, another variable of this name is none of their constants.
      for (const each of around.slice(1)) changed.add(keyOf(each, name.text));
    } else if (isTarget(statement, 0, end)) {
      for (const each of around) changed.add(keyOf(each, name.text));
    }
  });
  for (const key of constants.keys()) {
    // A constant that nothing reads is left for the check of dead statements.
    if (changed.has(key) || (uses.get(key) ?? 0) < 2) constants.delete(key);
  }
  return constants;
}

function isAttribute(tokens: readonly Token[], at: number): boolean {
  const before = tokens[at - 1]?.text;
  return before === '.' || before === '?.';
}

const MAY_FOLLOW_VALUE = /^(?:[-+*/%&|^]=|\/\/=|\*\*=|<<=|>>=|\?\?=|\|\|=|&&=|\+\+|--)$/;

/** Whether the name at this position may take another value: assigned, a parameter, a loop's target. */
export function isTarget({ role, tokens }: Statement, at: number, end: number): boolean {
  if (role === 'define' || role === 'import') return true;
  const after = tokens[at + 1]?.text;
  if (
    after !== undefined &&
    (after === '=' || after === ':=' || after === '=>' || MAY_FOLLOW_VALUE.test(after))
  )
    return true;
  if (role === 'each') return at < end;
  const before = tokens[at - 1]?.text;
  if (
    before === 'for' ||
    before === 'as' ||
    before === 'lambda' ||
    before === 'global' ||
    before === 'nonlocal'
  )
    return true;
  if (after !== ',' && before !== ',') return false;
  return at < end;
}

/** Where the targets of a loop or of an assignment end; −1 where the statement has none. */
export function targetsEnd({ role, tokens }: Statement): number {
  if (role === 'each') return tokens.findIndex((token) => token.text === 'in');
  return tokens.findIndex((token) => token.kind === TokenKind.operator && token.text === '=');
}

function inlined(
  tokens: readonly Token[],
  constants: ReadonlyMap<string, Constant>,
  scopes: readonly number[],
): readonly Token[] {
  return tokens.map((token, at) => {
    if (token.kind !== TokenKind.name || isAttribute(tokens, at)) return token;
    const scope = scopes.find((each) => constants.has(keyOf(each, token.text)));
    const constant = scope === undefined ? undefined : constants.get(keyOf(scope, token.text));
    if (constant === undefined) return token;
    const { kind, text } = constant.literal;
    return { ...token, kind, text };
  });
}

const OPERATORS = new Set(['+', '-', '*', '/', '%', '//', '**', '<<', '>>', '|', '&', '^']);

/** `60 * 60` and `"a" + "b"` as one literal, `-1` as a literal. */
function folded(tokens: readonly Token[]): readonly Token[] {
  const folded: Token[] = [];
  for (const token of tokens) {
    folded.push(token);
    for (;;) {
      const [left, sign, right] = folded.slice(-3);
      const last = folded[folded.length - 1];
      if (folded.length >= 3 && isLiteral(left) && OPERATORS.has(sign?.text ?? '') && isLiteral(right)) {
        folded.splice(-3, 3, { ...(left as Token), end: (right as Token).end });
        continue;
      }
      const before = folded[folded.length - 3];
      if (
        last?.text === ')' &&
        isLiteral(folded[folded.length - 2]) &&
        before?.text === '(' &&
        startsValue(folded[folded.length - 4])
      ) {
        folded.splice(-3, 3, folded[folded.length - 2] as Token);
        continue;
      }
      const minus = folded[folded.length - 2];
      if (last?.kind === TokenKind.number && minus?.text === '-' && startsValue(before)) {
        folded.splice(-2, 2, { ...last, start: minus.start });
        continue;
      }
      break;
    }
  }
  return folded;
}

function isLiteral(token: Token | undefined): boolean {
  return token?.kind === TokenKind.number || token?.kind === TokenKind.string;
}

function startsValue(before: Token | undefined): boolean {
  if (before === undefined || before.kind === TokenKind.keyword) return true;
  return before.kind === TokenKind.operator && !/^[)\]}]$/.test(before.text);
}
