import type { Comprehension, Expr, FunctionDefinition, Lambda } from '../syntax/ast.js';
import { expressionsIn } from '../syntax/walk.js';
import { NO_FACTS } from '../values/facts.js';
import { emptyTable, newTable } from '../values/join.js';
import { type Positions, type Step, type TableState, UNKNOWN, type Value } from '../values/value.js';
import { afterSteps } from './bounds.js';
import type { Interpreter } from './interpreter.js';
import { leftOut } from './row-labels.js';
import { otherSide, textStep } from './steps.js';

/** A mask of the rows whose positions or labels are among others. */
export function membership(
  interp: Interpreter,
  all: Positions | undefined,
  among: Value | undefined,
  node: Expr,
): Value {
  return maskOf(otherSide(leftOut(interp, all?.of ?? [], among, node)));
}

export function maskOf(step: Step, facts = NO_FACTS): Value {
  return newTable({ ...emptyTable(facts, 'column'), mask: [step] });
}

/**
 * The step to the rows whose value in a column is among those of a part of the rows: all rows of that part, and any others with
 * one of its values. What it leaves out has no row of the part.
 */
export function amongStep(
  interp: Interpreter,
  column: string | undefined,
  among: Value | undefined,
  node: Expr,
): Step {
  const distinct = distinctSteps(column, among);
  const [only] = distinct ?? [];
  if (only !== undefined && distinct?.length === 1) return only;
  const values = valuesOf(among);
  const [part] = values?.rows ?? [];
  if (values === undefined || part === undefined || values.rows.length > 1 || !values.certain)
    return valuesStep(interp, column, node);
  const isSameColumn = column !== undefined && values.from.length === 1 && values.from[0] === column;
  if (!isSameColumn || values.blank === true || part.parent === undefined)
    return valuesStep(interp, column, node);
  const partition = interp.partition(`among:${interp.idOf(part)}:${column}`, 'selection', node);
  partition.dividesBy = column;
  partition.holds = part;
  return { partition, side: 'yes' };
}

/** Rows with some values of a column, which are known by nothing but the text: rows of equal values are on one side. */
function valuesStep(interp: Interpreter, column: string | undefined, node: Expr): Step {
  const step = textStep(interp, node);
  if (column !== undefined) step.partition.dividesBy = column;
  return step;
}

/**
 * The steps to the rows whose value in a column is among distinct values that were divided: the rows are divided as these
 * are, `train_test_split(table['person'].unique())`.
 */
export function distinctSteps(
  column: string | undefined,
  among: Value | undefined,
): readonly Step[] | undefined {
  const isOfColumn = among?.type === 'positions' && among.values !== undefined && among.values === column;
  return isOfColumn && among.steps.length > 0 ? among.steps : undefined;
}

/** Whether these are the distinct values of a column. */
export function isDistinct(value: Value | undefined): value is Positions {
  return value?.type === 'positions' && value.values !== undefined;
}

/** The distinct values of a column, from which rows are picked later; `undefined` where more is to be known of them. */
export function distinctValues(value: Value | undefined): Positions | undefined {
  if (value?.type !== 'table') return undefined;
  const { shape, from, rows, fits, predictions, scores, mask } = value.cell.value;
  const [column] = from;
  const isPlain = fits.length + predictions.length + scores.length === 0 && mask === undefined;
  return shape === 'column' && column !== undefined && from.length === 1 && rows.length === 1 && isPlain
    ? { type: 'positions', of: rows, steps: [], values: column }
    : undefined;
}

/**
 * What the values of an array are known by, as the name of a column is for those of a column: the rows that it has one value for.
 * Nothing for a table of several columns, or for values that something was computed with.
 */
function nameOfArray(interp: Interpreter, value: Value | undefined): string | undefined {
  if (value?.type === 'opaque' && value.element !== true && value.source !== undefined)
    return `array:${interp.idOf(value.source)}`;
  if (value?.type !== 'table') return undefined;
  const { shape, from, rows, fits, predictions, mask } = value.cell.value;
  const [region, ...others] = rows;
  const isOther = shape === 'frame' || shape === 'row' || from.length > 0 || mask !== undefined;
  if (isOther || region === undefined || others.length + fits.length + predictions.length > 0)
    return undefined;
  return `array:${interp.idOf(region)}`;
}

/** The distinct values of an array without a name, as `np.unique(patients)`. */
export function distinctOfArray(interp: Interpreter, value: Value | undefined): Positions | undefined {
  const values = nameOfArray(interp, value);
  return values === undefined
    ? undefined
    : { type: 'positions', of: interp.dataOf(value ?? UNKNOWN).rows, steps: [], values };
}

/** The steps to the rows of an array whose values are among distinct ones of it that were divided. */
export function stepsOfArray(
  interp: Interpreter,
  value: Value | undefined,
  among: Value | undefined,
): readonly Step[] | undefined {
  return distinctSteps(nameOfArray(interp, value), among);
}

/** One column, or the list, set or array of its values. */
function valuesOf(value: Value | undefined): TableState | undefined {
  const listed =
    value?.type === 'sequence' && value.cell.value.items.length === 0 ? value.cell.value.rest : value;
  return listed?.type === 'table' && listed.cell.value.shape !== 'frame' ? listed.cell.value : undefined;
}

/** Whether a comparison is `one in many` or `one not in many`, with a name as `one`. */
function testOf(
  condition: Expr | undefined,
  name: string,
): { readonly many: Expr; readonly isOut: boolean } | undefined {
  if (condition?.type !== 'compare' || condition.operands.length !== 2) return undefined;
  const [one, many] = condition.operands;
  const [operator = ''] = condition.operators;
  if (one?.type !== 'name' || one.id !== name || many === undefined || !/\bin$/.test(operator))
    return undefined;
  return { many, isOut: operator.includes('not') };
}

/** `[i for i in range(len(rows)) if i not in held]`: positions or labels that are, or are not, among others. */
export function pickedPositions(
  interp: Interpreter,
  { element, clauses, form }: Comprehension,
  iterable: Value | undefined,
): Value | undefined {
  const [clause, ...others] = clauses;
  if (iterable?.type !== 'positions' || clause === undefined || others.length > 0 || form === 'dict')
    return undefined;
  const { target, conditions } = clause;
  if (
    target.type !== 'name' ||
    element.type !== 'name' ||
    element.id !== target.id ||
    conditions.length !== 1
  )
    return undefined;
  const test = testOf(conditions[0], target.id);
  if (test === undefined) return undefined;
  const among = interp.evaluate(test.many);
  if (among.type !== 'positions') return undefined;
  const out = leftOut(interp, iterable.of ?? [], among, test.many);
  return afterSteps(iterable, [test.isOut ? out : otherSide(out)]);
}

/** `[i not in held for i in rows.index]`: a mask of the rows whose positions or labels are among others. */
export function maskOfPositions(
  interp: Interpreter,
  { element, clauses, form }: Comprehension,
  iterable: Value | undefined,
): Value | undefined {
  const [clause, ...others] = clauses;
  if (iterable?.type !== 'positions' || iterable.steps.length > 0 || clause === undefined) return undefined;
  const { target, conditions } = clause;
  if (others.length > 0 || form === 'dict' || target.type !== 'name' || conditions.length > 0)
    return undefined;
  const test = testOf(element, target.id);
  if (test === undefined) return undefined;
  const among = interp.evaluate(test.many);
  if (among.type !== 'positions') return undefined;
  const out = leftOut(interp, iterable.of ?? [], among, test.many);
  return maskOf(test.isOut ? out : otherSide(out));
}

/** `column.map(lambda one: one in others)`: the step to the rows whose value is among others. */
export function membershipTest(
  interp: Interpreter,
  state: TableState,
  lambda: FunctionDefinition | Lambda,
  node: Expr,
): Step | undefined {
  if (lambda.type !== 'lambda' || state.shape !== 'column' || state.from.length !== 1) return undefined;
  const [parameter, ...others] = lambda.params;
  const test = parameter === undefined || others.length > 0 ? undefined : testOf(lambda.body, parameter.name);
  if (test === undefined) return undefined;
  const step = amongStep(interp, state.from[0], interp.evaluate(test.many), node);
  return test.isOut ? otherSide(step) : step;
}

/** The rows of a table among whose values others are looked for. */
export function amongRows(interp: Interpreter, many: Value | undefined): Pick<TableState, 'among'> {
  if (many?.type === 'positions')
    return many.steps.length === 0 && many.of !== undefined ? { among: many.of } : {};
  const rows = many?.type === 'table' || many?.type === 'sequence' ? interp.dataOf(many).rows : [];
  return rows.length === 0 ? {} : { among: rows };
}

/** What `lambda one: int(one not in others)` looks its argument up in. */
export function lookedUpIn(interp: Interpreter, lambda: FunctionDefinition | Lambda): Value | undefined {
  if (lambda.type !== 'lambda') return undefined;
  const [parameter] = lambda.params;
  for (const part of expressionsIn(lambda.body)) {
    const test = parameter === undefined ? undefined : testOf(part, parameter.name);
    if (test !== undefined) return interp.evaluate(test.many);
  }
  return undefined;
}

/** Methods of positions and of the labels of rows: `index.isin(train.index)`, `index.difference(held)`. */
export function positionsMethod(
  interp: Interpreter,
  receiver: Positions,
  name: string,
  other: Value | undefined,
  node: Expr,
): Value {
  switch (name) {
    case 'isin':
      return membership(interp, receiver, other, node);
    case 'difference':
    case 'symmetric_difference':
    case 'drop':
    case 'delete':
      return afterSteps(receiver, [leftOut(interp, receiver.of ?? [], other, node)]);
    case 'intersection': {
      const shared = afterSteps(receiver, [textStep(interp, node)]);
      const isOfAll = receiver.steps.length === 0 && shared.type === 'positions';
      return isOfAll && other?.type === 'positions' && other.steps.length === 0 && other.of !== undefined
        ? { ...shared, alsoOf: other.of }
        : shared;
    }
    case 'sample':
      return afterSteps(receiver, [textStep(interp, node)]);
    default:
      return receiver;
  }
}
