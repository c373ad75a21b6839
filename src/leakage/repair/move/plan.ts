import type { Leak } from '../../findings/judge.js';
import { FIT_METHODS } from '../../knowledge/methods.js';
import type { Expr, Stmt } from '../../syntax/ast.js';
import { expressionsIn, namesIn, ownExpressions, rootName, statementsIn } from '../../syntax/walk.js';
import { type ChangedColumns, constantNames, dependenceOn } from './dependence.js';

/** What stays before the split, what moves behind it, and what the moved statements leave behind. */
export interface Plan {
  readonly moved: readonly Stmt[];
  /** Variables that moved statements assign. */
  readonly created: ReadonlyMap<string, Stmt>;
  /** Frames that moved statements change in place, and frames taken from them, with the frame each is from. */
  readonly changed: ReadonlyMap<string, { readonly root: string; readonly columns: ChangedColumns }>;
  /** Columns that did not exist before. */
  readonly newColumns: ReadonlySet<string>;
}

/** Sorts the statements before the split; a text says why they cannot be taken apart. */
export function planMoves(
  statements: readonly Stmt[],
  leaks: readonly Leak[],
  isRows: (name: string) => boolean,
): Plan | string {
  const moved: Stmt[] = [];
  const created = new Map<string, Stmt>();
  const fitted = new Set<string>();
  const changed = new Map<string, { root: string; columns: ChangedColumns }>();
  const newColumns = new Set<string>();
  const categories = leaks.some(
    ({ node, kind }) =>
      kind === 'encoding' ||
      (node.type === 'call' && node.callee.type === 'attribute' && node.callee.name === 'mode'),
  );

  const isLeaky = (statement: Stmt): boolean =>
    leaks.some(({ node }) => node.start >= statement.start && node.end <= statement.end);

  const change = (
    frame: string,
    columns: readonly string[] | undefined,
    reads: ReadonlySet<string>,
  ): void => {
    const before = changed.get(frame);
    const all: ChangedColumns =
      columns === undefined || before?.columns === 'any'
        ? 'any'
        : new Set([...(before?.columns ?? []), ...columns]);
    for (const column of columns ?? []) if (!reads.has(column)) newColumns.add(column);
    changed.set(frame, { root: before?.root ?? frame, columns: all });
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
          const names = owner.type === 'subscript' ? constantNames(owner.indices[0]) : undefined;
          if (frame !== undefined) change(frame, names, new Set(names));
        }
      }
      if (inner.type === 'for') created.set(rootName(inner.target) ?? '', statement);
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
          if (updates && isRows(root)) change(root, undefined, reads);
          else created.set(root, statement);
        } else if (target.type === 'subscript') change(root, constantNames(target.indices.at(-1)), reads);
        else change(root, target.type === 'attribute' ? [target.name] : undefined, reads);
      }
    }
  };

  for (const statement of statements) {
    const reads = new Set([...namesIn(statement)].map((name) => name.id));
    const usesMoved = [...reads].some((name) => created.has(name) || fitted.has(name));
    if (isLeaky(statement) || (usesMoved && !assignsOnly(statement, created, fitted))) {
      moved.push(statement);
      note(statement);
      continue;
    }
    const taken: { into: string; root: string; columns: ChangedColumns }[] = [];
    let computes = false;
    for (const name of reads) {
      const known = changed.get(name);
      if (known === undefined) continue;
      const dependence = dependenceOn(statement, name, known.columns, newColumns, categories);
      if (dependence.is === 'computes') computes = true;
      else if (dependence.is === 'takes') taken.push({ into: dependence.into, ...known });
    }
    if (computes) {
      moved.push(statement);
      note(statement);
      continue;
    }
    for (const { into, root, columns } of taken) changed.set(into, { root, columns });
    for (const earlier of moved) {
      const clash = assignedNames(statement).find(
        (name) => [...namesIn(earlier)].some((read) => read.id === name) && !changed.has(name),
      );
      if (clash !== undefined) return `\`${clash}\` is assigned between the fit and the split`;
    }
  }
  return { moved, created, changed, newColumns };
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
