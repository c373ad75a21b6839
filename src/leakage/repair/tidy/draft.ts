import type { Expr, Module, Span, Stmt } from '../../syntax/ast.js';
import { parseModule } from '../../syntax/parse-module.js';
import { statementsIn } from '../../syntax/walk.js';
import { countText } from '../../values/work.js';
import { edited, type TextEdit } from '../context.js';

/** A rewrite while it is tidied: the script as it was, the lines that are replaced, and the script with the rewrite. */
export interface Draft {
  /** The script as it was. */
  readonly before: Module;
  /** What is replaced in it. */
  readonly block: Span;
  readonly after: Module;
  /** What replaces it. */
  readonly span: Span;
  readonly namesBefore: NameCounts;
  readonly namesAfter: NameCounts;
}

/** How often a name is in a script as a word, comments and strings included, and how often it is assigned. */
class NameCounts {
  readonly #words = new Map<string, number>();
  readonly #assigned = new Map<string, number>();

  constructor(module: Module) {
    countText(module.source.length);
    for (const [word] of module.source.matchAll(/\w+/g)) addOne(this.#words, word);
    for (const statement of allStatements(module)) {
      if (statement.type !== 'assign') continue;
      for (const target of statement.targets.flatMap(itemsOf))
        if (target.type === 'name') addOne(this.#assigned, target.id);
    }
  }

  has(name: string): boolean {
    return this.#words.has(name);
  }

  /** Whether something other than an assignment names it. */
  isRead(name: string): boolean {
    return (this.#words.get(name) ?? 0) > (this.#assigned.get(name) ?? 0);
  }

  /** Whether something other than its one import names it. */
  isReadBesideImport(name: string): boolean {
    return (this.#words.get(name) ?? 0) > (this.#assigned.get(name) ?? 0) + 1;
  }
}

function addOne(counts: Map<string, number>, word: string): void {
  counts.set(word, (counts.get(word) ?? 0) + 1);
}

export function itemsOf(target: Expr): readonly Expr[] {
  return target.type === 'sequence' ? target.items : [target];
}

export async function draftOf(before: Module, block: Span, text: string): Promise<Draft> {
  const { source } = before;
  const after = await parseModule(source.slice(0, block.start) + text + source.slice(block.end));
  return {
    before,
    block,
    after,
    span: { start: block.start, end: block.start + text.length },
    namesBefore: new NameCounts(before),
    namesAfter: new NameCounts(after),
  };
}

/**
 * The draft with more edits of the rewritten script. Lines outside of the block have the same text in both scripts, so the
 * block grows to take in those that an edit changes.
 */
export async function withEdits(draft: Draft, edits: readonly TextEdit[]): Promise<Draft> {
  if (edits.length === 0) return draft;
  const { before, block, after, span } = draft;
  const start = Math.min(span.start, ...edits.map((edit) => edit.start));
  const end = Math.max(span.end, ...edits.map((edit) => edit.end));
  const growth = span.end - span.start - (block.end - block.start);
  const wider = {
    start: start < span.start ? start : block.start,
    end: end > span.end ? end - growth : block.end,
  };
  return draftOf(before, wider, edited(after.source, { start, end }, edits));
}

export function textOfDraft({ after, span }: Draft): string {
  return after.source.slice(span.start, span.end);
}

/** The lines of a statement to take out: with the line break after them, or with the one before where they follow the block. */
export function removal({ after: { source }, span }: Draft, statement: Span): TextEdit {
  const start = source.lastIndexOf('\n', statement.start - 1) + 1;
  const next = source.indexOf('\n', statement.end - 1);
  const end = next < 0 ? source.length : next;
  if (start >= span.end && start > 0) {
    const isCrLf = source[start - 2] === '\r';
    return { start: start - (isCrLf ? 2 : 1), end: source[end - 1] === '\r' ? end - 1 : end, text: '' };
  }
  return { start, end: Math.min(source.length, end + 1), text: '' };
}

/** Whether a statement has its lines for itself. */
export function hasOwnLines({ source }: Module, { start, end }: Span): boolean {
  const lineStart = source.lastIndexOf('\n', start - 1) + 1;
  const next = source.indexOf('\n', end);
  const rest = source.slice(end, next < 0 ? source.length : next);
  return !/\S/.test(source.slice(lineStart, start)) && /^\s*$/.test(rest);
}

/** Every statement of a script. */
export function* allStatements(module: Module): Generator<Stmt> {
  for (const outer of module.body.statements) yield* statementsIn(outer);
}
