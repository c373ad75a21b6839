/** What a token is; white space and comments are not tokens. */
export const TokenKind = {
  name: 0,
  keyword: 1,
  number: 2,
  string: 3,
  operator: 4,
  /** End of a logical line (Python). */
  newline: 5,
  indent: 6,
  dedent: 7,
} as const;
export type TokenKind = (typeof TokenKind)[keyof typeof TokenKind];

/** One token; `start` and `end` are UTF-16 offsets in the text that was read. */
export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** Whether a line break is between this token and the one before. */
  readonly afterBreak: boolean;
  /** Whether it is at the very beginning of its line. */
  readonly atMargin?: boolean;
}

/** Languages with a tokenizer of their own; `generic` is any other text that looks like code. */
export type CodeLanguage = 'python' | 'javascript' | 'generic';
