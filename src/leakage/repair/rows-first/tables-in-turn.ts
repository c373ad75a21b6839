import type { Leak } from '../../findings/find-leaks.js';
import { FIT_METHODS, STATISTIC_METHODS } from '../../library-models/methods.js';
import type { Call, Expr, For, Stmt } from '../../syntax/ast.js';
import { calleeName, expressionsIn, ownExpressions, statementsIn } from '../../syntax/walk.js';
import { overlapOf } from '../../values/region.js';
import { declined, edited, freshName, type RepairContext, type Rewrite, type TextEdit } from '../context.js';
import { divisionsBefore } from '../divisions.js';
import { readGroupwise, sayGroupwise } from './group-lookup.js';
import { divideEarlier } from './later-split.js';
import { tableKind } from './table-kind.js';

/**
 * `for df in (train, test): df["age"] = df["age"].fillna(df["age"].median())`: what each table takes from itself is taken
 * from the training rows, as they are before the loop, for all of them.
 */
export function learnOnceForTables(context: RepairContext): Rewrite {
  const { source, lineEnding, block } = context;
  const [leak] = context.leaks;
  const loop = leak === undefined ? undefined : loopOverTables(leak.statement);
  if (leak === undefined || loop === undefined) return declined('the fit is in no loop over tables');
  const { statement, table, items } = loop;
  if (context.leaks.some((other) => loopOverTables(other.statement)?.statement !== statement))
    return declined('the block holds a leak that cannot be moved');
  if (statement.start < block.start) return declined('the loop over the tables begins before the block');
  const indent = source.slice(source.lastIndexOf('\n', statement.start - 1) + 1, statement.start);
  if (/\S/.test(indent)) return declined('the loop shares its line');
  const learned = learnedFrom(context, leak, statement, items);
  if (typeof learned === 'string') return declined(learned);
  const part = freshName(source, 'fit_part');
  const edits: TextEdit[] = [];
  const lines = [...learned.lines, `${part} = ${learned.text}.copy()`];
  const taken = new Set([part]);
  for (const other of context.leaks) {
    for (const node of new Set([other.node, ...other.nodes])) {
      const said = say(context, other, node, statement, table, part, taken);
      if (said === undefined) return declined('what is computed in the loop cannot be computed before it');
      if (edits.some((edit) => edit.start === said.edits[0]?.start)) continue;
      lines.push(...said.lines);
      edits.push(...said.edits);
    }
  }
  const put = lines.map((line) => `${line}${lineEnding}${indent}`).join('');
  return {
    text: edited(source, block, [{ start: statement.start, end: statement.start, text: put }, ...edits]),
  };
}

interface LoopOverTables {
  readonly statement: For;
  /** Variable of the loop. */
  readonly table: string;
  readonly items: readonly string[];
}

/** The loop around a statement that takes one table after another, by their names. */
function loopOverTables(inner: Stmt): LoopOverTables | undefined {
  for (let owner = inner.suite.owner; owner !== undefined; owner = owner.suite.owner) {
    if (owner.type === 'function') return undefined;
    if (owner.type !== 'for' || owner.target.type !== 'name' || owner.iterable.type !== 'sequence') continue;
    const items = owner.iterable.items.map((item) => (item.type === 'name' ? item.id : undefined));
    if (items.length < 2 || !items.every((item) => item !== undefined)) continue;
    return { statement: owner, table: owner.target.id, items };
  }
  return undefined;
}

interface Learned {
  readonly lines: readonly string[];
  /** The training rows. */
  readonly text: string;
}

function learnedFrom(
  context: RepairContext,
  leak: Leak,
  loop: For,
  items: readonly string[],
): Learned | string {
  const divisions = divisionsBefore(context, leak);
  const division = divisions.find(({ train, test }) => items.includes(train) && items.includes(test));
  if (division !== undefined) {
    if (tableKind(context.module, division.train, loop) !== 'frame' && !usedAsFrame(context, loop))
      return `whether \`${division.train}\` is a frame or an array is not known`;
    return { lines: [], text: division.train };
  }
  const rows = (name: string): boolean => {
    const known = context.watchedEarlier.get(name);
    return known !== undefined && overlapOf(known, leak.rows) === 'yes';
  };
  const [table, ...others] = items.filter(rows);
  if (table === undefined || others.length > 0) return 'which table of the loop is split is not known';
  if (tableKind(context.module, table, loop) !== 'frame' && !usedAsFrame(context, loop))
    return `whether \`${table}\` is a frame or an array is not known`;
  const earlier = divideEarlier(context, leak, loop, table);
  if (typeof earlier === 'string') return earlier;
  return { lines: earlier.lines, text: `${table}${earlier.ofFrame}` };
}

/** The loop does with its tables what only frames can do. */
function usedAsFrame({ source }: RepairContext, loop: For): boolean {
  return /\.(fillna|median|mode|groupby|value_counts|quantile)\(/.test(source.slice(loop.start, loop.end));
}

function say(
  context: RepairContext,
  leak: Leak,
  node: Expr,
  loop: For,
  table: string,
  part: string,
  taken: Set<string>,
): { lines: readonly string[]; edits: readonly TextEdit[] } | undefined {
  const { source } = context;
  const byGroup = groupwiseAround(source, leak.statement, node);
  const whole = byGroup ?? node;
  if (whole.type !== 'call' || FIT_METHODS.has(calleeName(whole))) return undefined;
  if (!isKnownBefore(whole, leak.statement, loop, table)) return undefined;
  if (byGroup !== undefined) {
    const values = readGroupwise(context.module, leak.statement, byGroup);
    if (values === undefined || values.frame !== table || values.column.type !== 'constant') return undefined;
    const { lines, text } = sayGroupwise(
      source,
      values,
      '',
      (wanted) => {
        const name = freshName(source, wanted, taken);
        taken.add(name);
        return name;
      },
      part,
    );
    return { lines, edits: [{ start: whole.start, end: whole.end, text }] };
  }
  const isStatistic = whole.callee.type === 'attribute' && STATISTIC_METHODS.has(calleeName(whole));
  // Groups that the training rows lack would have no value.
  if (!isStatistic || /groupby|value_counts|lambda/.test(source.slice(whole.start, whole.end)))
    return undefined;
  const edits = [...expressionsIn(whole)].flatMap((inner) =>
    inner.type === 'name' && inner.id === table ? [{ start: inner.start, end: inner.end, text: part }] : [],
  );
  return edits.length === 0 ? undefined : { lines: [], edits };
}

function groupwiseAround(source: string, statement: Stmt, node: Expr): Call | undefined {
  for (const own of ownExpressions(statement)) {
    for (const part of expressionsIn(own)) {
      if (part.type !== 'call' || calleeName(part) !== 'transform') continue;
      const isGrouped = /groupby/.test(source.slice(part.callee.start, part.callee.end));
      if (isGrouped && part.start <= node.start && part.end >= node.end) return part;
    }
  }
  return undefined;
}

/** Whether the columns that are read are the table's own, not made or changed in the loop before. */
function isKnownBefore(node: Expr, at: Stmt, loop: For, table: string): boolean {
  const read = new Set<string>();
  let isPlain = true;
  for (const part of expressionsIn(node)) {
    if (part.type === 'subscript') {
      for (const index of part.indices) {
        if (index.type === 'constant' && typeof index.value === 'string') read.add(index.value);
        else if (index.type !== 'constant') isPlain = false;
      }
    }
    if (part.type === 'constant' && typeof part.value === 'string') read.add(part.value);
  }
  for (const inner of statementsIn(loop)) {
    if (inner.start >= at.start || inner === loop) continue;
    for (const own of ownExpressions(inner)) {
      for (const part of expressionsIn(own)) {
        const isInPlace = part.type === 'call' && part.args.some(({ name }) => name === 'inplace');
        if (isInPlace) return false;
      }
    }
    if (inner.type !== 'assign' && inner.type !== 'augmented') continue;
    const targets = inner.type === 'assign' ? inner.targets : [inner.target];
    for (const target of targets.flatMap((one) => (one.type === 'sequence' ? one.items : [one]))) {
      if (target.type === 'name' && target.id !== table) continue;
      const index = target.type === 'subscript' ? target.indices.at(-1) : undefined;
      const isOther = index?.type === 'constant' && typeof index.value === 'string' && !read.has(index.value);
      if (!isOther || !isPlain) return false;
    }
  }
  return (
    isPlain ||
    [...statementsIn(loop)].every(
      (inner) => inner === loop || inner.start >= at.start || inner.type === 'for',
    )
  );
}
