import type { Stmt, Suite } from '../../syntax/ast.js';

/** Statements that run after one, in its suite and those around it, up to its function. */
export function* laterThan(statement: Stmt): Generator<Stmt> {
  let after = statement;
  let suite: Suite | undefined = statement.suite;
  while (suite !== undefined) {
    for (const other of suite.statements.slice(suite.statements.indexOf(after) + 1)) yield other;
    const { owner }: Suite = suite;
    if (owner === undefined || owner.type === 'function' || owner.type === 'class') return;
    after = owner;
    suite = owner.suite;
  }
}
