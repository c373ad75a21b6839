import type { Leak } from '../../findings/find-leaks.js';
import type { Attribute, Call, Expr, Stmt } from '../../syntax/ast.js';
import { calleeName, expressionsIn, ownExpressions, statementsIn } from '../../syntax/walk.js';
import { isCut } from '../../values/region.js';
import type { RepairContext, TextEdit } from '../context.js';
import { isConstant, keyword, removedArgument } from './arguments.js';
import { columnOfLaterValue, leaveOutLaterValue } from './leave-out-column.js';
import type { Mending } from './mend-experiment.js';
import { toleratesMissing } from './missing-values.js';
import { statementAround } from './one-series.js';

const COLUMNS = 'which columns are features is a decision about the experiment';
const FUTURE = 'which past values replace the future ones is a decision about the experiment';
const BACKWARD = /^(bfill|backfill)$/;
/** Fill gaps, with what comes before them or after. */
const FILLS = /^(bfill|backfill|ffill|pad|interpolate)$/;

/** What computes something else beside a window, and what may take one or not. */
const COMPUTES = /^(binary|conditional|compare|unary|comprehension)$/;
const SPLITS_WINDOW = /^(conditional|compare|comprehension)$/;

/** `series.rolling(7, center=True)` */
type Method = Call & { readonly callee: Attribute };

/**
 * Values of later rows are replaced by those of earlier ones: gaps are filled with what comes before them, and a window around
 * its row ends before it. The first rows may have no value then, which the script has to be able to do with.
 */
export function takePastValues(context: RepairContext, leak: Leak): Mending {
  const { module } = context;
  const statement = statementAround(module, leak.node);
  if (statement?.type !== 'assign') return { declined: FUTURE };
  if (columnOfLaterValue(leak) !== undefined) return leaveOutLaterValue(context, leak);
  const fill = fillForward(context, statement, leak);
  if (fill !== undefined) return fill;
  // Beside other values of its row the window is as well one of the past.
  const window = onlyWindow(statement, SPLITS_WINDOW);
  if (window === undefined || !isConstant(keyword(window, 'center'), true)) return { declined: FUTURE };
  return endBeforeRow(context, statement, leak, FUTURE, window);
}

/**
 * A window over the label that ends with its own row ends before it, and so do its sisters, which take the same values beside
 * it: each of them has the label in it.
 */
export function leaveOutOwnLabel(context: RepairContext, leak: Leak): Mending {
  const { source } = context;
  const window = onlyWindow(leak.statement);
  if (window === undefined) return { declined: COLUMNS };
  const textOf = ({ start, end }: Expr): string => source.slice(start, end);
  const edits: TextEdit[] = [];
  for (const sister of leak.statement.suite.statements) {
    const other = onlyWindow(sister);
    const isSame = other !== undefined && textOf(other.callee.object) === textOf(window.callee.object);
    if (sister !== leak.statement && !isSame) continue;
    const mending = endBeforeRow(context, sister, leak, COLUMNS);
    if ('declined' in mending) return mending;
    edits.push(...mending.edits);
  }
  return { edits };
}

/** `frame["a"].rolling(7, center=True)`: `frame["a"].shift(1).rolling(7)` */
function endBeforeRow(
  context: RepairContext,
  statement: Stmt,
  leak: Leak,
  no: string,
  window = onlyWindow(statement),
): Mending {
  const { module, source } = context;
  const object = window?.callee.object;
  if (window === undefined || object === undefined || !isSeries(object, statement)) return { declined: no };
  const center = keyword(window, 'center');
  if (center !== undefined && !isConstant(center, true, false)) return { declined: no };
  const [, second] = window.args;
  if (second !== undefined && second.name === undefined) return { declined: no };
  // Without it, windows have no value at the ends, and the script can do with that.
  const isFull = keyword(window, 'min_periods') !== undefined;
  if (isFull && !toleratesMissing(module, statement, endOf(leak, statement)))
    return { declined: `${no}: the first row would have no value` };
  const isKnown = center !== undefined && no === FUTURE && hasLaterLabel(context);
  const edits: TextEdit[] = isKnown ? [] : [{ start: object.end, end: object.end, text: '.shift(1)' }];
  if (center !== undefined) edits.push(removedArgument(source, window, center));
  return { edits };
}

/** Whether the label is the value of a later row, so that the value of the row itself is known: `frame["load"].shift(-1)` that is no leak. */
function hasLaterLabel({ module, leaks, elsewhere }: RepairContext): boolean {
  const leaking = new Set([...leaks, ...elsewhere].flatMap(({ nodes }) => nodes.map(({ start }) => start)));
  return module.body.statements
    .flatMap((outer) => [...statementsIn(outer)])
    .flatMap((statement) => ownExpressions(statement).flatMap((own) => [...expressionsIn(own)]))
    .some((part) => {
      const [periods] = part.type === 'call' && calleeName(part) === 'shift' ? part.args : [];
      const value = periods?.value.type === 'constant' ? periods.value.value : undefined;
      return typeof value === 'number' && value < 0 && !leaking.has(part.start);
    });
}

/** `frame.bfill()`, `frame.interpolate().bfill()`, `frame.fillna(method="bfill")`: `frame.ffill()` */
function fillForward({ module }: RepairContext, statement: Stmt, leak: Leak): Mending | undefined {
  if (statement.type !== 'assign' || statement.value.type !== 'call') return undefined;
  const { value } = statement;
  let inner: Expr = value;
  while (isMethod(inner) && isFill(inner)) inner = inner.callee.object;
  if (inner === value || value.start !== leak.node.start) return undefined;
  if (!toleratesMissing(module, statement, endOf(leak, statement)))
    return { declined: `${FUTURE}: gaps at the beginning would stay` };
  return { edits: [{ start: inner.end, end: value.end, text: '.ffill()' }] };
}

function isMethod(expression: Expr): expression is Method {
  return expression.type === 'call' && expression.callee.type === 'attribute';
}

function isFill(call: Method): boolean {
  const { name } = call.callee;
  if (name === 'fillna')
    return call.args.length === 1 && isConstant(keyword(call, 'method'), 'bfill', 'backfill');
  return FILLS.test(name) && (BACKWARD.test(name) || !call.args.some((one) => one.name === 'axis'));
}

/**
 * Where rows without a value have to be gone: at the division, or at the score if the rows were divided before. A table that keeps its
 * name is no division: what its line drops besides is gone.
 */
function endOf({ split, scoreNode }: Leak, made: Stmt): number {
  const { start: divided, ...statement } = split?.statement ?? { start: 0, type: 'other' as const, end: 0 };
  if (divided <= made.start) return scoreNode.start;
  const isOneTable =
    statement.type === 'assign' && statement.targets.length === 1 && statement.targets[0]?.type === 'name';
  return isOneTable && split?.partition.form === 'selection' && !isCut(split.partition)
    ? statement.end
    : divided;
}

/** The window that makes a column, if nothing else is in it. */
function onlyWindow(statement: Stmt, others = COMPUTES): Method | undefined {
  if (statement.type !== 'assign') return undefined;
  const parts = [...expressionsIn(statement.value)];
  if (parts.some(({ type }) => others.test(type))) return undefined;
  const windows = parts.filter((part): part is Method => isMethod(part) && part.callee.name === 'rolling');
  // What is shifted already ends before its row, or somewhere that is not known.
  const isShifted = parts.some((part) => isMethod(part) && part.callee.name === 'shift');
  return windows.length === 1 && !isShifted ? windows[0] : undefined;
}

/** `frame["a"]`, or the values of one group in a lambda: what can be shifted by one row. */
function isSeries(object: Expr, statement: Stmt): boolean {
  if (object.type === 'subscript') {
    const [index] = object.indices;
    return object.object.type === 'name' && object.indices.length === 1 && index?.type === 'constant';
  }
  if (object.type !== 'name') return false;
  return ownExpressions(statement)
    .flatMap((own) => [...expressionsIn(own)])
    .some(
      (part) =>
        isMethod(part) &&
        part.callee.name === 'transform' &&
        part.args.some(
          ({ value }) => value.type === 'lambda' && value.params.some(({ name }) => name === object.id),
        ),
    );
}
