import type { Comprehension, Expr } from '../syntax/ast.js';
import type { TableState } from '../values/value.js';
import { countWork } from '../values/work.js';
import type { Interpreter } from './interpreter.js';
import { namesOf } from './rows-and-columns.js';

/** `[c for c in frame.columns if c not in ("id", "label")]`: names of columns that a list of them leaves out. */
export function columnsLeftOut(
  interp: Interpreter,
  { element, clauses, form }: Comprehension,
): readonly string[] | undefined {
  const [clause, ...others] = clauses;
  if (clause === undefined || others.length > 0 || form === 'dict' || form === 'generator') return undefined;
  const { target, conditions } = clause;
  if (target.type !== 'name' || element.type !== 'name' || element.id !== target.id) return undefined;
  const frame = frameOfColumns(interp, clause.iterable);
  if (frame === undefined) return undefined;
  const known = [...frame.columns.keys()];
  countWork(known.length * conditions.length);
  return conditions.flatMap(conjuncts).flatMap((condition) => {
    const passes = textTest(interp, condition, target.id);
    return passes === undefined
      ? leftOut(interp, condition, target.id)
      : known.filter((column) => !passes(column));
  });
}

/** The frame of `frame.columns`, `list(frame.columns)`, `frame.columns.tolist()`, `frame` or `list(frame)`. */
function frameOfColumns(interp: Interpreter, iterable: Expr): TableState | undefined {
  let current = iterable;
  if (current.type === 'call' && current.callee.type === 'name' && current.callee.id === 'list')
    current = current.args[0]?.value ?? current;
  if (
    current.type === 'call' &&
    current.callee.type === 'attribute' &&
    /^to_?list$/.test(current.callee.name)
  )
    current = current.callee.object;
  if (current.type === 'attribute' && current.name === 'columns') current = current.object;
  const value = current.type === 'name' ? interp.scope.lookup(current.id)?.value : undefined;
  const state = value?.type === 'table' ? value.cell.value : undefined;
  return state?.shape === 'frame' ? state : undefined;
}

/** The test of a name that is a condition such as `c.startswith("s")`, `"_mean" in c`, or the opposite. */
function textTest(
  interp: Interpreter,
  condition: Expr,
  name: string,
): ((column: string) => boolean) | undefined {
  if (condition.type === 'unary' && condition.operator === 'not') {
    const test = textTest(interp, condition.operand, name);
    return test && ((column) => !test(column));
  }
  const isName = (expression: Expr | undefined) => expression?.type === 'name' && expression.id === name;
  if (condition.type === 'call' && condition.callee.type === 'attribute' && condition.args.length === 1) {
    const { object, name: method } = condition.callee;
    const isStart = method === 'startswith';
    if (!isName(object) || !(isStart || method === 'endswith')) return undefined;
    const [argument] = condition.args;
    const texts = argument === undefined ? undefined : namesOf(interp.evaluate(argument.value));
    return (
      texts && ((column) => texts.some((text) => (isStart ? column.startsWith(text) : column.endsWith(text))))
    );
  }
  if (condition.type !== 'compare' || condition.operands.length !== 2) return undefined;
  const [part, whole] = condition.operands;
  const isIn = /^(not\s+)?in$/.test(condition.operators[0] ?? '');
  const text = isIn && isName(whole) && part !== undefined ? interp.evaluate(part) : undefined;
  if (text?.type !== 'constant' || typeof text.value !== 'string') return undefined;
  const wanted = text.value;
  const isNegative = condition.operators[0] !== 'in';
  return (column) => column.includes(wanted) !== isNegative;
}

function conjuncts(condition: Expr): readonly Expr[] {
  return condition.type === 'binary' && condition.operator === 'and'
    ? [...conjuncts(condition.left), ...conjuncts(condition.right)]
    : [condition];
}

/** The names that a condition leaves out: of `c != "id"`, `c not in many`. */
function leftOut(interp: Interpreter, condition: Expr, name: string): readonly string[] {
  if (condition.type !== 'compare' || condition.operands.length !== 2) return [];
  const [one, other] = condition.operands;
  const [operator = ''] = condition.operators;
  if (one === undefined || other === undefined) return [];
  if (operator === '!=') {
    const compared = one.type === 'name' && one.id === name ? other : one;
    const value = interp.evaluate(compared);
    return value.type === 'constant' ? (namesOf(value) ?? []) : [];
  }
  const isOut = /^not\s+in$/.test(operator) && one.type === 'name' && one.id === name;
  const many = isOut ? interp.evaluate(other) : undefined;
  return many?.type === 'sequence' ? (namesOf(many) ?? []) : [];
}
