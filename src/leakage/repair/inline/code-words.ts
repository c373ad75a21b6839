import type { Module, Span, Stmt } from '../../syntax/ast.js';
import { statementsIn } from '../../syntax/walk.js';
import { countText } from '../../values/work.js';

/** Comments, strings, and words. */
const TOKEN =
  /#[^\n]*|(?<!\w)[A-Za-z]{0,2}(?:"""(?:\\[\s\S]|[^\\])*?(?:"""|$)|'''(?:\\[\s\S]|[^\\])*?(?:'''|$)|"(?:\\[\s\S]|[^"\\\n])*"?|'(?:\\[\s\S]|[^'\\\n])*'?)|[\p{L}_][\p{L}\p{N}_]*/gu;

/** How often each word is in the code of a text, comments and strings left out; those after a point by themselves, as `.mean`. */
export function codeWords(text: string): ReadonlyMap<string, number> {
  countText(text.length);
  const counts = new Map<string, number>();
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (!/^[\p{L}_][\p{L}\p{N}_]*$/u.test(token)) continue;
    const isAttribute = /\.\s*$/.test(text.slice(Math.max(0, index - 20), index));
    const word = (isAttribute ? '.' : '') + token.normalize('NFKC');
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return counts;
}

/** Where the strings of a text are, formatted ones too. */
export function stringSpans(text: string, from: number): Span[] {
  countText(text.length);
  return [...text.matchAll(TOKEN)]
    .filter(([token]) => /^\w*["']/.test(token))
    .map(({ 0: token, index }) => ({ start: from + index, end: from + index + token.length }));
}

/** Words of `raise` and `except`, which the syntax here leaves out: those in strings too. */
export function unseenWords({ source }: Module, statements: readonly Stmt[]): ReadonlySet<string> {
  const texts: string[] = [];
  for (const { type, start, end } of statements.flatMap((one) => [...statementsIn(one)])) {
    if (type === 'jump') texts.push(source.slice(start, end));
    if (type === 'try')
      texts.push(...(source.slice(start, end).match(/^[ \t]{0,200}except\b[^\n]*/gm) ?? []));
  }
  return new Set(texts.flatMap((text) => text.match(/[\p{L}_][\p{L}\p{N}_]*/gu) ?? []));
}
