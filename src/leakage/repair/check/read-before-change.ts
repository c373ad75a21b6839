import type { Name } from '../../syntax/ast.js';
import { namesIn, statementsIn, suitesOf } from '../../syntax/walk.js';
import {
  changesIn,
  loopsAround,
  newStatements,
  type ScriptChange,
  statementsInBlock,
} from './script-change.js';

/**
 * Whether a line of a loop reads a table, or gives it another name, before the lines that a rewrite put into the loop change
 * it: the table was ready before the loop, and that line would now see it as it was before, or as the turn before left it.
 */
export function readBeforeChange(change: ScriptChange): string | undefined {
  const { before, after } = change;
  const added = new Set(newStatements(change));
  const changedBefore = new Set(
    [...statementsInBlock(before)]
      .filter((statement) => loopsAround(statement).length > 0)
      .flatMap((statement) => changesIn(before.module, statement).map(({ name }) => name)),
  );
  const changes = [...added].flatMap((statement) =>
    changesIn(after.module, statement).filter(({ name }) => !changedBefore.has(name)),
  );
  const loops = new Set([...added].flatMap(loopsAround));
  for (const loop of loops) {
    const last = new Map<string, number>();
    for (const { name, statement } of changes)
      if (loopsAround(statement).includes(loop)) last.set(name, statement.start);
    for (const statement of statementsIn(loop)) {
      if (statement === loop || added.has(statement) || suitesOf(statement).length > 0) continue;
      const stored = new Set(statement.type === 'assign' ? statement.targets : []);
      for (const name of namesIn(statement)) {
        const isChanged = (last.get(name.id) ?? -1) > statement.start;
        if (isChanged && !stored.has(name) && !readsLayout(after.module.source, name))
          return `\`${name.id}\` is read in the loop before the lines that would change it there`;
      }
    }
  }
  return undefined;
}

/** `table.shape`, `table.index`, `len(table)`: what a fit and what it is applied to leave as it is. */
function readsLayout(source: string, { start, end }: Name): boolean {
  return (
    /^\.(index|shape)\b/.test(source.slice(end, end + 10)) ||
    /\blen\(\s*$/.test(source.slice(Math.max(0, start - 10), start))
  );
}
