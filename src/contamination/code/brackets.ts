import { type Token, TokenKind } from './token.js';

/** Parts between commas; undefined where the brackets do not match (`range(a) + (b)`). */
export function topLevelParts(tokens: readonly Token[]): Token[][] | undefined {
  const parts: Token[][] = [[]];
  let depth = 0;
  for (const token of tokens) {
    if (token.kind === TokenKind.operator) {
      if ('([{'.includes(token.text)) depth += 1;
      else if (')]}'.includes(token.text)) depth -= 1;
      if (depth < 0) return undefined;
      if (depth === 0 && token.text === ',') {
        parts.push([]);
        continue;
      }
    }
    parts[parts.length - 1]?.push(token);
  }
  return parts.filter((part) => part.length > 0);
}

/** Index of the bracket that is open before `from`; −1 where none is. */
export function enclosingBracket(tokens: readonly Token[], from: number): number {
  let depth = 0;
  for (let i = from - 1; i >= 0; i--) {
    const { text, kind } = tokens[i] as Token;
    if (kind !== TokenKind.operator) continue;
    if (')]}'.includes(text)) depth += 1;
    else if ('([{'.includes(text)) {
      if (depth === 0) return i;
      depth -= 1;
    }
  }
  return -1;
}

/** Index of the bracket that closes the one at `open`; −1 where none does. */
export function matchingBracket(tokens: readonly Token[], open: number): number {
  let depth = 0;
  for (let i = open; i < tokens.length; i++) {
    const { text, kind } = tokens[i] as Token;
    if (kind !== TokenKind.operator) continue;
    if ('([{'.includes(text)) depth += 1;
    else if (')]}'.includes(text)) {
      depth -= 1;
      if (depth === 0) return i;
    }
  }
  return -1;
}

/** For every opening bracket the index of the one that closes it, −1 for none; in one pass. */
export function bracketPairs(tokens: readonly Token[]): Int32Array {
  const closing = new Int32Array(tokens.length).fill(-1);
  const open: number[] = [];
  tokens.forEach(({ kind, text }, at) => {
    if (kind !== TokenKind.operator) return;
    if ('([{'.includes(text)) open.push(at);
    else if (')]}'.includes(text)) {
      const start = open.pop();
      if (start !== undefined) closing[start] = at;
    }
  });
  return closing;
}
