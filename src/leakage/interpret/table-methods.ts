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
import { emptyTable, list, newMapping, newSequence, newTable } from '../values/join.js';
import {
  type FunctionOf,
  factsOf,
  opaque,
  type Step,
  type Table,
  type TableState,
  UNKNOWN,
  type Value,
} from '../values/value.js';
import { countWork } from '../values/work.js';
import { type Arguments, argument, argumentsOf, flag, type TableCall } from './arguments.js';
import { dropColumns, setColumn } from './assign.js';
import { choose } from './builtins.js';
import { fillKind } from './column-expressions.js';
import { withoutLookedUpCopies } from './copies-in-frame.js';
import { rowsOfEachValue } from './each-value.js';
import { asOfEarlier } from './earlier-statistics.js';
import type { Interpreter } from './interpreter.js';
import { learnFromLoss } from './learning.js';
import {
  amongRows,
  amongStep,
  distinctSteps,
  distinctValues,
  lookedUpIn,
  membershipTest,
} from './membership.js';
import { valuesOfEarlierTimes } from './moved-labels.js';
import { withColumns } from './new-columns.js';
import { meetLabels, noteTexts, productMethod } from './operators.js';
import { renamed, withAxis } from './renaming.js';
import { betweenSteps } from './row-conditions.js';
import { withRowEvent } from './row-events.js';
import { pickPositions } from './row-labels.js';
import { cut, drop, exploded, queried, sampled, shifted, sliced, truncated } from './row-methods.js';
import { takenFrom } from './rows-ahead.js';
import { columnOf, namesOf, noteMissing, pickRows } from './rows-and-columns.js';
import { isRowWise, learnedNumber } from './statistic-calls.js';
import { otherSide, textStep } from './steps.js';
import { fileOf } from './stored-files.js';
import { concatenated } from './subscripts.js';
import { sideBySide } from './table-calls.js';

/** Calls a method of a frame, a column, an array or a tensor. */
export function tableMethod(
  interp: Interpreter,
  table: Table,
  name: string,
  args: Arguments,
  call: Call,
): Value {
  if (DISTINCT.test(name) && call.callee.type === 'attribute')
    interp.counted.addDistinct(interp, table.cell.value, call.callee.object);
  if (name === 'value_counts') interp.counted.addCounts(interp, table.cell.value);
  const result = dispatch({ interp, table, state: table.cell.value, name, args, call });
  if (name.startsWith('to_') || name.startsWith('write_')) {
    const file = fileOf(interp, args);
    if (file !== undefined) interp.stored.write(file, table);
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

type Handler = (method: TableCall) => Value;

function dispatch(method: TableCall): Value {
  const { interp, table, name, call } = method;
  if (PICKS_ONE.test(name)) {
    const { scores, predictions } = factsOf(table);
    if (scores.length > 0 && predictions.length === 0) return choose(interp, table, call) ?? table;
  }
  return (HANDLERS.get(name) ?? combined)(method);
}

/** Methods that say which values a column has. */
const DISTINCT = /^(nunique|n_unique|unique)$/;

/** Methods that choose the best of some scores. */
const PICKS_ONE = /^(max|min|arg(max|min|sort)|idx(max|min)|n(largest|smallest)|sort_values)$/;

/** The same table, element by element; which rows of others they were computed from is not known any more. */
const elementwise: Handler = ({ state }) => newTable({ ...state, from: [] });
const sameRows: Handler = ({ state }) => newTable(state);
/** `select_dtypes('number')` leaves the columns of numbers, which a label mostly is; of other types nobody knows which are left. */
const columnsByType: Handler = ({ interp, state, call }) => {
  const keepsNumbers = call.args.some(({ name = 'include', value }) =>
    (name === 'include' ? /number|int|float/ : /object|category|datetime|str/).test(interp.text(value)),
  );
  const partial = keepsNumbers ? state.partial || state.closed : true;
  return newTable({ ...state, closed: false, partial, ...(keepsNumbers ? { ofNumbers: true } : {}) });
};
const asArray: Handler = ({ state }) =>
  newTable({ ...state, shape: state.shape === 'frame' ? 'array' : state.shape });
const rowByRow: Handler = ({ state }) => newTable({ ...state, shape: 'row', single: true });
const futureValues: Handler = ({ interp, state, call }) =>
  withRowEvent(interp, { ...state, from: [] }, 'future-values', call);

/** `diff(-1)`: from the row to a later one. */
const difference: Handler = (method) => {
  const periods = argument(method.args, 0, 'periods', 'n');
  const rows = periods?.type === 'constant' && typeof periods.value === 'number' ? periods.value : 1;
  return rows < 0 ? takenFrom(method.state, futureValues(method), -rows) : elementwise(method);
};

const groups: Handler = ({ interp, table, state, args, call }) => {
  const key = argument(args, 0, 'by');
  noteMissing(interp, state, namesOf(key) ?? []);
  return { type: 'view', form: 'groups', table, future: false, node: call, by: keyNames(key) };
};

/** The columns that rows are grouped by: their names, or the columns themselves. */
function keyNames(key: Value | undefined): readonly string[] {
  const items = key?.type === 'sequence' ? key.cell.value.items : key === undefined ? [] : [key];
  return items.flatMap((item) =>
    item.type === 'table' && item.cell.value.shape === 'column'
      ? item.cell.value.from.slice(0, 1)
      : (namesOf(item) ?? []),
  );
}

/** One row for each value of the index, computed over the rows that have it. */
const pivoted: Handler = (method) => {
  const { interp, state, call } = method;
  const { fits } = factsOf(statistic(method));
  const region = interp.source(`groups:${interp.siteKey(call)}`, interp.label(call));
  region.grouped = state.rows;
  return newTable({ ...emptyTable({ ...NO_FACTS, fits, rows: [region] }, 'frame'), partial: false });
};

const withoutDuplicates: Handler = (method) => {
  const columns = namesOf(argument(method.args, 0, 'subset')) ?? [];
  method.interp.counted.forget(method.state.rows, columns);
  return combined(method);
};

/** Values of a column, or of the columns that were picked; of a whole frame of polars, its rows without copies of them. */
const distinct: Handler = (method) =>
  distinctValues(method.table) ??
  (method.state.shape === 'frame' && !method.state.closed ? withoutDuplicates(method) : harmless(method));

/** Rows by position or label: `take(at)`, `reindex(labels)`. */
const taken: Handler = (method) => {
  const { interp, state, args, call } = method;
  const at = argument(args, 0, 'indices', 'index', 'labels');
  return at?.type === 'positions' ? newTable(pickPositions(interp, state, at, call)) : combined(method);
};

/** `remove(pl.col('id').is_in(held))` of polars: the rows that `filter` leaves out. */
const removed: Handler = ({ interp, state, args, call }) => {
  const filtered = queried(interp, state, args, call);
  const [part] = filtered.type === 'table' ? filtered.cell.value.rows : [];
  if (filtered.type !== 'table' || part?.partition === undefined || part.parent !== state.rows[0])
    return newTable(pickRows(interp, state, [otherSide(textStep(interp, call))]));
  const { partition, side } = part;
  return newTable(pickRows(interp, state, [otherSide({ partition, side })]));
};

const product: Handler = (method) =>
  productMethod(method.interp, method.table, method.args, method.call) ?? combined(method);

/** `series.to_frame("name")` */
const asFrame: Handler = ({ state, args }) => {
  const name = argument(args, 0, 'name');
  const isNamed = name?.type === 'constant' && typeof name.value === 'string' && state.shape === 'column';
  return newTable(isNamed ? { ...state, called: String(name.value) } : state);
};

const popped: Handler = ({ interp, table, state, args }) => {
  const [only] = namesOf(args.positional[0]) ?? [];
  if (only === undefined) return newTable({ ...state, shape: 'column' });
  const column = newTable(columnOf(state, only));
  dropColumns(interp, table, [only]);
  return column;
};

const filledNull: Handler = (method) => {
  const kind = fillKind(method.args);
  return kind === undefined ? combined(method) : withRowEvent(method.interp, method.state, kind, method.call);
};

const filled: Handler = (method) => {
  const { interp, state, args, call } = method;
  const how = args.keywords.get('method');
  const direction = args.keywords.get('limit_direction');
  const isBackward = direction?.type === 'constant' && /^(both|backward)$/.test(String(direction.value));
  return isBackward || (how?.type === 'constant' && /^(bfill|backfill)$/.test(String(how.value)))
    ? withRowEvent(interp, state, 'future-values', call)
    : combined(method);
};

const appended: Handler = ({ interp, table, state, args }) =>
  concatenated([factsOf(table), ...args.positional.map((value) => interp.dataOf(value))], state.shape);

const inserted: Handler = ({ interp, table, args }) => {
  const [column] = namesOf(args.positional[1]) ?? [];
  if (column !== undefined) setColumn(interp, table, column, args.positional[2] ?? UNKNOWN, false);
  return UNKNOWN;
};

const mapped: Handler = (method) => {
  const { interp, state, name, args, call } = method;
  const [first] = args.positional;
  const earlier =
    name === 'map' && first !== undefined ? valuesOfEarlierTimes(interp, first, call) : undefined;
  if (earlier !== undefined) return earlier;
  if (name === 'map' && first?.type === 'mapping' && areTexts([...first.cell.value.entries.keys()]))
    noteTexts(interp, state);
  if (first?.type === 'function') {
    const result = applied(method, first);
    const mask = membershipTest(interp, state, first.definition, call);
    if (result.type !== 'table') return result;
    const looked = amongRows(interp, lookedUpIn(interp, first.definition));
    return newTable({ ...result.cell.value, ...looked, ...(mask === undefined ? {} : { mask: [mask] }) });
  }
  return name === 'transform' && first?.type === 'constant'
    ? withRowEvent(interp, state, 'statistics', call)
    : combined(method);
};

function areTexts(keys: readonly string[]): boolean {
  countWork(keys.length);
  return keys.length > 0 && keys.every((key) => Number.isNaN(Number(key)));
}

/** `frame.eval("rel = a - @mean")`: a column of others, and of variables behind `@`. */
const evaluatedText: Handler = (method) => {
  const { interp, state, args } = method;
  const [text] = args.positional;
  const made = text?.type === 'constant' ? /^\s*(\w+)\s*=(?!=)(.*)$/.exec(String(text.value)) : null;
  if (made === null) return combined(method);
  const [, name = '', formula = ''] = made;
  const variables = [...formula.matchAll(/@(\w+)/g)].map(([, id = '']) => interp.scope.lookup(id)?.value);
  const facts = variables
    .map((value) => (value === undefined ? NO_FACTS : factsOf(value)))
    .reduce(joinFacts, NO_FACTS);
  const result = newTable(state);
  const from = [...formula.matchAll(/(?<![@\w.])[A-Za-z_]\w*/g)].map(([column]) => column);
  setColumn(
    interp,
    result,
    name,
    newTable({ ...emptyTable({ ...state, fits: facts.fits }, 'column'), from }),
    false,
  );
  return result;
};

const updated: Handler = ({ interp, table, state, args }) => {
  const { fits } = args.positional.map((value) => factsOf(value)).reduce(joinFacts, NO_FACTS);
  interp.store.write(table.cell, { ...state, fits: union(state.fits, fits) });
  return UNKNOWN;
};

/** The columns of two tables made alike: the rows of each stay what they are. */
const aligned: Handler = ({ state, args }) => {
  const [other] = args.positional;
  return list(
    [newTable(state), other?.type === 'table' ? newTable(other.cell.value) : (other ?? UNKNOWN)],
    true,
  );
};

/** A list of its values, one for each row. */
const listed: Handler = (method) => {
  const { state } = method;
  if (state.shape === 'frame' || state.rows.length === 0 || state.mask !== undefined) return harmless(method);
  return newSequence({ items: [], rest: newTable({ ...state, shape: 'row', single: true }), tuple: false });
};

const item: Handler = ({ table }) => {
  const facts = factsOf(table);
  return facts.scores.length > 0 || facts.predictions.length > 0 ? table : opaque({ ...facts, rows: [] });
};

const asMapping: Handler = ({ table, state }) => {
  const rest = opaque(factsOf(table));
  return newMapping({ entries: new Map(), rest, ...(state.shape === 'column' ? { valuesOf: state } : {}) });
};

const windowed: Handler = ({ table, state, args, call }) => ({
  type: 'view',
  form: 'window',
  table,
  future: flag(args, 'center') === true || state.reversed === true,
  node: call,
});

const anyOrAll: Handler = (method) => {
  const { interp, table, args, call } = method;
  const facts = factsOf(table);
  if (!isRowWise(args, 0)) return harmless(method);
  const mask = [textStep(interp, call.callee)];
  return newTable({ ...emptyTable(facts, 'column'), fits: facts.fits, mask });
};

const harmless: Handler = ({ table, state }) => opaque({ ...factsOf(table), fits: state.fits, rows: [] });

const ranked: Handler = (method) =>
  isRowWise(method.args, 0)
    ? combined(method)
    : withRowEvent(method.interp, method.state, 'statistics', method.call);

const lossGradient: Handler = ({ interp, table, call }) => {
  learnFromLoss(interp, table, call);
  return UNKNOWN;
};

/** Of a name that is in several lines, the last one says what its method does. */
const HANDLERS: ReadonlyMap<string, Handler> = new Map(
  (
    [
      ['groupby group_by resample', groups],
      ['pivot_table', pivoted],
      ['sample', ({ interp, state, args, call }) => sampled(interp, state, args, call)],
      ['head tail limit', ({ interp, state, name, args, call }) => cut(interp, state, name, args, call)],
      ['drop_duplicates', withoutDuplicates],
      ['take reindex', taken],
      ['remove', removed],
      ['explode', ({ interp, state, call }) => exploded(interp, state, call)],
      ['dot matmul', product],
      ['truncate', ({ interp, state, args, call }) => truncated(interp, state, args, call)],
      ['slice', ({ interp, state, call }) => sliced(interp, state, call)],
      ['query filter', ({ interp, state, args, call }) => queried(interp, state, args, call)],
      ['drop', ({ interp, state, args, call }) => drop(interp, state, args, call)],
      ['pop', popped],
      ['shift', ({ interp, state, args, call }) => shifted(interp, state, args, call)],
      ['diff pct_change', difference],
      // The number of the row or of its group says nothing of its values.
      ['cumcount ngroup', ({ state }) => newTable(emptyTable(state, 'column'))],
      ['cumsum', ({ state }) => newTable({ ...state, from: [], running: state.from })],
      ['bfill backfill backward_fill', futureValues],
      ['fill_null', filledNull],
      ['fillna interpolate', filled],
      ['merge join', merged],
      ['append vstack', appended],
      ['hstack', ({ interp, table, args }) => sideBySide(interp, argumentsOf([table, ...args.positional]))],
      ['assign with_columns with_column select', withColumns],
      ['insert', inserted],
      ['apply transform map pipe applymap map_elements', mapped],
      ['iterrows itertuples', rowByRow],
      ['update', updated],
      ['eval', evaluatedText],
      ['align', aligned],
      ['tolist to_list', listed],
      ['item', item],
      ['squeeze', ({ table }) => table],
      ['to_dict', asMapping],
      ['rename', renamed],
      ['to_frame', asFrame],
      ['set_axis', withAxis],
      ['select_dtypes', columnsByType],
      ['copy astype numpy to_pandas reset_index sort_values sort dropna collect lazy', sameRows],
      ['to_numpy toarray', asArray],
      ['train_test_split', ({ state }) => newTable({ ...state, certain: false })],
      [[...RANKING_METHODS].join(' '), ranked],
      [[...MASK_METHODS].join(' '), maskMethod],
      [[...WINDOW_METHODS].join(' '), windowed],
      [
        [...HARMLESS_METHODS].filter((name) => !MASK_METHODS.has(name) && !/^to_?list$/.test(name)).join(' '),
        harmless,
      ],
      ['any all', anyOrAll],
      ['unique', distinct],
      [[...STATISTIC_METHODS.keys()].filter((name) => name !== 'pivot_table').join(' '), statistic],
      ['backward', lossGradient],
    ] satisfies [string, Handler][]
  ).flatMap(([names, handler]) => names.split(' ').map((name): [string, Handler] => [name, handler])),
);

/** The same rows, made with whatever the arguments carry. */
function combined({ interp, table, state, args, call }: TableCall): Value {
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

function statistic({ interp, table, state, name, args, call }: TableCall): Value {
  const facts = factsOf(table);
  const kind = STATISTIC_METHODS.get(name) ?? 'statistics';
  if (facts.scores.length > 0) return opaque(facts);
  if (facts.predictions.length > 0) return opaque(facts);
  if (state.shape === 'row') return newTable(emptyTable(facts, 'row'));
  if (isRowWise(args, /^(quantile|agg|aggregate)$/.test(name) ? 1 : 0))
    return newTable({
      ...state,
      shape: 'column',
      columns: new Map(),
      fits: facts.fits,
      // One column has values along another axis only where those of other rows were looked up.
      from: state.shape === 'column' ? [] : state.from,
    });
  if (state.mask !== undefined && !['mean', 'value_counts'].includes(name))
    return opaque({ ...facts, rows: [] });
  // Fractions of missing values say nothing about the values.
  if (state.rows.length === 0 || state.missing === true) return opaque({ ...facts, rows: [] });
  const rowsText = call.callee.type === 'attribute' ? interp.label(call.callee.object) : '';
  const each = rowsOfEachValue(interp, state.rows);
  const rows = each === undefined ? state : { rows: each, certain: state.certain };
  const [ofKind, columns] = each === undefined ? [kind] : (['group-statistics', state.from] as const);
  const event = interp.fit(ofKind, `\`${interp.label(call)}\``, rows, rowsText, call, undefined, columns);
  return learnedNumber(facts, event, name);
}

function maskMethod({ interp, table, state, name, args, call }: TableCall): Value {
  const operator = { eq: '==', ne: '!=', lt: '<', gt: '>', le: '<=', ge: '>=' }[name];
  const [first] = args.positional;
  const [own, other] = [factsOf(table), first === undefined ? NO_FACTS : factsOf(first)];
  const scores = operator === undefined ? [] : meetLabels(interp, own, other, call);
  const isAmong = /^is_?in$/.test(name);
  const column = state.from.length === 1 ? state.from[0] : undefined;
  const divided = isAmong ? distinctSteps(column, first) : undefined;
  let mask: Step = isAmong ? amongStep(interp, column, first, call) : textStep(interp, call);
  if (operator !== undefined && call.callee.type === 'attribute') {
    const subject = state.from.length === 1 ? state.from[0] : interp.text(call.callee.object);
    const side = first?.type === 'constant' ? comparisonSide(operator, first.value) : undefined;
    if (side !== undefined) {
      mask = { partition: interp.partition(`compare:${subject}`, 'selection', call), side };
    }
  }
  const between = name === 'between' && column !== undefined ? betweenSteps(interp, column, call) : undefined;
  const isFrame = state.shape === 'frame';
  return newTable({
    ...state,
    fits: union(own.fits, other.fits),
    scores: union(state.scores, scores),
    ...(isFrame ? {} : { mask: [...(divided ?? between ?? [mask])] }),
    ...(isAmong ? amongRows(interp, first) : {}),
    ...(/^(is|not)(na|null)$|null$/.test(name) ? { missing: true } : {}),
  });
}

/** Rows of the left frame; the right one is looked up, and what it was made with comes along. */
function merged({ interp, state, args, call }: TableCall): Value {
  const [right] =
    args.positional.length > 0 ? args.positional : [args.keywords.get('right') ?? args.keywords.get('other')];
  if (right === undefined) return newTable(state);
  const how = args.keywords.get('how');
  // Rows that the other table has, or lacks.
  if (how?.type === 'constant' && (how.value === 'anti' || how.value === 'semi')) {
    const [column, ...others] = namesOf(args.keywords.get('on')) ?? [];
    const key =
      right.type === 'table' && column !== undefined ? columnOf(right.cell.value, column) : undefined;
    const isOne = key !== undefined && others.length === 0;
    const step = isOne ? amongStep(interp, column, newTable(key), call) : textStep(interp, call);
    return newTable(pickRows(interp, state, [how.value === 'anti' ? otherSide(step) : step]));
  }
  const facts = interp.dataOf(right);
  noteIndicator(interp, args, facts, call);
  const name = right.type === 'table' ? right.cell.value.called : undefined;
  if (name !== undefined && !state.columns.has(name)) {
    const result = newTable(state);
    setColumn(interp, result, name, right, false);
    return result;
  }
  const keys = mergeKeys(args);
  const looked = withoutLookedUpCopies(facts.fits, state.rows, keys);
  return newTable({
    ...state,
    closed: false,
    partial: state.partial || state.closed,
    fits: union(state.fits, asOfEarlier(interp, looked, right, keys)),
    predictions: union(state.predictions, facts.predictions),
  });
}

/** The columns by which rows of another table are found, by their names there. */
function mergeKeys({ keywords }: Arguments): readonly string[] {
  return namesOf(keywords.get('right_on') ?? keywords.get('on')) ?? [];
}

/** `merge(part, indicator=True)`: the rows that are `left_only` are none of the part. */
function noteIndicator(interp: Interpreter, args: Arguments, { rows }: Facts, call: Call): void {
  const indicator = args.keywords.get('indicator');
  const [part, ...others] = rows;
  if (indicator?.type !== 'constant' || !indicator.value || part === undefined || others.length > 0) return;
  const column = typeof indicator.value === 'string' ? indicator.value : '_merge';
  const partition = interp.partition(`compare:${column}`, 'selection', call);
  const side = comparisonSide('==', 'left_only');
  if (side !== undefined) partition.lacks = { side, part };
}

/** A function applied to rows, columns or elements. */
function applied({ interp, table, state, name, args, call }: TableCall, fn: FunctionOf): Value {
  // Elements of a column and rows of a frame are single values; whole columns are not.
  const alone =
    (name !== 'transform' && name !== 'pipe' && state.shape === 'column') ||
    isRowWise(args, 1) ||
    name === 'applymap' ||
    name === 'map_elements';
  const element: Value = alone ? UNKNOWN : newTable(state);
  if (alone) interp.context.enterRow();
  const result = interp.callFunction(fn, argumentsOf([element, ...args.positional.slice(1)]), call);
  const tests = alone ? interp.context.leaveRow() : [];
  const facts = withFits(factsOf(result), tests);
  if (!alone && result.type === 'table') return result;
  // One number for each column, as of `frame.apply(lambda column: …)`: no rows.
  if (!alone && name === 'apply' && state.shape === 'frame' && result.type === 'opaque')
    return opaque({ ...NO_FACTS, fits: union(factsOf(table).fits, facts.fits) });
  return newTable({
    ...emptyTable(state, state.shape),
    from: state.from,
    fits: union(factsOf(table).fits, facts.fits),
    predictions: union(state.predictions, facts.predictions),
  });
}
