import type { Statement } from './statement.js';
import { type Token, TokenKind } from './token.js';

const OPENS = '([{';
const CLOSES = ')]}';

/**
 * A statement without the types it declares (`x: int = 0`, `def f(a: T) -> U`, `(a: T): U`, `v as T`): they
 * are added and left out at will. Told without a grammar; what is not clearly a type stays.
 */
export function withoutAnnotations(statement: Statement): Statement {
  const { role, tokens } = statement;
  if (role === 'define') return { ...statement, tokens: headerWithoutTypes(tokens) };
  if (role !== 'plain') return statement;
  return { ...statement, tokens: withoutCasts(declarationWithoutType(tokens)) };
}

function headerWithoutTypes(tokens: readonly Token[]): readonly Token[] {
  const remaining: Token[] = [];
  let depth = 0;
  let skipping: number | undefined;
  let returns = false;
  tokens.forEach((token, at) => {
    const { text } = token;
    const isOperator = token.kind === TokenKind.operator;
    if (isOperator && OPENS.includes(text)) depth += 1;
    const closes = isOperator && CLOSES.includes(text);
    if (skipping !== undefined) {
      const ends = depth === skipping && (closes || text === ',' || text === '=');
      if (ends) skipping = undefined;
      else if (closes) depth -= 1;
      if (!ends) return;
    }
    if (closes) depth -= 1;
    if (text === '=>') returns = false;
    if (returns) return;
    const before = tokens[at - 1];
    if (depth === 0 && (text === '->' || (text === ':' && before?.text === ')'))) {
      returns = true;
      return;
    }
    if (depth > 0 && text === ':' && isParameterEnd(before)) {
      skipping = depth;
      return;
    }
    if (depth > 0 && text === '?' && tokens[at + 1]?.text === ':') return;
    remaining.push(token);
  });
  return remaining;
}

function isParameterEnd(token: Token | undefined): boolean {
  return token?.kind === TokenKind.name || token?.text === '?' || token?.text === '}' || token?.text === ']';
}

function declarationWithoutType(tokens: readonly Token[]): readonly Token[] {
  const [name, colon] = tokens;
  if (name?.kind !== TokenKind.name || colon?.text !== ':') return tokens;
  const assigned = tokens.findIndex((token) => token.kind === TokenKind.operator && token.text === '=');
  // Without a value it may as well be the entry of an object that was cut off before it.
  return assigned < 0 ? tokens : [name, ...tokens.slice(assigned)];
}

/** `value as T`, with `T` a plain or dotted name or an array of it. */
function withoutCasts(tokens: readonly Token[]): readonly Token[] {
  if (!tokens.some((token) => token.kind === TokenKind.keyword && token.text === 'as')) return tokens;
  const remaining: Token[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i] as Token;
    const isCast =
      token.kind === TokenKind.keyword && token.text === 'as' && tokens[i + 1]?.kind === TokenKind.name;
    if (!isCast || i === 0) {
      remaining.push(token);
      continue;
    }
    i += 1;
    while (tokens[i + 1]?.text === '.' || (tokens[i + 1]?.text === '[' && tokens[i + 2]?.text === ']'))
      i += 2;
  }
  return remaining;
}
