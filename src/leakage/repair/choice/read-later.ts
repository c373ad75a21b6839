import type { Stmt } from '../../syntax/ast.js';
import { namesIn, rootName } from '../../syntax/walk.js';

/** Whether a statement after this one, in its suite, reads one of the variables before it gets another value; a plot does not count. */
export function isReadBeforeAssigned(after: Stmt, names: ReadonlySet<string>): boolean {
  const left = new Set(names);
  const { statements } = after.suite;
  for (const statement of statements.slice(statements.indexOf(after) + 1)) {
    const targets = new Set<unknown>(
      statement.type === 'assign' ? statement.targets.filter(({ type }) => type === 'name') : [],
    );
    const read = [...namesIn(statement)].filter((name) => left.has(name.id) && !targets.has(name));
    if (read.length > 0 && !isPlot(statement)) return true;
    if (statement.type === 'assign')
      for (const target of statement.targets) if (target.type === 'name') left.delete(target.id);
  }
  // A function that is called later may read what the module assigns.
  return after.suite.owner !== undefined && after.suite.owner.type !== 'function';
}

function isPlot(statement: Stmt): boolean {
  if (statement.type !== 'expression' || statement.value.type !== 'call') return false;
  const { callee } = statement.value;
  return (
    /^(plt|sns|ax|axes)$/.test(rootName(callee) ?? '') ||
    (callee.type === 'attribute' && /^(plot|bar|barh|hist)$/.test(callee.name))
  );
}
