import type { Expr, Stmt, Suite } from '../../syntax/ast.js';
import { expressionsIn, ownExpressions } from '../../syntax/walk.js';
import { boundByStatement } from './scopes.js';

type Bound = ReadonlySet<string>;

/** Variables of a function that it may read, or delete, before they have a value. */
export function maybeUnbound(
  body: readonly Stmt[],
  locals: ReadonlySet<string>,
  params: Bound,
): ReadonlySet<string> {
  const found = new Set<string>();
  const read = (expressions: readonly Expr[], bound: Bound): void => {
    for (const one of expressions)
      for (const part of expressionsIn(one))
        if (part.type === 'name' && locals.has(part.id) && !bound.has(part.id)) found.add(part.id);
  };

  /** What is bound after some statements; nothing where they end in a jump. */
  const run = (statements: readonly Stmt[], before: Bound): Bound | undefined => {
    let bound = before;
    for (const statement of statements) {
      const after = step(statement, bound);
      if (after === undefined) return undefined;
      bound = after;
    }
    return bound;
  };
  const suite = (one: Suite | undefined, before: Bound): Bound | undefined =>
    one === undefined ? before : run(one.statements, before);

  const step = (statement: Stmt, before: Bound): Bound | undefined => {
    const bound = new Set([...before, ...boundByStatement(statement)]);
    switch (statement.type) {
      case 'jump':
        return undefined;
      case 'delete':
        for (const target of statement.targets) if (target.type === 'name') found.add(target.id);
        return before;
      case 'augmented':
        read(ownExpressions(statement), before);
        return before;
      case 'if': {
        read(ownExpressions(statement), bound);
        const isComplete = statement.branches.some(({ test }) => test === undefined);
        const ends = statement.branches.map(({ body: branch }) => suite(branch, bound));
        return common(isComplete ? ends : [...ends, bound]);
      }
      case 'for':
        read([statement.iterable], before);
        suite(statement.body, bound);
        suite(statement.orelse, before);
        return before;
      case 'while':
        read([statement.test], bound);
        suite(statement.body, bound);
        suite(statement.orelse, bound);
        return before;
      case 'try': {
        const done = suite(statement.body, before);
        const whole = done === undefined ? undefined : suite(statement.orelse, done);
        const handled = statement.handlers.map((handler) => suite(handler, before));
        suite(statement.final, before);
        return common([whole, ...handled]);
      }
      case 'with':
        read(ownExpressions(statement), bound);
        return suite(statement.body, bound);
      case 'assign':
        read([statement.value], new Set([...before, ...boundByStatement(statement, true)]));
        read(statement.targets, bound);
        return bound;
      default:
        read(ownExpressions(statement), bound);
        return bound;
    }
  };
  run(body, params);
  return found;
}

function common(ends: readonly (Bound | undefined)[]): Bound | undefined {
  const [first, ...others] = ends.filter((end) => end !== undefined);
  return first === undefined
    ? undefined
    : new Set([...first].filter((name) => others.every((end) => end.has(name))));
}
