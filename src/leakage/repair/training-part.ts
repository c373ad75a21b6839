import type { Argument, Call, Expr, Stmt, Suite } from '../syntax/ast.js';
import { expressionsIn, namesInExpression, ownExpressions } from '../syntax/walk.js';
import {
  declined,
  edited,
  type RepairContext,
  type Rewrite,
  statementsOf,
  type TextEdit,
} from './context.js';
import { readSplitCall, type SplitPart } from './split-parts.js';

const CONCATENATIONS = /(^|\.)(concat|vstack|concatenate|hstack|row_stack|cat|append|ConcatDataset|r_)$/;

/** Splits that stand before a statement, in its suite and in those around it; the last one first. */
function splitsBefore(statement: Stmt): SplitPart[] {
  const parts: SplitPart[] = [];
  let suite: Suite | undefined = statement.suite;
  let before = statement.start;
  while (suite !== undefined) {
    for (const other of suite.statements.toReversed()) {
      if (other.start < before) parts.push(...(readSplitCall(other)?.parts ?? []));
    }
    before = suite.owner?.start ?? before;
    if (suite.owner?.type === 'function') break;
    suite = suite.owner?.suite;
  }
  return parts;
}

/** `model.fit(X, y)` on everything, after `X` and `y` were split: the training parts take their places. */
export function trainOnTrainingPart(context: RepairContext): Rewrite {
  const leak = context.leaks.find(({ kind }) => kind === 'training-rows' || kind === 'stacking');
  if (leak === undefined || leak.node.type !== 'call') return declined('no training in this block');
  const parts = splitsBefore(leak.statement);
  const text = (span: Expr): string => context.source.slice(span.start, span.end);
  const edits: TextEdit[] = [];
  for (const argument of rowArguments(leak.node)) {
    const part = parts.find(({ source }) => text(source) === text(argument.value));
    if (part !== undefined)
      edits.push({ start: argument.value.start, end: argument.value.end, text: part.train });
  }
  if (edits.length === 0) return declined('the training rows are not what a split before this line divides');
  if (edits.length < rowArguments(leak.node).length)
    return declined('features and labels are not divided by one split');
  return { text: edited(context.source, context.block, edits) };
}

function rowArguments(call: Call): Argument[] {
  const { callee } = call;
  const name = callee.type === 'name' ? callee.id : callee.type === 'attribute' ? callee.name : '';
  const count = name === 'DataLoader' ? 1 : 2;
  return call.args.filter(
    (argument, at) =>
      (argument.name === undefined && at < count) || argument.name === 'X' || argument.name === 'y',
  );
}

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
  for (const { test, train } of splitsBefore(leak.statement)) {
    const belongs = splitsBefore(leak.statement).some((other) => scored.has(other.test));
    if (belongs && !scored.has(train)) scored.add(test);
  }
  let unequal = 0;
  for (const statement of statementsOf(context)) {
    for (const own of ownExpressions(statement)) {
      for (const part of expressionsIn(own)) {
        const items = concatenatedItems(context.source, part);
        if (items === undefined) continue;
        const kept = items.filter(
          (item) => ![...namesInExpression(item)].some((name) => scored.has(name.id)),
        );
        const [only] = kept;
        if (kept.length === items.length) {
          unequal += 1;
          continue;
        }
        if (kept.length !== 1 || only === undefined) {
          return declined('more than one part would be left in the concatenation');
        }
        edits.push({ start: part.start, end: part.end, text: context.source.slice(only.start, only.end) });
      }
    }
  }
  if (edits.length === 0) return declined('no concatenation with the scored rows in this block');
  if (unequal > 0) return declined('features and labels are not put together in the same way');
  return { text: edited(context.source, context.block, edits) };
}

function concatenatedItems(source: string, expression: Expr): readonly Expr[] | undefined {
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
