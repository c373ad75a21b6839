import type { Leak } from '../../findings/find-leaks.js';
import type { Expr, Stmt, Suite } from '../../syntax/ast.js';
import {
  calleeName,
  expressionsIn,
  namesInExpression,
  ownExpressions,
  partsOf,
  statementsIn,
} from '../../syntax/walk.js';
import { declined, edited, type RepairContext, type Rewrite, type TextEdit } from '../context.js';
import { isChangedBetween } from '../divisions.js';
import { NotSaid, Saying } from './computations-of-rows.js';
import { isKnownBefore } from './known-before.js';
import { anchorOf, LEARNS } from './learn-on-later-split.js';

/**
 * What is fitted on a table in order, of which later lines take the first rows for the training and the others for the
 * score (`scaled[:n]`, `scaled[n - 60:]`), is fitted on those first rows. All other lines stay.
 */
export function learnOnFirstRows(context: RepairContext): Rewrite {
  const anchor = anchorOf(context);
  const [leak] = context.leaks;
  if (anchor === undefined || leak === undefined) return declined('no leak in this block');
  if (context.leaks.some(({ kind }) => !LEARNS.has(kind) || kind === 'training-rows'))
    return declined('the block holds a leak that cannot be moved');
  try {
    const upper = boundOf(context, leak, anchor);
    if (typeof upper !== 'object') return declined(upper);
    const saying = new Saying(context, leak, anchor, {
      ofFrame: `.iloc[:${upper.text}]`,
      ofArray: `[:${upper.text}]`,
    });
    return { text: edited(context.source, context.block, saying.withLines(saying.edits())) };
  } catch (error) {
    if (error instanceof NotSaid) return declined(error.message);
    throw error;
  }
}

/** Where the training rows end, as a text that is known at the anchor; a text alone says why there is none. */
function boundOf(context: RepairContext, leak: Leak, anchor: Stmt): { readonly text: string } | string {
  const { source } = context;
  const made = madeBy(anchor, leak);
  if (made === undefined) return 'the fit does not give one table';
  const later = [...statementsAfter(anchor)];
  const again = later.find((statement) => assigns(statement, made));
  const until = again?.start ?? Number.POSITIVE_INFINITY;
  const text = (part: Expr): string => source.slice(part.start, part.end).replaceAll(/\s+/g, '');
  const uppers = new Map<string, Expr>();
  const lowers = new Set<string>();
  for (const statement of later) {
    if (statement.start >= until) break;
    // What a cell shows is not trained on.
    if (statement.type === 'expression' && /^(name|subscript)$/.test(statement.value.type)) continue;
    for (const use of usesOf(statement, made)) {
      if (use === 'about') continue;
      if (use === 'other') return `\`${made}\` is used in other ways than by its first and its last rows`;
      const { lower, upper } = use;
      if (upper !== undefined && (lower === undefined || text(lower) === '0')) uppers.set(text(upper), upper);
      else if (lower !== undefined && upper === undefined) lowers.add(text(lower));
      else return `\`${made}\` is used in other ways than by its first and its last rows`;
    }
  }
  const [[label, upper] = [], ...others] = uppers;
  if (label === undefined || upper === undefined || others.length > 0)
    return `which rows of \`${made}\` are the first ones is not clear`;
  const isHistory = (lower: string): boolean =>
    lower === label || (lower.startsWith(`${label}-`) && /^[\w.]+$/.test(lower.slice(label.length + 1)));
  if (lowers.size === 0 || ![...lowers].every(isHistory))
    return `\`${made}\` is not divided into its first and its last rows`;
  const known = knownAt(context, upper, anchor, made, leak);
  return known === undefined ? `\`${label}\` is not known before the fit` : { text: known };
}

/** The table that the fit gives, or the one that it was fitted on if it gives none. */
function madeBy(anchor: Stmt, { node }: Leak): string | undefined {
  if (anchor.type !== 'assign' && anchor.type !== 'expression') return undefined;
  if (node.type !== 'call') return undefined;
  if (calleeName(node) === 'fit') {
    const rows = node.args[0]?.value;
    return rows?.type === 'name' ? rows.id : undefined;
  }
  const [target, other] = anchor.type === 'assign' ? anchor.targets : [];
  return target?.type === 'name' && other === undefined ? target.id : undefined;
}

/** Statements after one in its suite, and those in them. */
function* statementsAfter(anchor: Stmt): Generator<Stmt> {
  const { statements }: Suite = anchor.suite;
  for (const outer of statements.slice(statements.indexOf(anchor) + 1)) yield* statementsIn(outer);
}

function assigns(statement: Stmt, name: string): boolean {
  return (
    statement.type === 'assign' &&
    statement.targets.some((target) => target.type === 'name' && target.id === name)
  );
}

type Use = 'about' | 'other' | { readonly lower: Expr | undefined; readonly upper: Expr | undefined };

/** How a statement uses a table: a slice of its rows, its length or shape, or in another way. */
function usesOf(statement: Stmt, name: string): Use[] {
  const uses: Use[] = [];
  const visit = (part: Expr, parents: readonly Expr[]): void => {
    if (part.type !== 'name') {
      for (const inner of partsOf(part)) visit(inner, [part, ...parents]);
      return;
    }
    if (part.id === name) uses.push(useAt(part, parents));
  };
  for (const own of ownExpressions(statement)) visit(own, []);
  return uses;
}

function useAt(name: Expr, parents: readonly Expr[]): Use {
  const [first, second] = parents;
  if (first?.type === 'call' && (calleeName(first) === 'len' || calleeName(first) === 'print'))
    return 'about';
  if (first?.type === 'attribute' && /^(shape|columns|dtypes|head|tail|describe|plot)$/.test(first.name))
    return 'about';
  const isLocated = first?.type === 'attribute' && first.name === 'iloc';
  const subscript = isLocated ? second : first;
  const object = isLocated ? first : name;
  if (subscript?.type !== 'subscript' || subscript.object !== object) return 'other';
  const [rows, columns] = subscript.indices;
  const isWhole =
    columns === undefined ||
    (columns.type === 'slice' && columns.lower === undefined && columns.upper === undefined);
  if (rows?.type !== 'slice' || rows.step !== undefined || !isWhole) return 'other';
  return { lower: rows.lower, upper: rows.upper };
}

/** The bound as it can be said before the anchor: by its name, or by what it is computed from. */
function knownAt(
  context: RepairContext,
  upper: Expr,
  anchor: Stmt,
  made: string,
  leak: Leak,
  depth = 0,
): string | undefined {
  const { source, module } = context;
  const names = [...namesInExpression(upper)];
  const edits: TextEdit[] = [];
  for (const { id, start, end } of names) {
    if (/^(len|int|round|min|max|math|np|numpy)$/.test(id)) continue;
    if (id === made) {
      const rows = leak.node.type === 'call' ? leak.node.args[0]?.value : undefined;
      // Only its length may be asked for, which is that of the rows of the fit.
      const isLength = /\blen\(\s*$/.test(source.slice(Math.max(0, start - 10), start));
      if (rows?.type !== 'name' || !isLength) return undefined;
      edits.push({ start, end, text: rows.id });
    } else if (!isKnownBefore(module, id, anchor, upper)) {
      const value = onlyValueOf(context, id, anchor, upper.start);
      const text =
        value === undefined || depth > 2 ? undefined : knownAt(context, value, anchor, made, leak, depth + 1);
      if (text === undefined) return undefined;
      edits.push({ start, end, text: names.length > 1 ? `(${text})` : text });
    }
  }
  const isPlain = [...expressionsIn(upper)].every(
    (part) => part.type !== 'lambda' && part.type !== 'comprehension',
  );
  return isPlain ? edited(source, upper, edits) : undefined;
}

/** What a variable is assigned between the anchor and its use, if only once. */
function onlyValueOf({ module }: RepairContext, id: string, anchor: Stmt, use: number): Expr | undefined {
  const made = [...statementsAfter(anchor)].filter(
    (statement) => statement.start < use && assigns(statement, id),
  );
  const [only, ...others] = made;
  if (only?.type !== 'assign' || others.length > 0 || only.suite !== anchor.suite) return undefined;
  if (isChangedBetween(module, only.end, use, id)) return undefined;
  return only.value;
}
