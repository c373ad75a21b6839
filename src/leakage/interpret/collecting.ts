import type { Call, Expr, Stmt } from '../syntax/ast.js';
import { namesInExpression, ownExpressions, statementsIn } from '../syntax/walk.js';
import { emptyTable, newTable } from '../values/join.js';
import type { Region } from '../values/region.js';
import { factsOf, type Value } from '../values/value.js';
import type { Interpreter } from './interpreter.js';

/** Names that a loop binds, and those of them that follow from its variable. */
interface Bound {
  readonly all: ReadonlySet<string>;
  /** They hold something else in each round. */
  readonly varying: ReadonlySet<string>;
}

const known = new WeakMap<Stmt, Bound>();

/** Names that a loop binds. */
export function boundIn(loop: Stmt): Bound {
  const before = known.get(loop);
  if (before !== undefined) return before;
  const all = new Set<string>();
  const varying = new Set<string>();
  for (const statement of statementsIn(loop)) {
    const targets =
      statement.type === 'assign'
        ? statement.targets
        : statement.type === 'for' || statement.type === 'augmented'
          ? [statement.target]
          : [];
    // A `while` has no variable: whatever it binds may be another thing each time.
    const follows =
      statement.type === 'for' ||
      loop.type === 'while' ||
      ownExpressions(statement).some((part) => namesVary(part, varying));
    for (const name of targets.flatMap((target) => [...namesInExpression(target)])) {
      all.add(name.id);
      if (follows) varying.add(name.id);
    }
  }
  const bound = { all, varying };
  known.set(loop, bound);
  return bound;
}

function namesVary(expression: Expr, varying: ReadonlySet<string>): boolean {
  for (const name of namesInExpression(expression)) if (varying.has(name.id)) return true;
  return false;
}

/** Which rows the variables that a loop binds hold before its first round. */
export function rowsBefore(interp: Interpreter, loop: Stmt): ReadonlyMap<string, readonly Region[]> {
  const rows = new Map<string, readonly Region[]>();
  for (const name of boundIn(loop).all) {
    const value = interp.scope.names.get(name)?.value;
    if (value?.type === 'table' || value?.type === 'opaque') rows.set(name, interp.dataOf(value).rows);
  }
  return rows;
}

/**
 * `kept = pd.concat([kept, part])` in a loop: the rows that the variable already held before the loop, by position of
 * the argument that it is. What the loop adds is another piece each time round, so it is no copy of what is there.
 * Nothing where the pieces are the same in each round.
 */
export function collectedBefore(
  interp: Interpreter,
  call: Call,
  parts: readonly (Expr | undefined)[],
): { readonly at: number; readonly rows: readonly Region[] } | undefined {
  const loop = interp.context.outermostLoop;
  const { statement } = interp;
  if (loop === undefined || statement.type !== 'assign') return undefined;
  const [target] = statement.targets;
  const at = parts.findIndex(
    (part) => part?.type === 'name' && target?.type === 'name' && part.id === target.id,
  );
  if (at < 0 || target?.type !== 'name' || call.start < loop.statement.start) return undefined;
  const { varying } = boundIn(loop.statement);
  const pieces = parts.filter((part, index) => part !== undefined && index !== at);
  const vary = pieces.every(
    (part) =>
      part !== undefined &&
      [...namesInExpression(part)].some(({ id }) => id !== target.id && varying.has(id)),
  );
  return vary ? { at, rows: loop.before.get(target.id) ?? [] } : undefined;
}

/** What a loop collects piece by piece: one row for each round, the same rows for all lists it fills. */
export function collected(interp: Interpreter, value: Value): Value {
  const loop = interp.context.innermostLoop;
  const isData = value.type === 'table' || (value.type === 'opaque' && value.countOf === undefined);
  if (loop === undefined || !isData) return value;
  const facts = factsOf(value);
  if (facts.scores.length > 0 || facts.predictions.length > 0) return value;
  if (!facts.rows.every((region) => region.parent === undefined && region.loop === loop)) return value;
  const rows = [interp.source(`loop:${loop.start}`, interp.label(loop))];
  if (value.type === 'table') return newTable({ ...value.cell.value, rows });
  return newTable({ ...emptyTable({ ...facts, rows }), ...(value.formatted ? { formatted: true } : {}) });
}
