import type { Expr } from '../syntax/ast.js';
import { expressionsIn, namesInExpression, ownExpressions, rootName } from '../syntax/walk.js';
import {
  declined,
  edited,
  type RepairContext,
  type Rewrite,
  statementsOf,
  type TextEdit,
} from './context.js';
import { divisionsBefore } from './divisions.js';

const CONCATENATIONS = /(^|\.)(concat|vstack|concatenate|hstack|row_stack|cat|append|ConcatDataset|r_)$/;

/**
 * A fit or a training on `concat([train, valid])`: the scored rows are taken out of the concatenation, in the
 * block itself.
 */
export function leaveOutScoredRows(context: RepairContext): Rewrite {
  const edits: TextEdit[] = [];
  const [leak] = context.leaks;
  if (leak === undefined) return declined('no leak in this block');
  const scored = new Set(context.leaks.flatMap((other) => other.scoredNames));
  // The labels of a scored part go the way of its features.
  const divisions = divisionsBefore(context, leak);
  for (const { test, train } of divisions) {
    const belongs = divisions.some((other) => scored.has(other.test));
    if (belongs && !scored.has(train)) scored.add(test);
  }
  const textOf = ({ start, end }: Expr): string => context.source.slice(start, end);
  if (knowsPositions(context, scored))
    return declined('the positions of both parts in the concatenation are used');
  let unequal = 0;
  for (const statement of statementsOf(context)) {
    for (const own of ownExpressions(statement)) {
      for (const part of expressionsIn(own)) {
        const items = concatenatedItems(context.source, part);
        if (items === undefined) continue;
        const remaining = items.filter(
          (item) => ![...namesInExpression(item)].some((name) => scored.has(name.id)),
        );
        const [only] = remaining;
        if (remaining.length === items.length) {
          unequal += 1;
          continue;
        }
        if (only === undefined) return declined('nothing would be left in the concatenation');
        const left = remaining.length === 1 ? textOf(only) : withItems(context.source, part, remaining);
        if (left === undefined) return declined('more than one part would be left in the concatenation');
        edits.push({ start: part.start, end: part.end, text: left });
      }
    }
  }
  if (edits.length === 0) return declined('no concatenation with the scored rows in this block');
  if (unequal > 0) return declined('features and labels are not put together in the same way');
  return { text: edited(context.source, context.block, edits) };
}

/** `fold = np.r_[np.full(len(X_train), -1), np.zeros(len(X_val))]`: where the rows of each part are in the concatenation. */
function knowsPositions({ module }: RepairContext, scored: ReadonlySet<string>): boolean {
  return module.body.statements
    .filter((statement) => statement.type === 'assign')
    .some((statement) => {
      const lengths = ownExpressions(statement)
        .flatMap((own) => [...expressionsIn(own)])
        .flatMap((part) => lengthOf(part) ?? []);
      return lengths.some((name) => scored.has(name)) && lengths.some((name) => !scored.has(name));
    });
}

/** The table whose number of rows an expression is: `len(X)`, `X.shape`. */
function lengthOf(part: Expr): string | undefined {
  if (part.type === 'attribute') return part.name === 'shape' ? rootName(part.object) : undefined;
  if (part.type !== 'call' || part.callee.type !== 'name' || part.callee.id !== 'len') return undefined;
  const [table] = part.args;
  return table === undefined ? undefined : rootName(table.value);
}

/** The concatenation of some of its items, where they are in a list and rows are put below rows. */
function withItems(source: string, call: Expr, remaining: readonly Expr[]): string | undefined {
  if (call.type !== 'call') return undefined;
  const [list] = call.args;
  const callee = source.slice(call.callee.start, call.callee.end);
  if (list?.value.type !== 'sequence' || /(^|\.)(hstack|append)$/.test(callee)) return undefined;
  const { start, end } = list.value;
  const items = remaining.map((item) => source.slice(item.start, item.end)).join(', ');
  return `${source.slice(call.start, start + 1)}${items}${source.slice(end - 1, call.end)}`;
}

/** The tables that an expression puts below each other; nothing for another expression. */
export function concatenatedItems(source: string, expression: Expr): readonly Expr[] | undefined {
  if (expression.type !== 'call') return undefined;
  const callee = source.slice(expression.callee.start, expression.callee.end);
  if (!CONCATENATIONS.test(callee)) return undefined;
  if (
    expression.args.some(
      ({ name, value }) => name === 'axis' && !(value.type === 'constant' && value.value === 0),
    )
  )
    return undefined;
  const [first, second] = expression.args;
  if (first?.value.type === 'sequence') return first.value.items;
  if (
    callee.endsWith('append') &&
    expression.callee.type === 'attribute' &&
    first !== undefined &&
    second === undefined
  ) {
    return [expression.callee.object, first.value];
  }
  return undefined;
}
