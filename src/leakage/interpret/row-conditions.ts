import type { Call, Compare, Expr } from '../syntax/ast.js';
import { comparisonSide } from '../values/comparison.js';
import type { Step } from '../values/value.js';
import { bothMasks } from './bounds.js';
import type { Interpreter } from './interpreter.js';
import { amongStep } from './membership.js';
import { otherSide, textStep } from './steps.js';

/** `filter(first, second, kind="sale")` of polars: all conditions hold. Nothing where the first one is of another form. */
export function filterSteps(interp: Interpreter, call: Call): readonly Step[] | undefined {
  let steps: readonly Step[] = [];
  for (const [at, { name, star, value }] of call.args.entries()) {
    if (star !== '') return undefined;
    const own = name === undefined ? conditionSteps(interp, value) : equalStep(interp, name, value);
    if (own === undefined && at === 0) return undefined;
    const both = bothMasks(steps, own ?? [textStep(interp, value)]);
    if (both === undefined) return undefined;
    steps = both;
  }
  return steps.length === 0 ? undefined : steps;
}

/** The rows where a column is true. */
export function truthStep(interp: Interpreter, column: string, node: Expr): Step {
  const side = comparisonSide('==', true) ?? 'yes';
  return { partition: interp.partition(`compare:${column}`, 'selection', node), side };
}

function equalStep(interp: Interpreter, column: string, value: Expr): readonly Step[] | undefined {
  const bound = interp.evaluate(value);
  const side = bound.type === 'constant' ? comparisonSide('==', bound.value) : undefined;
  return side === undefined
    ? undefined
    : [{ partition: interp.partition(`compare:${column}`, 'selection', value), side }];
}

/** The name in `pl.col('name')`. */
function columnNamed(node: Expr): string | undefined {
  if (node.type !== 'call' || node.callee.type !== 'attribute' || node.callee.name !== 'col')
    return undefined;
  const [name, ...others] = node.args;
  if (name?.value.type !== 'constant' || others.length > 0) return undefined;
  return typeof name.value.value === 'string' ? name.value.value : undefined;
}

/** What is compared: a column by its name, anything made of columns by its text. */
function subjectOf(interp: Interpreter, node: Expr): string | undefined {
  const column = columnNamed(node);
  if (column !== undefined) return column;
  let inner = node;
  while (inner.type === 'call' || inner.type === 'attribute') {
    if (columnNamed(inner) !== undefined) return interp.text(node).replaceAll(/\s+/g, '');
    inner = inner.type === 'call' ? inner.callee : inner.object;
  }
  return undefined;
}

/** The one step that leaves out what a condition leaves in: that of its text, where it has several. */
function opposite(interp: Interpreter, condition: Expr): readonly Step[] | undefined {
  const [first] = conditionSteps(interp, condition) ?? [];
  return first === undefined ? undefined : [otherSide(first)];
}

/**
 * The rows for which a condition on column expressions holds, which no frame has been put to yet: `pl.col('year') < 2020`,
 * `pl.col('ts').dt.year() == year`, `pl.col('day').is_between(1, 9)`, `pl.col('kept')`, the opposite, or several with `&`.
 */
function conditionSteps(interp: Interpreter, condition: Expr): readonly Step[] | undefined {
  if (condition.type === 'unary' && condition.operator === '~') return opposite(interp, condition.operand);
  if (condition.type === 'binary' && condition.operator === '&') {
    const [left, right] = [condition.left, condition.right].map((part) => conditionSteps(interp, part));
    return left === undefined || right === undefined
      ? undefined
      : bothMasks([textStep(interp, condition), ...left], right);
  }
  if (condition.type === 'compare') return comparedSteps(interp, condition);
  return condition.type === 'call' ? calledSteps(interp, condition) : undefined;
}

function calledSteps(interp: Interpreter, condition: Call): readonly Step[] | undefined {
  const { callee, args } = condition;
  if (callee.type !== 'attribute') return undefined;
  if (callee.name === 'not_')
    return opposite(interp, callee.object) ?? [otherSide(textStep(interp, callee.object))];
  const [first] = args;
  const of = columnNamed(callee.object);
  if (callee.name === 'is_in' && of !== undefined && first !== undefined)
    return [amongStep(interp, of, interp.evaluate(first.value), condition)];
  if (callee.name === 'is_between') {
    const subject = subjectOf(interp, callee.object);
    return subject === undefined ? undefined : betweenSteps(interp, subject, condition);
  }
  const column = columnNamed(condition);
  return column === undefined ? undefined : [truthStep(interp, column, condition)];
}

function comparedSteps(interp: Interpreter, { operators, operands }: Compare): readonly Step[] | undefined {
  const [left, right, ...others] = operands;
  if (left === undefined || right === undefined || others.length > 0) return undefined;
  const subject = subjectOf(interp, left);
  const step = subject === undefined ? undefined : boundStep(interp, subject, operators[0] ?? '', right);
  return step === undefined ? undefined : [step];
}

function boundStep(interp: Interpreter, subject: string, operator: string, bound: Expr): Step | undefined {
  const value = interp.evaluate(bound);
  const text = interp.text(bound).replaceAll(/\s+/g, '');
  const side = comparisonSide(operator, value.type === 'constant' ? value.value : { text });
  return side === undefined
    ? undefined
    : { partition: interp.partition(`compare:${subject}`, 'selection', bound), side };
}

/**
 * `is_between(low, high)` of polars and `between(low, high)` of pandas: the bounds count, unless the call says otherwise. The
 * first step is that of the whole condition.
 */
export function betweenSteps(interp: Interpreter, subject: string, call: Call): readonly Step[] | undefined {
  const passed = (names: string[], at: number): Expr | undefined =>
    (
      call.args.find(({ name }) => name !== undefined && names.includes(name)) ??
      call.args.filter(({ name }) => name === undefined)[at]
    )?.value;
  const [low, high] = [passed(['lower_bound', 'left'], 0), passed(['upper_bound', 'right'], 1)];
  const closed = passed(['closed', 'inclusive'], 2);
  const sides = closed?.type === 'constant' ? closed.value : closed === undefined ? 'both' : undefined;
  if (low === undefined || high === undefined || typeof sides !== 'string') return undefined;
  const lower = boundStep(interp, subject, /^(both|left)$/.test(sides) ? '>=' : '>', low);
  const upper = boundStep(interp, subject, /^(both|right)$/.test(sides) ? '<=' : '<', high);
  return lower === undefined || upper === undefined
    ? undefined
    : [{ ...textStep(interp, call), isWhole: true }, lower, upper];
}
