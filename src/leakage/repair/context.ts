import type { Leak } from '../findings/find-leaks.js';
import type { Watched } from '../interpret/watchpoints.js';
import type { Module, Span, Stmt } from '../syntax/ast.js';
import { countText, type WorkAllowance } from '../values/work.js';

/**
 * What a rewrite looks at: the script, the block to rewrite, and the leaks in it. Variables are watched when the split is about
 * to run, and earlier, when the first leaky statement of the block is.
 */
export interface RepairContext extends Watched {
  readonly source: string;
  readonly module: Module;
  /** The block as it is in the script. */
  readonly block: Span;
  readonly leaks: readonly Leak[];
  /** The leaks of the script that are not in the block. */
  readonly elsewhere: readonly Leak[];
  /** What the repair may do: what comes after a wait has to be run on it. */
  readonly work: WorkAllowance;
  /** Line ending of the block. */
  readonly lineEnding: string;
}

/**
 * A rewrite that is certain, with the lines that it replaces if these are not the block, and the leaks that it mends if these
 * are not all of the block; or why there is none.
 */
export type Rewrite =
  | { readonly text: string; readonly block?: Span; readonly leaks?: readonly Leak[] }
  | { readonly declined: string };

export function declined(reason: string): Rewrite {
  return { declined: reason };
}

export interface TextEdit extends Span {
  readonly text: string;
}

/** The text of a span with some parts of it replaced. Edits do not overlap. */
export function edited(source: string, span: Span, edits: readonly TextEdit[]): string {
  let text = '';
  let at = span.start;
  for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
    if (edit.start < at || edit.end > span.end) continue;
    text += source.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return text + source.slice(at, span.end);
}

/** Statements that are in the block and in one suite, in order; nothing where the block cuts a statement. */
export function statementsOf(context: RepairContext): readonly Stmt[] {
  const [leak] = context.leaks;
  if (leak === undefined) return [];
  let statement: Stmt | undefined = leak.statement;
  while (statement !== undefined) {
    const { suite } = statement as Stmt;
    const owner: Stmt | undefined = suite.owner;
    const outside = owner === undefined || owner.start < context.block.start;
    if (outside) {
      return suite.statements.filter(
        (part) => part.start >= context.block.start && part.end <= context.block.end,
      );
    }
    statement = owner;
  }
  return [];
}

/** What white space becomes where a piece of code goes on one line. */
export function onOneLine(space: string): string {
  return space.includes('\n') ? ' ' : space;
}

/** A name that does not occur in the script yet. */
export function freshName(source: string, wanted: string, taken: ReadonlySet<string> = new Set()): string {
  const base =
    wanted
      .replaceAll(/\W+/g, '_')
      .replaceAll(/^_+|(?<!_)_+$/g, '')
      .toLowerCase() || 'value';
  const start = /^\d/.test(base) ? `value_${base}` : base;
  countText(source.length);
  const words = new Set(source.match(/\w+/g));
  for (let at = 1; ; at += 1) {
    const name = at === 1 ? start : `${start}_${at}`;
    if (!taken.has(name) && !words.has(name)) return name;
  }
}

/** The lines of a statement, with the line break after them. */
export function wholeLines(source: string, statement: Stmt): { start: number; end: number } {
  const start = source.lastIndexOf('\n', statement.start - 1) + 1;
  const end = source.indexOf('\n', statement.end - 1);
  return { start, end: end < 0 ? source.length : end + 1 };
}
