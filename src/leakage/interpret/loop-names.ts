import type { Expr, Stmt } from '../syntax/ast.js';
import { namesInExpression, ownExpressions, statementsIn } from '../syntax/walk.js';

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
