import { type Token, TokenKind } from './token.js';

/** Comments of the C family, of shells and of SQL; strings on one line; names; numbers; any other sign. */
const TOKEN = new RegExp(
  [
    String.raw`([^\S\r\n]+)`,
    String.raw`(\r\n?|\n)`,
    String.raw`(\/\/[^\r\n]*|\/\*[\s\S]*?(?:\*\/|$)|(?<=^|[\s;{}])(?:#(?!\s*(?:include|define|if|endif|pragma))|--\s)[^\r\n]*)`,
    String.raw`("(?:[^"\\\r\n]|\\[\s\S])*"|'(?:[^'\\\r\n]|\\[\s\S])*'|\x60(?:[^\x60\\]|\\[\s\S])*\x60)`,
    String.raw`([\p{L}_$][\p{L}\p{M}\p{N}_$]*)`,
    String.raw`(\d[\w.]*)`,
    String.raw`(?:[-+*/%&|^!=<>:]?=|&&|\|\||\+\+|--|<<|>>|->|=>|::|[\s\S])`,
  ].join('|'),
  'uy',
);

/** Tokens of code in any language, by what most languages share. Never throws. */
export function lexGeneric(source: string): Token[] {
  const tokens: Token[] = [];
  let afterBreak = true;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < source.length) {
    const start = TOKEN.lastIndex;
    const match = TOKEN.exec(source);
    if (match === null) {
      // A lone surrogate half at the very end: the only position where no alternative matches.
      TOKEN.lastIndex = start + 1;
      continue;
    }
    const [, space, line, comment, string, name, number] = match;
    const end = TOKEN.lastIndex;
    if (line !== undefined) afterBreak = true;
    else if (comment !== undefined) afterBreak ||= comment.includes('\n');
    else if (space === undefined) {
      let kind: TokenKind = TokenKind.operator;
      if (string !== undefined) kind = TokenKind.string;
      else if (name !== undefined) kind = TokenKind.name;
      else if (number !== undefined) kind = TokenKind.number;
      tokens.push({ kind, text: source.slice(start, end), start, end, afterBreak });
      afterBreak = false;
    }
  }
  return tokens;
}
