import type { Comprehension, Expr } from '../syntax/ast.js';
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
  if (!areColumnsOf(interp, clause.iterable)) return undefined;
  return conditions.flatMap(conjuncts).flatMap((condition) => leftOut(interp, condition, target.id));
}

/** Whether this is `frame.columns`, `list(frame.columns)`, `frame.columns.tolist()`, `frame` or `list(frame)`. */
function areColumnsOf(interp: Interpreter, iterable: Expr): boolean {
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
  return value?.type === 'table' && value.cell.value.shape === 'frame';
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
