import type { Expr, Stmt } from '../../syntax/ast.js';
import {
  expressionsIn,
  namesIn,
  namesInExpression,
  ownExpressions,
  rootName,
  statementsIn,
} from '../../syntax/walk.js';
import { tableKind } from '../rows-first/table-kind.js';
import {
  newStatements,
  partPairs,
  plainText,
  type ScriptChange,
  statementsInBlock,
  type Version,
} from './script-change.js';

/** What gives a value or a position for each row, rather than columns or one number. */
const FOR_EACH_ROW =
  /\b(where|nonzero|flatnonzero|argwhere|argsort|isna|isnull|isnan|notna|notnull|duplicated|isin|index|arange|between)\b|[<>]|[!=]=/;
const COLUMNS = /\.(columns|dtypes?|select_dtypes|keys)\b|\bany\(|\ball\(|\bfor\s/;
const CONCATENATION = /(^|\.)(concat|vstack|concatenate|hstack|row_stack|append|cat)$/;
const WRITES = /\.(to_csv|to_parquet|to_feather|to_pickle|savetxt)\b|\bsavetxt\(/;

/** Whether positions or a condition that was taken over the whole table picks rows of a part of it. */
export function stalePositions(change: ScriptChange): string | undefined {
  const { module } = change.after;
  const pairs = partPairs(change);
  const parts = new Set(pairs.flatMap(({ train, test }) => [train, test]));
  const sources = new Set(pairs.flatMap(({ source }) => [...namesInExpression(source)].map(({ id }) => id)));
  const divided = Math.min(...pairs.flatMap(({ statements }) => statements.map(({ start }) => start)));
  const positions = new Set<string>();
  for (const outer of module.body.statements) {
    for (const statement of statementsIn(outer)) {
      if (statement.type !== 'assign' || statement.start >= divided) continue;
      const text = module.source.slice(statement.value.start, statement.value.end);
      const reads = [...namesInExpression(statement.value)].some(
        ({ id }) => sources.has(id) || positions.has(id),
      );
      if (!reads || !FOR_EACH_ROW.test(text) || COLUMNS.test(text)) continue;
      for (const target of statement.targets) if (target.type === 'name') positions.add(target.id);
    }
  }
  // A table that is itself divided is not a list of positions.
  for (const name of sources) positions.delete(name);
  for (const statement of newStatements(change)) {
    for (const [object, index] of picksIn(statement)) {
      const stale = [...namesInExpression(index)].find(({ id }) => positions.has(id));
      if (stale !== undefined && parts.has(rootName(object) ?? ''))
        return `\`${stale.id}\` holds rows of the whole table, not of \`${rootName(object)}\``;
    }
  }
  return undefined;
}

/** Whether a rewrite takes rows of an array as those of a frame: what a transformer gives has no `iloc`. */
export function arrayAsFrame(change: ScriptChange): string | undefined {
  const { module } = change.after;
  for (const statement of newStatements(change)) {
    for (const own of ownExpressions(statement)) {
      for (const part of expressionsIn(own)) {
        if (part.type !== 'attribute' || !/^i?loc$/.test(part.name) || part.object.type !== 'name') continue;
        if (tableKind(module, part.object.id, statement) === 'array')
          return `\`${part.object.id}\` is an array here, which has no \`${part.name}\``;
      }
    }
  }
  return undefined;
}

/** `part[index]`, `part.loc[index]`, `part.drop(index)`: what picks from what. */
function* picksIn(statement: Stmt): Generator<readonly [Expr, Expr]> {
  for (const own of ownExpressions(statement)) {
    for (const part of expressionsIn(own)) {
      if (part.type === 'subscript') for (const index of part.indices) yield [part.object, index];
      if (part.type !== 'call' || part.callee.type !== 'attribute') continue;
      if (!/^(drop|take)$/.test(part.callee.name)) continue;
      const [first] = part.args;
      if (first !== undefined && (first.name === undefined || first.name === 'index'))
        yield [part.callee.object, first.value];
    }
  }
}

/**
 * Whether rows are left out of a concatenation that is divided again by position, or written to a file: every
 * position after them would mean another row.
 */
export function shortened(change: ScriptChange): string | undefined {
  const { before, after } = change;
  const remaining = concatenations(after);
  for (const [name, count] of concatenations(before)) {
    if ((remaining.get(name) ?? 1) >= count) continue;
    const use = positionalUse(after, name);
    if (use !== undefined) return `${use}, so that no rows may be left out of \`${name}\``;
  }
  return undefined;
}

/** Variables of a block by how many tables are put together in them. */
function concatenations(version: Version): Map<string, number> {
  const found = new Map<string, number>();
  for (const statement of statementsInBlock(version)) {
    if (statement.type !== 'assign') continue;
    const [target] = statement.targets;
    if (target?.type !== 'name') continue;
    for (const part of expressionsIn(statement.value)) {
      if (part.type !== 'call') continue;
      const callee = version.module.source.slice(part.callee.start, part.callee.end);
      const [list] = part.args;
      if (!CONCATENATION.test(callee) || list === undefined) continue;
      const count = list.value.type === 'sequence' ? list.value.items.length : 2;
      found.set(target.id, Math.max(found.get(target.id) ?? 0, count));
    }
  }
  return found;
}

/** The first slice by position, or file, of what is made from a variable. */
function positionalUse({ module, block }: Version, name: string): string | undefined {
  const derived = new Set([name]);
  const mentions = (expression: Expr): boolean =>
    [...namesInExpression(expression)].some(({ id }) => derived.has(id));
  for (const outer of module.body.statements) {
    for (const statement of statementsIn(outer)) {
      if (statement.start < block.start) continue;
      for (const own of ownExpressions(statement)) {
        for (const part of expressionsIn(own)) {
          const rows = part.type === 'subscript' ? part.indices[0] : undefined;
          if (rows?.type === 'slice' && (rows.lower ?? rows.upper) !== undefined && mentions(own)) {
            if (part.type === 'subscript' && derived.has(rootName(part.object) ?? ''))
              return `\`${plainText(module, part)}\` picks rows by position`;
          }
        }
        if (WRITES.test(module.source.slice(own.start, own.end)) && mentions(own))
          return `\`${name}\` is written to a file`;
      }
      // What a model gives is made from other rows.
      if (statement.type !== 'assign' || /\.(fit|predict\w*)\(/.test(plainText(module, statement.value)))
        continue;
      if (!mentions(statement.value)) continue;
      for (const target of statement.targets) {
        const items = target.type === 'sequence' ? target.items : [target];
        for (const item of items) if (item.type === 'name') derived.add(item.id);
      }
    }
  }
  return undefined;
}

/** Give positions of the rows that an object was fitted on. */
const FINDS_ROWS = /^(kneighbors|radius_neighbors|kneighbors_graph|query_radius|query_ball_point)$/;

/**
 * Whether neighbors are looked up in an object that a rewrite fits on other rows, and their positions are read: they count
 * within the rows of the fit, and whatever is picked by them would be that of other rows. Distances stay what they are.
 */
export function foundPositions(change: ScriptChange): string | undefined {
  const { module } = change.after;
  const added = newStatements(change);
  const touched = new Set(added.flatMap((statement) => [...namesIn(statement)].map(({ id }) => id)));
  for (const outer of module.body.statements) {
    for (const statement of statementsIn(outer)) {
      for (const own of ownExpressions(statement)) {
        for (const part of expressionsIn(own)) {
          if (part.type !== 'call' || part.callee.type !== 'attribute') continue;
          if (!FINDS_ROWS.test(part.callee.name) || readsDistancesAlone(statement, part)) continue;
          const fitted = rootName(part.callee);
          if (added.includes(statement) || (fitted !== undefined && touched.has(fitted)))
            return `\`${part.callee.name}\` gives positions of the rows that were fitted, which would be others`;
        }
      }
    }
  }
  return undefined;
}

/** `distances, _ = index.kneighbors(rows)`, `distances = index.kneighbors(rows)[0]` */
function readsDistancesAlone(statement: Stmt, call: Expr): boolean {
  if (statement.type !== 'assign') return false;
  const [target] = statement.targets;
  const { value } = statement;
  if (value === call && target?.type === 'sequence') {
    const second = target.items[1];
    return second?.type === 'name' && second.id.startsWith('_');
  }
  const index = value.type === 'subscript' && value.object === call ? value.indices[0] : undefined;
  return index?.type === 'constant' && index.value === 0;
}
