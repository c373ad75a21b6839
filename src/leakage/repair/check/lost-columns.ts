import type { Expr } from '../../syntax/ast.js';
import { expressionsIn, ownExpressions } from '../../syntax/walk.js';
import { changesIn, newStatements, partPairs, type ScriptChange } from './script-change.js';

/**
 * Whether a rewrite reads a column of a part that the split does not give it: `frame[["a", "b"]]` is divided, and a
 * statistic of `frame["c"]` moved after the split.
 */
export function columnNotDivided(change: ScriptChange): string | undefined {
  const { module } = change.after;
  const added = newStatements(change);
  for (const { source, train, test } of partPairs(change)) {
    const index = source.type === 'subscript' ? source.indices[0] : undefined;
    if (index?.type !== 'sequence') continue;
    const columns = new Set(textsOf(index));
    if (columns.size !== index.items.length) continue;
    for (const statement of added) {
      for (const name of [train, test]) {
        const missing = ownExpressions(statement)
          .flatMap((own) => [...expressionsIn(own)])
          .flatMap((part) => columnsRead(part, name))
          .find((column) => !columns.has(column));
        if (missing !== undefined) {
          const isMade = added.some((other) =>
            changesIn(module, other).some((made) => made.name === name && made.what === `"${missing}"`),
          );
          if (!isMade) return `column \`${missing}\` is not among those that are divided into \`${name}\``;
        }
      }
    }
  }
  return undefined;
}

/** `part["a"]`, `part[["a", "b"]]`, `part.groupby("a")["b"]` */
function columnsRead(part: Expr, name: string): string[] {
  if (part.type === 'call' && part.callee.type === 'attribute' && part.callee.name === 'groupby')
    return isPart(part.callee.object, name) ? textsOf(part.args[0]?.value) : [];
  if (part.type !== 'subscript') return [];
  const { object } = part;
  const grouped =
    object.type === 'call' && object.callee.type === 'attribute' && object.callee.name === 'groupby'
      ? object.callee.object
      : object;
  return isPart(grouped, name) ? textsOf(part.indices[0]) : [];
}

function isPart(expression: Expr, name: string): boolean {
  return expression.type === 'name' && expression.id === name;
}

function textsOf(expression: Expr | undefined): string[] {
  if (expression?.type === 'sequence') return expression.items.flatMap(textsOf);
  return expression?.type === 'constant' && typeof expression.value === 'string' ? [expression.value] : [];
}
