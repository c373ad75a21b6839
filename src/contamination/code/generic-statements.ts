import { type Statement, TOP } from './statement.js';
import { type Token, TokenKind } from './token.js';

/** Statements of code in an unknown language: what is between line breaks, semicolons and braces. */
export function genericStatements(tokens: readonly Token[]): Statement[] {
  const statements: Statement[] = [];
  let line: Token[] = [];
  let depth = 0;
  const flush = (): void => {
    if (line.length > 0) statements.push({ role: 'plain', tokens: line, parent: TOP, scope: TOP });
    line = [];
    depth = 0;
  };
  for (const token of tokens) {
    if (token.afterBreak && depth === 0) flush();
    if (token.kind === TokenKind.operator) {
      if (token.text === '(' || token.text === '[') depth += 1;
      else if (token.text === ')' || token.text === ']') depth = Math.max(0, depth - 1);
      else if (token.text === '{' || token.text === '}' || token.text === ';') {
        flush();
        continue;
      }
    }
    line.push(token);
  }
  flush();
  return statements;
}
