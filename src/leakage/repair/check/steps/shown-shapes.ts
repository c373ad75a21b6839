import type { Name, Stmt } from '../../../syntax/ast.js';
import { namesIn } from '../../../syntax/walk.js';
import { plainText, type ScriptChange, statementsInBlock, type Version } from '../script-change.js';
import { followSteps } from './follow-steps.js';
import { differentSteps, reshaping } from './same-steps.js';
import type { TableValue } from './table-value.js';

/**
 * Whether a line that stays shows how many columns a table has, though what chooses or makes them moves: `print(X.shape[1])` after
 * a selection that is made after the split.
 */
export function otherShapeShown({ before, after }: ScriptChange): string | undefined {
  const earlier = new Map<string, Stmt>();
  for (const statement of shown(before)) earlier.set(plainText(before.module, statement), statement);
  for (const statement of shown(after)) {
    const text = plainText(after.module, statement);
    const was = earlier.get(text);
    const names = was === undefined ? [] : namesOfShapes(after, statement);
    if (was === undefined || names.length === 0) continue;
    const [old, now] = [valuesAt(before, was), valuesAt(after, statement)];
    for (const { id } of names) {
      const [one, other] = [old.get(id), now.get(id)];
      if (one === undefined || other === undefined || !one.isTable) continue;
      if (differentSteps(reshaping(one.steps), reshaping(other.steps)) !== undefined)
        return `\`${text}\` would show other columns`;
    }
  }
  return undefined;
}

function* shown(version: Version): Generator<Stmt> {
  for (const statement of statementsInBlock(version)) if (statement.type === 'expression') yield statement;
}

/** Tables of which a statement reads the shape or the columns. */
function namesOfShapes({ module }: Version, statement: Stmt): Name[] {
  return [...namesIn(statement)].filter(({ end }) =>
    /^\s*\.\s*(shape|columns)\b/.test(module.source.slice(end, end + 30)),
  );
}

/** What variables hold when a statement is about to run. */
function valuesAt({ module, block }: Version, { start }: Stmt): ReadonlyMap<string, TableValue> {
  return followSteps({ module, block: { start: block.start, end: start } }).values;
}
