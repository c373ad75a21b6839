import type { Leak } from '../../findings/find-leaks.js';
import { FIT_METHODS } from '../../library-models/methods.js';
import type { Expr, Module, Stmt } from '../../syntax/ast.js';
import { expressionsIn, namesIn, ownExpressions, rootName, statementsIn } from '../../syntax/walk.js';
import { changesIn } from '../check/script-change.js';
import { mayChangeArguments } from '../helper-calls.js';
import { drawnTogether } from '../order/figures.js';
import { OrderedEffects } from '../order/ordered-effects.js';
import { ANY_COLUMNS, type ColumnResolver, type Columns, joinColumns } from './columns.js';
import { dependenceOn } from './dependence.js';

interface ChangedFrame {
  /** The frame it was taken from. */
  readonly root: string;
  readonly columns: Columns;
  /** Some of the rows only. */
  readonly piece: boolean;
}

/** What stays before the split, what moves after it, and what the moved statements leave behind. */
export interface Plan {
  readonly moved: readonly Stmt[];
  /** Variables that moved statements assign. */
  readonly created: ReadonlyMap<string, Stmt>;
  /** Frames that moved statements change in place, and frames taken from them, with the frame each is from. */
  readonly changed: ReadonlyMap<string, ChangedFrame>;
  /** Columns that did not exist before. */
  readonly newColumns: ReadonlySet<string>;
}

/**
 * Sorts the statements before the split; a text says why they cannot be separated. If a statement that draws moves, all that
 * draw on its figure move, and the figures after it.
 */
export function planMoves(
  module: Module,
  statements: readonly Stmt[],
  leaks: readonly Leak[],
  isRows: (name: string) => boolean,
  resolver: ColumnResolver,
): Plan | string {
  const effects = new OrderedEffects(module);
  const plan = sortStatements(module, statements, leaks, isRows, resolver, new Set());
  if (typeof plan === 'string') return plan;
  const drawn = drawnTogether(effects, statements, plan.moved);
  if (drawn.size === 0) return plan;
  const whole = sortStatements(module, statements, leaks, isRows, resolver, drawn);
  if (typeof whole === 'string') return whole;
  // What a drawing shows must not change while it moves.
  for (const statement of drawn) {
    if (plan.moved.includes(statement)) continue;
    const read = new Set([...namesIn(statement)].map(({ id }) => id));
    const changed = statements
      .filter((other) => other.start > statement.start && !whole.moved.includes(other))
      .flatMap((other) => [...statementsIn(other)])
      .flatMap((other) => changesIn(module, other))
      .find(({ name }) => read.has(name));
    if (changed !== undefined)
      return `a figure shows \`${changed.name}\`, which is changed between the fit and the split`;
  }
  return whole;
}

function sortStatements(
  module: Module,
  statements: readonly Stmt[],
  leaks: readonly Leak[],
  isRows: (name: string) => boolean,
  resolver: ColumnResolver,
  together: ReadonlySet<Stmt>,
): Plan | string {
  const moved: Stmt[] = [];
  const created = new Map<string, Stmt>();
  const fitted = new Set<string>();
  const changed = new Map<string, ChangedFrame>();
  const newColumns = new Set<string>();
  const isLeaky = (statement: Stmt): boolean =>
    leaks.some(({ node }) => node.start >= statement.start && node.end <= statement.end);

  const change = (frame: string, columns: Columns, reads: ReadonlySet<string>): void => {
    const before = changed.get(frame);
    for (const column of columns.names ?? []) if (!reads.has(column)) newColumns.add(column);
    const all = before === undefined ? columns : joinColumns(before.columns, columns);
    changed.set(frame, { root: before?.root ?? frame, columns: all, piece: before?.piece ?? false });
  };

  const note = (statement: Stmt): void => {
    for (const inner of statementsIn(statement)) {
      const reads = new Set<string>();
      for (const own of ownExpressions(inner)) {
        for (const part of expressionsIn(own)) {
          if (part.type === 'constant' && typeof part.value === 'string' && !isTargetIndex(inner, part))
            reads.add(part.value);
          if (part.type === 'attribute') reads.add(part.name);
          if (part.type !== 'call' || part.callee.type !== 'attribute') continue;
          const owner = part.callee.object;
          if (FIT_METHODS.has(part.callee.name) && owner.type === 'name') fitted.add(owner.id);
          if (!part.args.some(({ name }) => name === 'inplace')) continue;
          const frame = rootName(owner);
          const columns = owner.type === 'subscript' ? resolver.of(owner.indices[0], inner) : ANY_COLUMNS;
          if (frame !== undefined) change(frame, columns, new Set(columns.names));
        }
      }
      if (inner.type !== 'assign' && inner.type !== 'augmented') continue;
      const targets =
        inner.type === 'assign'
          ? inner.targets.flatMap((target) => (target.type === 'sequence' ? target.items : [target]))
          : [inner.target];
      for (const target of targets) {
        const root = rootName(target);
        if (root === undefined) continue;
        if (target.type === 'name') {
          const updates =
            inner.type === 'augmented' ||
            [...namesIn(inner)].some((name) => name.id === root && name !== target);
          if (updates && isRows(root)) change(root, ANY_COLUMNS, reads);
          else created.set(root, statement);
        } else if (target.type === 'subscript') {
          const columns = resolver.of(target.indices.at(-1), inner);
          const isReplaced = readsTarget(inner, target);
          if (columns.names === undefined && !isReplaced) newColumns.add('*');
          change(root, columns, isReplaced ? new Set([...reads, ...(columns.names ?? [])]) : reads);
        } else
          change(
            root,
            target.type === 'attribute' ? { names: new Set([target.name]), kind: undefined } : ANY_COLUMNS,
            reads,
          );
      }
    }
  };

  for (const statement of statements) {
    const reads = new Set([...namesIn(statement)].map((name) => name.id));
    const usesMoved = [...reads].some((name) => created.has(name) || fitted.has(name));
    if (
      isLeaky(statement) ||
      together.has(statement) ||
      (usesMoved && !assignsOnly(statement, created, fitted))
    ) {
      moved.push(statement);
      note(statement);
      continue;
    }
    const taken: { into: string; root: string; columns: Columns; piece: boolean }[] = [];
    let computes = false;
    for (const name of reads) {
      const known = changed.get(name);
      if (known === undefined) continue;
      const dependence = dependenceOn(statement, name, known.columns, newColumns, resolver);
      if (dependence.is === 'computes') computes = true;
      else if (dependence.is === 'takes') {
        taken.push({
          into: dependence.into,
          root: known.root,
          columns: known.columns,
          piece: dependence.piece,
        });
      }
    }
    if (computes) {
      const handed = handedOn(module, statement, isRows);
      if (handed !== undefined) return `\`${handed}\` is changed by a function between the fit and the split`;
      moved.push(statement);
      note(statement);
      continue;
    }
    for (const { into, root, columns, piece } of taken) changed.set(into, { root, columns, piece });
    for (const earlier of moved) {
      const clash = assignedNames(statement).find(
        (name) => [...namesIn(earlier)].some((read) => read.id === name) && !changed.has(name),
      );
      if (clash !== undefined) return `\`${clash}\` is assigned between the fit and the split`;
    }
  }
  return { moved, created, changed, newColumns };
}

/** The table that a statement hands to a function of the script which may change any of its columns. */
function handedOn(module: Module, statement: Stmt, isRows: (name: string) => boolean): string | undefined {
  for (const part of ownExpressions(statement).flatMap((own) => [...expressionsIn(own)])) {
    if (part.type !== 'call') continue;
    for (const { value } of part.args)
      if (value.type === 'name' && isRows(value.id) && mayChangeArguments(module, part, value.id))
        return value.id;
  }
  return undefined;
}

/** `frame[column] = frame[column].fillna(…)`: the column was there before. */
function readsTarget(statement: Stmt, target: Expr): boolean {
  const index = target.type === 'subscript' ? target.indices.at(-1) : undefined;
  if (statement.type !== 'assign' || index === undefined) return true;
  return [...expressionsIn(statement.value)].some((part) => {
    const other = part.type === 'subscript' ? part.indices.at(-1) : undefined;
    return other?.type === 'name' && index.type === 'name' && other.id === index.id;
  });
}

function isTargetIndex(statement: Stmt, part: Expr): boolean {
  return (
    statement.type === 'assign' &&
    statement.targets.some((target) => target.type === 'subscript' && target.indices.includes(part))
  );
}

function assignedNames(statement: Stmt): string[] {
  if (statement.type !== 'assign') return [];
  return statement.targets
    .flatMap((target) => (target.type === 'sequence' ? target.items : [target]))
    .flatMap((target) => (target.type === 'name' ? [target.id] : []));
}

/** A statement that gives a name another meaning, without reading what it was. */
function assignsOnly(
  statement: Stmt,
  created: ReadonlyMap<string, Stmt>,
  fitted: ReadonlySet<string>,
): boolean {
  if (statement.type !== 'assign') return false;
  return ![...statement.targets.filter((target) => target.type !== 'name'), statement.value].some((part) =>
    [...expressionsIn(part)].some(
      (inner) => inner.type === 'name' && (created.has(inner.id) || fitted.has(inner.id)),
    ),
  );
}
