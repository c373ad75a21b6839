import type { Module, Name, Stmt } from '../../syntax/ast.js';
import { namesIn, statementsIn, suitesOf } from '../../syntax/walk.js';
import { changesIn, loopsAround, newStatements, plainText, type ScriptChange } from './script-change.js';

/**
 * Whether a line of a loop reads a table, or gives it another name, before the lines that a rewrite put into the loop change
 * it: the table was ready before the loop, and that line would now see it as it was before, or as the turn before left it.
 */
export function readBeforeChange(change: ScriptChange): string | undefined {
  const { before, after } = change;
  const added = new Set(newStatements(change));
  const allChanges = [...added].flatMap((statement) => changesIn(after.module, statement));
  const loops = new Set([...added].flatMap(loopsAround));
  for (const loop of loops) {
    const changedBefore = changedInLoop(before.module, headOf(after.module, loop));
    const changes = allChanges.filter(({ name }) => !changedBefore.has(name));
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

/** `for fold, (tr, va) in enumerate(folds.split(X)):`, without white space. */
function headOf(module: Module, loop: Stmt): string {
  const first = suitesOf(loop)[0]?.statements[0]?.start ?? loop.end;
  return plainText(module, { start: loop.start, end: first });
}

/** Names of tables that a loop changed already in the script as it was. */
function changedInLoop(module: Module, head: string): ReadonlySet<string> {
  const loops = module.body.statements
    .flatMap((outer) => [...statementsIn(outer)])
    .filter((statement) => /^(for|while)$/.test(statement.type) && headOf(module, statement) === head);
  const inside = loops.flatMap((loop) => [...statementsIn(loop)].filter((statement) => statement !== loop));
  return new Set(inside.flatMap((statement) => changesIn(module, statement).map(({ name }) => name)));
}

/** `table.shape`, `table.index`, `len(table)`: what a fit and what it is applied to leave as it is. */
function readsLayout(source: string, { start, end }: Name): boolean {
  return (
    /^\.(index|shape)\b/.test(source.slice(end, end + 10)) ||
    /\blen\(\s*$/.test(source.slice(Math.max(0, start - 10), start))
  );
}
