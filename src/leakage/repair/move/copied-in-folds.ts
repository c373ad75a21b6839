import type { Stmt } from '../../syntax/ast.js';
import { namesIn, statementsIn } from '../../syntax/walk.js';
import { changesIn } from '../check/script-change.js';
import { freshName, type RepairContext, type TextEdit } from '../context.js';
import type { SplitStatement } from '../split-parts.js';
import type { Mapping } from './mapping.js';
import type { Plan } from './plan.js';

/** Tables of other rows that every fold has to change again: what is put before the loop, and the first lines in it. */
export interface CopiedTables {
  readonly edits: readonly TextEdit[];
  readonly lines: readonly string[];
}

/**
 * Where the split is in a loop over folds, a further table that moved statements change (a test file) is changed
 * in each turn: each turn starts from a copy of the table as it was before the loop. A text says why it cannot.
 */
export function copiedInFolds(
  context: RepairContext,
  plan: Plan,
  mapping: Mapping,
  split: SplitStatement,
): CopiedTables | string {
  const { source, module, lineEnding } = context;
  const loop = split.statement.suite.owner;
  if (loop?.type !== 'for' || loop.start < context.block.start) return { edits: [], lines: [] };
  const names = new Set<string>();
  for (const statement of plan.moved.flatMap((moved) => [...statementsIn(moved)])) {
    for (const { name, replaces } of changesIn(module, statement)) {
      const isTable = context.watched.has(name) || context.watchedFrames.has(name);
      if (!replaces && isTable && !mapping.names.has(name)) names.add(name);
    }
  }
  const after = loop.suite.statements.slice(loop.suite.statements.indexOf(loop) + 1);
  const taken = new Set<string>();
  const before: string[] = [];
  const lines: string[] = [];
  for (const name of names) {
    if (after.some((statement) => readsMore(source, statement, name)))
      return `\`${name}\` is read again after the folds`;
    const whole = freshName(source, `${name}_before`, taken);
    taken.add(whole);
    before.push(`${whole} = ${name}`);
    lines.push(`${name} = ${whole}.copy()`);
  }
  const indent = source.slice(source.lastIndexOf('\n', loop.start - 1) + 1, loop.start);
  const text = before.map((line) => `${line}${lineEnding}${indent}`).join('');
  return { edits: text === '' ? [] : [{ start: loop.start, end: loop.start, text }], lines };
}

/** Whether a statement reads more of a table than its length, its index or one column by name (an id). */
function readsMore(source: string, statement: Stmt, name: string): boolean {
  return [...namesIn(statement)].some(
    ({ id, start, end }) =>
      id === name &&
      !/^(\.(index|shape)\b|\[\s*["'][^"']*["']\s*\])/.test(source.slice(end, end + 80)) &&
      !/\blen\(\s*$/.test(source.slice(Math.max(0, start - 10), start)),
  );
}
