import type { Span, Stmt } from '../../syntax/ast.js';
import { namesIn, statementsIn, suitesOf } from '../../syntax/walk.js';
import { overlapOf } from '../../values/region.js';
import { changesIn } from '../check/script-change.js';
import {
  declined,
  edited,
  freshName,
  type RepairContext,
  type Rewrite,
  statementsOf,
  type TextEdit,
} from '../context.js';
import { isCellMarker } from '../order/cells.js';
import { readSelections, readSplitCall, type SplitStatement } from '../split-parts.js';
import { ColumnResolver } from './columns.js';
import { changedDividingColumn } from './dividing-columns.js';
import { type Mapping, mapParts } from './mapping.js';
import { type Plan, planMoves } from './plan.js';
import { NotReplayable, Replay } from './replay.js';

const MOVABLE = new Set([
  'scaling',
  'imputation',
  'encoding',
  'target-encoding',
  'projection',
  'vocabulary',
  'clustering',
  'binning',
  'statistics',
  'group-statistics',
  'feature-selection',
]);

/**
 * Moves fits and statistics after the split: the split gets what they were applied to, then each of them is
 * made on the training part and applied to both parts.
 */
export function moveAfterSplit(context: RepairContext): Rewrite {
  const leaks = context.leaks.filter((leak) => MOVABLE.has(leak.kind));
  const statements = statementsOf(context);
  const [leak] = leaks;
  if (leak === undefined || leaks.length < context.leaks.length)
    return declined('the block holds a leak that cannot be moved');
  const split = findSplit(context);
  if (split === undefined) return declined('the split is not in the block in a form that can be rewritten');
  const isRows = (name: string): boolean => {
    const rows = context.watched.get(name);
    return rows !== undefined && overlapOf(rows, leak.rows) === 'yes';
  };
  const before = statements.filter(
    (statement) => statement.end <= split.statement.start && !split.statements.includes(statement),
  );
  if (split.byCall && split.statement.suite !== statements[0]?.suite) {
    return declined('the split is in a loop and the fit before it');
  }
  const plan = planMoves(
    context.module,
    before,
    leaks,
    isRows,
    new ColumnResolver(context.module, context.watchedLists, leaks),
  );
  if (typeof plan === 'string') return declined(plan);
  const column = changedDividingColumn(context, plan, split);
  if (column !== undefined)
    return declined(`the rows are divided by \`${column}\`, which changes on the way`);
  const mapping = mapParts(context, plan, split, isRows);
  if (typeof mapping === 'string') return declined(mapping);
  const later = usedLater(context, plan, mapping, split, isRows);
  if (later !== undefined) return declined(later);
  const copied = copiedInFolds(context, plan, mapping, split);
  if (typeof copied === 'string') return declined(copied);
  const listed = listedLater(context, plan, mapping, split);
  if (typeof listed === 'string') return declined(listed);
  const block = { ...context.block, end: Math.max(context.block.end, ...listed.map(({ end }) => end)) };
  try {
    const replay = new Replay(context, leaks, mapping, isRows);
    const text = assemble({ ...context, block }, plan, mapping, split, copied, replay, listed);
    return block.end > context.block.end ? { text, block } : { text };
  } catch (error) {
    if (error instanceof NotReplayable) return declined(error.message);
    throw error;
  }
}

export function findSplit(context: RepairContext): SplitStatement | undefined {
  const statements = statementsOf(context);
  const [leak] = context.leaks;
  const byCall = statements.map(readSplitCall).find((found) => found !== undefined);
  if (byCall !== undefined || leak === undefined) return byCall;
  const selections = readSelections(context.source, statements, leak);
  if (selections !== undefined) return selections;
  // Folds that are taken in a loop: the fit moves into the loop.
  for (const statement of statements) {
    if (statement.type !== 'for') continue;
    const inside = statement.body.statements;
    const found =
      readSelections(context.source, inside, leak) ??
      inside.map(readSplitCall).find((part) => part !== undefined);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Tables that moved statements make or change hold something else after the split: nobody may read them. */
function usedLater(
  context: RepairContext,
  plan: Plan,
  mapping: Mapping,
  split: SplitStatement,
  isRows: (name: string) => boolean,
): string | undefined {
  const { suite } = split.statement;
  const targets = new Set(split.parts.flatMap(({ train, test }) => [train, test]));
  // A table of other rows is changed once, as before, only later.
  const holdsOtherRows = (name: string): boolean =>
    plan.changed.get(name)?.root === name &&
    !mapping.names.has(name) &&
    context.watched.has(name) &&
    !isRows(name);
  const gone = new Set([
    ...[...plan.changed.keys()].filter((name) => !mapping.pieces.includes(name) && !holdsOtherRows(name)),
    ...[...plan.created.keys()].filter((name) => mapping.names.has(name)),
  ]);
  const later = suite.statements.slice(suite.statements.indexOf(split.statement) + 1);
  const { owner } = suite;
  if (owner?.type === 'for') {
    later.push(...owner.suite.statements.slice(owner.suite.statements.indexOf(owner) + 1));
  }
  for (const statement of later) {
    const stored =
      statement.type === 'assign' ? statement.targets.filter((target) => target.type === 'name') : [];
    for (const name of namesIn(statement)) {
      if (!gone.has(name.id) || targets.has(name.id) || stored.includes(name)) continue;
      if (/^\s*\.\s*(columns|shape|index|dtypes)\b/.test(context.source.slice(name.end, name.end + 30)))
        continue;
      return `\`${name.id}\` is read again after the split (line ${context.source.slice(0, name.start).split('\n').length})`;
    }
    if (suitesOf(statement).length === 0)
      for (const target of stored) if (target.type === 'name') gone.delete(target.id);
    if (gone.size === 0) break;
  }
  return undefined;
}

/**
 * Columns that a later line lists of a table which has no new columns any more: `[c for c in frame.columns if …]` lists those of
 * the training part. A text says why it cannot.
 */
function listedLater(
  { source }: RepairContext,
  plan: Plan,
  mapping: Mapping,
  { statement: split }: SplitStatement,
): readonly TextEdit[] | string {
  if (plan.newColumns.size === 0) return [];
  const { suite } = split;
  const edits: TextEdit[] = [];
  let replaced = new Set<string>();
  for (const statement of suite.statements.slice(suite.statements.indexOf(split) + 1)) {
    const stored = statement.type === 'assign' ? statement.targets : [];
    for (const name of namesIn(statement)) {
      if (stored.includes(name) || !plan.changed.has(name.id) || replaced.has(name.id)) continue;
      const parts = mapping.names.get(name.id);
      // A part may have the name of the whole table.
      if (parts === undefined || parts.train === name.id || parts.test === name.id) continue;
      const [, about] = /^\s*\.\s*(columns|dtypes|shape)\b/.exec(source.slice(name.end, name.end + 30)) ?? [];
      if (about === undefined) continue;
      if (about === 'shape') return `\`${name.id}.shape\` would be that of a table without the new columns`;
      edits.push({ start: name.start, end: name.end, text: parts.train });
    }
    for (const target of stored) if (target.type === 'name') replaced = new Set([...replaced, target.id]);
  }
  return edits;
}

/** The block: statements that stay, the split, then what was moved; other lines as they were. */
function assemble(
  context: RepairContext,
  plan: Plan,
  mapping: Mapping,
  split: SplitStatement,
  copied: CopiedTables,
  replay: Replay,
  listed: readonly TextEdit[],
): string {
  const { source, block, lineEnding } = context;
  const indent = indentOf(source, split.statement);
  const unchanged: string[] = [];
  let at = block.start;
  for (const statement of plan.moved) {
    const span = movedLines(source, statement, at, block.end);
    unchanged.push(source.slice(at, Math.max(at, span.start)));
    at = span.end;
  }
  // What was moved comes right after the split.
  const after = Math.min(lineEndOf(source, split.statement), block.end);
  unchanged.push(edited(source, { start: at, end: after }, [...mapping.edits, ...copied.edits]));
  const added = [...copied.lines];
  for (const statement of plan.moved)
    added.push(...withComments(source, statement, block, replay.say(statement, indent)));
  for (const { value, parts } of mapping.assigned) {
    added.push(
      `${parts.train} = ${replay.on('train', value, new Map())}`,
      `${parts.test} = ${replay.on('test', value, new Map())}`,
    );
  }
  const body = unchanged
    .join('')
    .replaceAll('\r\n', '\n')
    .replace(/^(?:[ \t]*\n)+/, '')
    .trimEnd();
  const end = Math.max(block.end, after);
  const within = listed.filter((edit) => edit.start >= after);
  const rest = edited(source, { start: after, end }, within);
  const text = `${body}\n${added.map((line) => `${indent}${line}`).join('\n')}${rest}`;
  return text.replaceAll('\r\n', '\n').replaceAll('\n', lineEnding);
}

function lineEndOf(source: string, statement: Stmt): number {
  const next = source.indexOf('\n', Math.max(statement.start, statement.end - 1));
  if (next < 0) return source.length;
  return source[next - 1] === '\r' ? next - 1 : next;
}

/** The comment lines above a moved statement and the comment after it go with it. */
function withComments(source: string, statement: Stmt, block: Span, lines: readonly string[]): string[] {
  const own = source.lastIndexOf('\n', statement.start - 1) + 1;
  const { start, end } = movedLines(source, statement, block.start, block.end);
  const above = source
    .slice(Math.min(start, own), own)
    .split('\n')
    .map((line) => line.trim());
  const after = /^[ \t]*#[^\r\n]*/.exec(source.slice(statement.end, Math.max(statement.end, end)))?.[0] ?? '';
  const [first = '', ...rest] = lines;
  return [...above.filter((line) => line !== ''), first + after, ...rest];
}

/** The lines of a statement, with the comment lines right above it. */
function movedLines(
  source: string,
  statement: Stmt,
  from: number,
  limit: number,
): { start: number; end: number } {
  let start = source.lastIndexOf('\n', statement.start - 1) + 1;
  for (;;) {
    const previous = source.lastIndexOf('\n', start - 2) + 1;
    const line = source.slice(previous, start);
    if (previous >= start || previous < from || !/^[ \t]*#/.test(line) || isCellMarker(line)) break;
    start = previous;
  }
  const next = source.indexOf('\n', Math.max(statement.start, statement.end - 1));
  return { start, end: next < 0 || next >= limit ? limit : next + 1 };
}

function indentOf(source: string, statement: Stmt): string {
  const lineStart = source.lastIndexOf('\n', statement.start - 1) + 1;
  return /^\s*/.exec(source.slice(lineStart, statement.start))?.[0] ?? '';
}

/** Tables of other rows that every fold has to change again: what is put before the loop, and the first lines in it. */
interface CopiedTables {
  readonly edits: readonly TextEdit[];
  readonly lines: readonly string[];
}

/**
 * Where the split is in a loop over folds, a further table that moved statements change (a test file) is changed
 * in each turn: each turn starts from a copy of the table as it was before the loop. A text says why it cannot.
 */
function copiedInFolds(
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
