import {
  HARMLESS_METHODS,
  INPLACE_METHODS,
  MASK_METHODS,
  RANKING_METHODS,
  STATISTIC_METHODS,
  WINDOW_METHODS,
} from '../library-models/methods.js';
import type { Call } from '../syntax/ast.js';
import { comparisonSide } from '../values/comparison.js';
import { type Facts, joinFacts, NO_FACTS, union, withFits } from '../values/facts.js';
import { emptyTable, newMapping, newTable } from '../values/join.js';
import {
  factsOf,
  opaque,
  type Step,
  type Table,
  type TableState,
  UNKNOWN,
  type Value,
} from '../values/value.js';
import { type Arguments, argument, argumentsOf, flag } from './arguments.js';
import { columnFrom, dropColumns, setColumn } from './assign.js';
import { choose } from './builtins.js';
import { fillKind } from './column-expressions.js';
import type { Interpreter } from './interpreter.js';
import { learnFromLoss } from './learning.js';
import { meetLabels, pendingOf, productMethod, textStep } from './operators.js';
import { withRowEvent } from './row-events.js';
import { cut, drop, exploded, queried, sampled, shifted, sliced } from './row-methods.js';
import { columnOf, columnsOf, namesOf, noteMissing, pickRows } from './rows-and-columns.js';
import { isRowWise } from './statistic-calls.js';
import { concatenated } from './subscripts.js';
import { fileOf, sideBySide } from './table-calls.js';

/** Calls a method of a frame, a column, an array or a tensor. */
export function tableMethod(
  interp: Interpreter,
  table: Table,
  name: string,
  args: Arguments,
  call: Call,
): Value {
  const result = dispatch(interp, table, name, args, call);
  if (name.startsWith('to_') || name.startsWith('write_')) {
    const file = fileOf(interp, args);
    if (file !== undefined) interp.filesRead.set(file, call.end);
  }
  if (INPLACE_METHODS.has(name) && flag(args, 'inplace') === true && result.type === 'table') {
    replaceInPlace(interp, table, result.cell.value, call);
    return UNKNOWN;
  }
  return result;
}

/** `df['Age'].fillna(v, inplace=True)` changes the column of the frame it was taken from. */
function replaceInPlace(interp: Interpreter, table: Table, state: TableState, call: Call): void {
  interp.store.write(table.cell, state);
  const { callee } = call;
  if (callee.type !== 'attribute' || callee.object.type !== 'subscript') return;
  const { object, indices } = callee.object;
  const owner = object.type === 'name' ? interp.scope.lookup(object.id)?.value : undefined;
  const [index] = indices;
  if (owner?.type !== 'table' || index === undefined) return;
  const name = index.type === 'constant' ? index.value : undefined;
  if (typeof name === 'string') setColumn(interp, owner, name, newTable(state), false);
  else {
    const whole = owner.cell.value;
    interp.store.write(owner.cell, { ...whole, fits: union(whole.fits, state.fits) });
  }
}

function dispatch(interp: Interpreter, table: Table, name: string, args: Arguments, call: Call): Value {
  const state = table.cell.value;
  const facts = factsOf(table);
  if (name === 'backward') {
    learnFromLoss(interp, table, call);
    return UNKNOWN;
  }
  if (
    facts.scores.length > 0 &&
    facts.predictions.length === 0 &&
    /^(max|min|arg(max|min)|idx(max|min)|n(largest|smallest)|sort_values)$/.test(name)
  ) {
    return choose(interp, table, call) ?? table;
  }
  if (STATISTIC_METHODS.has(name)) return statistic(interp, table, name, args, call);
  if ((name === 'any' || name === 'all') && isRowWise(args, 0)) {
    return newTable({
      ...emptyTable(facts, 'column'),
      fits: facts.fits,
      mask: [textStep(interp, call.callee)],
    });
  }
  if (HARMLESS_METHODS.has(name) && !MASK_METHODS.has(name))
    return opaque({ ...facts, fits: state.fits, rows: [] });
  if (WINDOW_METHODS.has(name)) {
    return {
      type: 'view',
      form: 'window',
      table,
      future: flag(args, 'center') === true || state.reversed === true,
      node: call,
    };
  }
  if (MASK_METHODS.has(name)) return maskMethod(interp, table, name, args, call);
  if (RANKING_METHODS.has(name) && !isRowWise(args, 0))
    return withRowEvent(interp, state, 'statistics', call);
  switch (name) {
    case 'groupby':
    case 'group_by':
      noteMissing(interp, state, namesOf(argument(args, 0, 'by')) ?? []);
      return { type: 'view', form: 'groups', table, future: false, node: call };
    case 'sample':
      return sampled(interp, state, args, call);
    case 'head':
    case 'tail':
    case 'limit':
      return cut(interp, state, name, args, call);
    case 'drop_duplicates':
    case 'unique':
      interp.counted.forget(state.rows);
      return combined(interp, table, args, call);
    case 'explode':
      return exploded(interp, state, call);
    case 'dot':
    case 'matmul':
      return productMethod(interp, table, args, call) ?? combined(interp, table, args, call);
    case 'slice':
      return sliced(interp, state, call);
    case 'query':
    case 'filter':
      return queried(interp, state, args, call);
    case 'drop':
      return drop(interp, state, args, call);
    case 'pop': {
      const names = namesOf(args.positional[0]);
      const [only] = names ?? [];
      if (only === undefined) return newTable({ ...state, shape: 'column' });
      const column = newTable(columnOf(state, only));
      dropColumns(interp, table, [only]);
      return column;
    }
    case 'shift':
      return shifted(interp, state, args, call);
    case 'diff':
    case 'pct_change':
      return newTable({ ...state, from: [] });
    case 'cumsum':
    case 'ewm':
      return newTable({ ...state, from: [] });
    case 'bfill':
    case 'backfill':
    case 'backward_fill':
      return withRowEvent(interp, { ...state, from: [] }, 'future-values', call);
    case 'fill_null': {
      const kind = fillKind(args);
      return kind === undefined
        ? combined(interp, table, args, call)
        : withRowEvent(interp, state, kind, call);
    }
    case 'fillna':
    case 'interpolate': {
      const method = args.keywords.get('method');
      if (method?.type === 'constant' && /^(bfill|backfill)$/.test(String(method.value))) {
        return withRowEvent(interp, state, 'future-values', call);
      }
      return combined(interp, table, args, call);
    }
    case 'merge':
    case 'join':
      return merged(interp, state, args, call);
    case 'append':
    case 'vstack':
      return concatenated([facts, ...args.positional.map((value) => interp.dataOf(value))], state.shape);
    case 'hstack':
      return sideBySide(interp, argumentsOf([table, ...args.positional]));
    case 'assign':
    case 'with_columns':
    case 'with_column':
    case 'select':
      return withColumns(interp, table, name, args, call);
    case 'insert': {
      const [column] = namesOf(args.positional[1]) ?? [];
      if (column !== undefined) setColumn(interp, table, column, args.positional[2] ?? UNKNOWN, false);
      return UNKNOWN;
    }
    case 'apply':
    case 'transform':
    case 'map':
    case 'pipe':
    case 'applymap':
    case 'map_elements': {
      const [first] = args.positional;
      if (first?.type === 'function') return applied(interp, table, first, name, args, call);
      if (name === 'transform' && first?.type === 'constant')
        return withRowEvent(interp, state, 'statistics', call);
      return combined(interp, table, args, call);
    }
    case 'iterrows':
    case 'itertuples':
      return newTable({ ...state, shape: 'row', single: true });
    case 'update': {
      const { fits } = args.positional.map((value) => factsOf(value)).reduce(joinFacts, NO_FACTS);
      interp.store.write(table.cell, { ...state, fits: union(state.fits, fits) });
      return UNKNOWN;
    }
    case 'item':
      return facts.scores.length > 0 || facts.predictions.length > 0 ? table : opaque({ ...facts, rows: [] });
    case 'squeeze':
    case 'copy':
    case 'astype':
      return name === 'copy' || name === 'astype' ? newTable({ ...state }) : table;
    case 'to_dict':
      return newMapping({ entries: new Map(), rest: opaque(facts) });
    case 'rename':
      return newTable({ ...state, closed: false, partial: state.partial || state.closed });
    case 'to_numpy':
    case 'numpy':
    case 'toarray':
    case 'to_pandas':
    case 'reset_index':
    case 'sort_values':
    case 'sort':
    case 'dropna':
    case 'collect':
    case 'lazy':
      return newTable(
        name === 'to_numpy' || name === 'toarray'
          ? { ...state, shape: state.shape === 'frame' ? 'array' : state.shape }
          : state,
      );
    case 'select_dtypes':
      return newTable({ ...state, closed: false, partial: state.partial || state.closed });
    case 'train_test_split':
      return newTable({ ...state, certain: false });
    default:
      return combined(interp, table, args, call);
  }
}

/** The same rows, made with whatever the arguments carry. */
function combined(interp: Interpreter, table: Table, args: Arguments, call: Call): Value {
  const state = table.cell.value;
  const own = factsOf(table);
  let facts: Facts = NO_FACTS;
  for (const value of args.all) facts = joinFacts(facts, factsOf(value));
  const scores = meetLabels(interp, own, facts, call);
  return newTable({
    ...state,
    fits: union(state.fits, facts.fits),
    predictions: union(state.predictions, facts.predictions),
    scores: union(union(state.scores, facts.scores), scores),
  });
}

function statistic(interp: Interpreter, table: Table, name: string, args: Arguments, call: Call): Value {
  const state = table.cell.value;
  const facts = factsOf(table);
  const kind = STATISTIC_METHODS.get(name) ?? 'statistics';
  if (facts.scores.length > 0) return opaque(facts);
  if (facts.predictions.length > 0) return opaque(facts);
  if (state.shape === 'row') return newTable(emptyTable(facts, 'row'));
  if (isRowWise(args, /^(quantile|agg|aggregate)$/.test(name) ? 1 : 0))
    return newTable({ ...state, shape: 'column', columns: new Map(), fits: facts.fits });
  if (state.mask !== undefined && !['mean', 'value_counts'].includes(name))
    return opaque({ ...facts, rows: [] });
  // Shares of missing values say nothing about the values.
  if (state.rows.length === 0 || state.missing === true) return opaque({ ...facts, rows: [] });
  const rowsText = call.callee.type === 'attribute' ? interp.label(call.callee.object) : '';
  const event = interp.fit(kind, `\`${interp.label(call)}\``, state, rowsText, call);
  return opaque({ ...NO_FACTS, fits: union(facts.fits, [event]) });
}

function maskMethod(interp: Interpreter, table: Table, name: string, args: Arguments, call: Call): Value {
  const state = table.cell.value;
  const operator = { eq: '==', ne: '!=', lt: '<', gt: '>', le: '<=', ge: '>=' }[name];
  const [first] = args.positional;
  const [own, other] = [factsOf(table), first === undefined ? NO_FACTS : factsOf(first)];
  const scores = operator === undefined ? [] : meetLabels(interp, own, other, call);
  let mask: Step = textStep(interp, call);
  if (operator !== undefined && call.callee.type === 'attribute') {
    const subject = state.from.length === 1 ? state.from[0] : interp.text(call.callee.object);
    const side = first?.type === 'constant' ? comparisonSide(operator, first.value) : undefined;
    if (side !== undefined) {
      mask = { partition: interp.partition(`compare:${subject}`, 'selection', call), side };
    }
  }
  const isFrame = state.shape === 'frame';
  return newTable({
    ...state,
    fits: union(own.fits, other.fits),
    scores: union(state.scores, scores),
    ...(isFrame ? {} : { mask: [mask] }),
    ...(/^(is|not)(na|null)$|null$/.test(name) ? { missing: true } : {}),
  });
}

/** Rows of the left frame; the right one is looked up, and what it was made with comes along. */
function merged(interp: Interpreter, state: TableState, args: Arguments, call: Call): Value {
  const [right] =
    args.positional.length > 0 ? args.positional : [args.keywords.get('right') ?? args.keywords.get('other')];
  if (right === undefined) return newTable(state);
  const how = args.keywords.get('how');
  // Rows that the other table has, or lacks.
  if (how?.type === 'constant' && (how.value === 'anti' || how.value === 'semi'))
    return newTable(pickRows(interp, state, [textStep(interp, call)]));
  const facts = interp.dataOf(right);
  return newTable({
    ...state,
    closed: false,
    partial: state.partial || state.closed,
    fits: union(state.fits, facts.fits),
    predictions: union(state.predictions, facts.predictions),
  });
}

/** New columns by name or by expression. */
function withColumns(interp: Interpreter, table: Table, name: string, args: Arguments, call: Call): Value {
  const state = table.cell.value;
  const result = newTable(state);
  const names = args.positional.length > 0 ? args.positional.map((value) => namesOf(value)) : [];
  if (name === 'select' && names.length > 0 && names.every((part) => part !== undefined)) {
    return newTable(
      columnsOf(
        state,
        names.flatMap((part) => part ?? []),
      ),
    );
  }
  for (const [column, value] of args.keywords) {
    const content =
      value.type === 'function' ? interp.callFunction(value, argumentsOf([table]), call) : value;
    setColumn(interp, result, column, applyPending(interp, state, content, call), false);
  }
  for (const value of args.positional) {
    const content = applyPending(interp, state, value, call);
    if (value.type === 'opaque' && value.named !== undefined) {
      setColumn(interp, result, value.named, content, false);
      continue;
    }
    const column = columnFrom(interp, content);
    const whole = result.cell.value;
    interp.store.write(result.cell, { ...whole, fits: union(whole.fits, column.fits) });
  }
  return result;
}

/** A column expression is computed over the rows of the frame it is applied to. */
function applyPending(interp: Interpreter, state: TableState, value: Value, call: Call): Value {
  const pending =
    value.type === 'sequence'
      ? [
          ...value.cell.value.items,
          ...(value.cell.value.rest === undefined ? [] : [value.cell.value.rest]),
        ].flatMap((item) => pendingOf(item))
      : pendingOf(value);
  if (pending.length === 0) return value;
  const events = pending.map((statistic) =>
    interp.fit(
      statistic.kind,
      statistic.subject,
      state,
      call.callee.type === 'attribute' ? interp.label(call.callee.object) : '',
      statistic.node,
    ),
  );
  const facts = factsOf(value);
  return opaque({ ...facts, fits: union(facts.fits, events) });
}

/** A function applied to rows, columns or elements. */
function applied(
  interp: Interpreter,
  table: Table,
  fn: Value & { type: 'function' },
  name: string,
  args: Arguments,
  call: Call,
): Value {
  const state = table.cell.value;
  // Elements of a column and rows of a frame stand alone; whole columns do not.
  const alone =
    (name !== 'transform' && name !== 'pipe' && state.shape === 'column') ||
    isRowWise(args, 1) ||
    name === 'applymap' ||
    name === 'map_elements';
  const element: Value = alone ? UNKNOWN : newTable(state);
  if (alone) interp.rowTests.push([]);
  const result = interp.callFunction(fn, argumentsOf([element, ...args.positional.slice(1)]), call);
  const tests = alone ? (interp.rowTests.pop() ?? []) : [];
  const facts = withFits(factsOf(result), tests);
  if (!alone && result.type === 'table') return result;
  return newTable({
    ...emptyTable(state, state.shape),
    from: state.from,
    fits: union(factsOf(table).fits, facts.fits),
    predictions: union(state.predictions, facts.predictions),
  });
}
