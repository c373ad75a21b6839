import type { Module, Stmt } from '../../syntax/ast.js';
import { expressionsIn, ownExpressions, rootName, statementsIn } from '../../syntax/walk.js';
import { plainText, type ScriptChange } from './script-change.js';

/**
 * Whether a later line takes the statistic of a leak once more, for another table: `test = test.fillna(train.mean())` after
 * `train = train.fillna(train.mean())`. Of the filled table it was the same number, and it is another one if the rows that it is
 * learned from are others.
 */
export function statisticTakenAgain({ leaks, before, after }: ScriptChange): string | undefined {
  const lines = after.module.body.statements.flatMap((outer) => [...statementsIn(outer)]);
  for (const { nodes, statement } of leaks) {
    const changed = new Set(targetsOf(statement));
    for (const node of nodes) {
      const root = node.type === 'call' ? rootName(node) : undefined;
      if (root === undefined || !changed.has(root)) continue;
      const text = plainText(before.module, node);
      const again = lines.find(
        (line) =>
          line.start >= after.block.start &&
          targetsOf(line).length > 0 &&
          !targetsOf(line).includes(root) &&
          reads(after.module, line, text),
      );
      const other = again === undefined ? undefined : targetsOf(again)[0];
      if (other !== undefined)
        return `\`${text}\` is taken again for \`${other}\`, where it would be another number`;
    }
  }
  return undefined;
}

function targetsOf(statement: Stmt): readonly string[] {
  return statement.type === 'assign' ? statement.targets.flatMap((target) => rootName(target) ?? []) : [];
}

function reads(module: Module, statement: Stmt, call: string): boolean {
  for (const own of ownExpressions(statement))
    for (const part of expressionsIn(own))
      if (part.type === 'call' && plainText(module, part) === call) return true;
  return false;
}
