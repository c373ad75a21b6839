import { bracketPairs, topLevelParts } from './brackets.js';
import { type Token, TokenKind } from './token.js';

const LONGEST = 1_000;

/**
 * Python's named arguments of calls in the order of their names, after those without a name, and entries of a literal
 * dictionary in the order of their keys. Only where no name is the author's own, because a renamed one would be at another
 * position: callees that an import or a library's object gives, and keys that are literals.
 *
 * @param isLibrary whether the token at a position names something that the author cannot rename
 */
export function orderedArguments(
  tokens: readonly Token[],
  isLibrary: (tokens: readonly Token[], at: number) => boolean,
): readonly Token[] {
  if (tokens.length > LONGEST || !tokens.some(({ text }) => text === ',')) return tokens;
  const closing = bracketPairs(tokens);
  let ordered = tokens;
  // The inner brackets first: later they only move as a whole.
  for (let open = tokens.length - 1; open >= 0; open--) {
    const close = closing[open] as number;
    if (close < 0) continue;
    const { text } = tokens[open] as Token;
    if (text === '(' && isLibrary(tokens, open - 1)) ordered = withSorted(ordered, open, close, argumentName);
    else if (text === '{') ordered = withSorted(ordered, open, close, literalKey);
  }
  return ordered;
}

function withSorted(
  tokens: readonly Token[],
  open: number,
  close: number,
  keyOf: (part: readonly Token[]) => string | undefined,
): readonly Token[] {
  const parts = topLevelParts(tokens.slice(open + 1, close));
  const comma = tokens.find(({ kind, text }) => kind === TokenKind.operator && text === ',');
  if (parts === undefined || parts.length < 2 || comma === undefined) return tokens;
  const keys = parts.map(keyOf);
  const first = keys.findIndex((key) => key !== undefined);
  if (first < 0 || keys.slice(first).some((key) => key === undefined)) return tokens;
  const sorted = parts
    .slice(first)
    .map((part, at) => ({ part, key: keys[first + at] as string }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ part }) => part);
  const inner = [...parts.slice(0, first), ...sorted].flatMap((part, at) =>
    at === 0 ? part : [comma, ...part],
  );
  return inner.length === close - open - 1
    ? [...tokens.slice(0, open + 1), ...inner, ...tokens.slice(close)]
    : tokens;
}

const argumentName = ([name, sign]: readonly Token[]): string | undefined =>
  name?.kind === TokenKind.name && sign?.text === '=' ? name.text : undefined;

const literalKey = ([key, sign]: readonly Token[]): string | undefined =>
  key?.kind === TokenKind.string && sign?.text === ':' ? key.text.replace(/["']/g, '') : undefined;
