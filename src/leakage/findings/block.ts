import type { Span, Stmt, Suite } from '../syntax/ast.js';

/** Longer blocks are not reported: the reader gets the leaky statement alone. */
const MAX_LINES = 40;

interface Ancestor {
  readonly suite: Suite;
  readonly statement: Stmt;
}

/** A statement and the statements around it, innermost first. */
function ancestors(statement: Stmt): Ancestor[] {
  const result: Ancestor[] = [];
  let current: Stmt | undefined = statement;
  while (current !== undefined) {
    result.push({ suite: current.suite, statement: current });
    current = current.suite.owner;
  }
  return result;
}

/** The statements of one suite, from the one that holds `first` through the one that holds `last`. */
export function statementsBetween(first: Stmt, last: Stmt): readonly Stmt[] | undefined {
  const around = ancestors(last);
  for (const { suite, statement } of ancestors(first)) {
    const other = around.find((ancestor) => ancestor.suite === suite);
    if (other === undefined) continue;
    const from = suite.statements.indexOf(statement);
    const to = suite.statements.indexOf(other.statement);
    return from <= to ? suite.statements.slice(from, to + 1) : undefined;
  }
  return undefined;
}

/**
 * The block to report: whole lines from the leaky statement through the division of the rows, which it has to
 * move behind; the leaky statement alone where the two do not stand in one suite or lie far apart.
 */
export function blockOf(source: string, leaky: Stmt, split: Stmt | undefined): Span {
  const simple = leaky.type === 'if' || leaky.type === 'for' ? leaky : leaky;
  const own = linesOf(source, simple);
  if (split === undefined || split.start < leaky.start) return own;
  const between = statementsBetween(leaky, split);
  const [first, last] = [between?.[0], between?.at(-1)];
  if (first === undefined || last === undefined) return own;
  const span = { start: linesOf(source, first).start, end: linesOf(source, last).end };
  const lines = source.slice(span.start, span.end).split('\n').length;
  return lines > MAX_LINES ? own : span;
}

/** A span widened to whole lines, without the last line break. */
export function linesOf(source: string, span: Span): Span {
  const start = source.lastIndexOf('\n', span.start - 1) + 1;
  const next = source.indexOf('\n', Math.max(span.start, span.end - 1));
  let end = next < 0 ? source.length : next;
  if (source[end - 1] === '\r') end -= 1;
  return { start, end: Math.max(end, start) };
}
