import type { Leak } from '../findings/find-leaks.js';
import type { Expr, Module, Stmt, Suite } from '../syntax/ast.js';
import { expressionsIn, ownExpressions, rootName, statementsIn } from '../syntax/walk.js';
import type { RepairContext } from './context.js';
import { readSelections, readSplitCall, type SplitPart, type SplitStatement } from './split-parts.js';

/** A table that was divided before a leak, with the statement that did it. */
export interface Division extends SplitPart {
  readonly statement: Stmt;
}

/** Divisions that are before a leak, in its suite and in those around it; the last one first. */
export function divisionsBefore(context: RepairContext, leak: Leak): Division[] {
  const divisions: Division[] = [];
  const take = (split: SplitStatement | undefined): void => {
    for (const part of split?.parts ?? []) {
      // A table that its own training part has replaced is not there any more.
      if (part.train !== rootName(part.source))
        divisions.push({ ...part, statement: split?.statement as Stmt });
    }
  };
  let suite: Suite | undefined = leak.statement.suite;
  let before = leak.statement.start;
  while (suite !== undefined) {
    const earlier = suite.statements.filter(
      (statement) => statement.start < before && statement.end <= before,
    );
    for (const statement of earlier.toReversed()) take(readSplitCall(statement));
    take(readSelections(context.source, earlier, leak));
    before = suite.owner?.start ?? before;
    if (suite.owner?.type === 'function') break;
    suite = suite.owner?.suite;
  }
  return divisions;
}

/** A variable that a statement gives another value, or changes in place. */
interface Change {
  readonly name: string;
  readonly statement: Stmt;
  /** The column or row that changes, where it is not the whole variable. */
  readonly index: Expr | undefined;
}

function* changesOf(statement: Stmt): Generator<Change> {
  for (const inner of statementsIn(statement)) {
    const targets =
      inner.type === 'assign'
        ? inner.targets
        : inner.type === 'augmented' || inner.type === 'for'
          ? [inner.target]
          : [];
    for (const target of targets.flatMap((one) => (one.type === 'sequence' ? one.items : [one]))) {
      const name = rootName(target);
      if (name !== undefined && !isOnlyCopied(inner, target))
        yield {
          name,
          statement: inner,
          index: target.type === 'subscript' ? target.indices.at(-1) : undefined,
        };
    }
    for (const own of ownExpressions(inner)) {
      for (const part of expressionsIn(own)) {
        if (part.type !== 'call' || part.callee.type !== 'attribute') continue;
        const inPlace =
          /^(pop|insert|sort|fill|shuffle|update)$/.test(part.callee.name) ||
          part.args.some((argument) => argument.name === 'inplace');
        const name = inPlace ? rootName(part.callee.object) : undefined;
        if (name !== undefined) {
          const { object } = part.callee;
          yield {
            name,
            statement: inner,
            index: object.type === 'subscript' ? object.indices.at(-1) : undefined,
          };
        }
      }
    }
  }
}

/** `part = part.copy()`, alone or beside others: the rows and their values stay. */
function isOnlyCopied(statement: Stmt, target: Expr): boolean {
  if (statement.type !== 'assign' || target.type !== 'name') return false;
  const [first] = statement.targets;
  const { value: whole } = statement;
  const value =
    first?.type === 'sequence' && whole.type === 'sequence'
      ? whole.items[first.items.indexOf(target)]
      : whole;
  if (value?.type !== 'call' || value.callee.type !== 'attribute') return false;
  const { name, object } = value.callee;
  return /^(copy|reset_index)$/.test(name) && object.type === 'name' && object.id === target.id;
}

/**
 * Whether a variable may hold something else at a leak than after the division: changed on the way, or in an
 * earlier turn of a loop around the leak. A loop that changes the column of its own turn does not count.
 */
export function changesBetween(
  context: RepairContext,
  division: Division,
  leak: Leak,
  name: string,
): boolean {
  if (isChangedBetween(context.module, division.statement.end, leak.statement.start, name)) return true;
  for (let owner = leak.statement.suite.owner; owner !== undefined; owner = owner.suite.owner) {
    if (owner.type !== 'for' && owner.type !== 'while') continue;
    // The division itself is in the loop: every turn divides again.
    if (division.statement.start >= owner.start) break;
    const turn = owner.type === 'for' && owner.target.type === 'name' ? owner.target.id : undefined;
    for (const change of changesOf(owner)) {
      const ownColumn = change.index?.type === 'name' && change.index.id === turn;
      if (change.name === name && !ownColumn) return true;
    }
  }
  return false;
}

/** Whether a statement between two offsets of the script changes a variable. */
export function isChangedBetween(module: Module, start: number, end: number, name: string): boolean {
  return !changesIn(module, start, end, name).next().done;
}

/** Changes of a variable between two offsets of the script. */
export function* changesIn(module: Module, start: number, end: number, name: string): Generator<Change> {
  for (const statement of module.body.statements) {
    for (const inner of statementsIn(statement)) {
      if (inner.start < start || inner.end > end) continue;
      for (const change of changesOf(inner)) if (change.name === name) yield change;
    }
  }
}
