import { STATISTIC_METHODS } from '../library-models/methods.js';
import type { Call, Expr, FunctionDefinition, Lambda } from '../syntax/ast.js';
import { statementsIn } from '../syntax/walk.js';
import { comparisonSide } from '../values/comparison.js';
import { type Facts, NO_FACTS, union } from '../values/facts.js';
import { emptyTable, newTable } from '../values/join.js';
import { factsOf, opaque, type Step, type TableState, type Value, type View } from '../values/value.js';
import { type Arguments, argument, argumentsOf } from './arguments.js';
import type { Interpreter } from './interpreter.js';
import { columnNames, pickRows } from './rows-and-columns.js';
import { tableMethod } from './table-methods.js';

/** Methods of grouped rows that give one result per row from the row and the rows before it. */
const PER_ROW = new Set(
  'shift diff cumsum cumprod cummax cummin cumcount ffill pad pct_change ngroup head tail nth filter sample'.split(
    ' ',
  ),
);

/** Methods of groups and of moving windows. */
export function viewMethod(
  interp: Interpreter,
  view: View,
  name: string,
  args: Arguments,
  call: Call,
): Value {
  if (view.form === 'window') return windowMethod(interp, view, call);
  const state = view.table.cell.value;
  if (PER_ROW.has(name) || name === 'rolling' || name === 'expanding' || name === 'ewm') {
    return tableMethod(interp, newTable(state) as Value & { type: 'table' }, name, args, call);
  }
  if (name === 'size' || name === 'count') {
    const [key] = view.node.type === 'call' ? view.node.args : [];
    const [column] = columnNames(interp, key?.value) ?? [];
    const isAsserted = /^assert\b/.test(interp.text(interp.statement));
    if (column !== undefined && !isAsserted)
      interp.counted.add(interp, column, state.rows, state.columns.get(column)?.from);
  }
  const statistics = (): Value => {
    const facts = factsOf(view);
    if (facts.scores.length > 0) return opaque(facts);
    // Predictions put together by group: the group is what is predicted.
    if (facts.predictions.length > 0) return grouped(state, args);
    const subject = `\`${interp.label(call)}\``;
    const rowsText = interp.label(view.node);
    const columns = union(state.from, aggregatedColumns(args));
    const event = interp.fit('group-statistics', subject, state, rowsText, call, undefined, columns);
    event.groupedBy = view.by ?? [];
    return aggregated(interp, view, union(facts.fits, [event]), call);
  };
  if (name === 'transform' || name === 'apply' || name === 'map_groups' || name === 'pipe') {
    const [first] = args.positional;
    if (first?.type === 'function') {
      const result = interp.callFunction(first, argumentsOf([newTable(state)]), call);
      interp.scoresOfParts.add(factsOf(result).scores);
      return givesOneRow(first.definition) ? aggregated(interp, view, factsOf(result).fits, call) : result;
    }
    const result = factsOf(statistics());
    return newTable({ ...emptyTable(state, state.shape), fits: union(state.fits, result.fits) });
  }
  // The rank of a row within its group.
  if (name === 'rank') {
    const { fits } = factsOf(statistics());
    return newTable({ ...state, from: [], fits: union(state.fits, fits) });
  }
  if (name === 'bfill' || name === 'backfill') {
    return tableMethod(interp, newTable(state) as Value & { type: 'table' }, name, args, call);
  }
  if (STATISTIC_METHODS.has(name) || name === 'nunique' || name === 'len') return statistics();
  if (name === 'get_group') return newTable(pickRows(interp, state, groupSteps(interp, view, args, call)));
  return statistics();
}

/** The rows of the group that a constant names. */
function groupSteps(interp: Interpreter, { node }: View, args: Arguments, call: Call): Step[] {
  const by = node.type === 'call' ? (node.args.find(({ name }) => name === 'by') ?? node.args[0]) : undefined;
  const column = by?.value.type === 'constant' ? by.value.value : undefined;
  const group = argument(args, 0, 'name');
  if (typeof column !== 'string' || group?.type !== 'constant') return [];
  const side = comparisonSide('==', group.value);
  return side === undefined
    ? []
    : [{ partition: interp.partition(`compare:${column}`, 'selection', call), side }];
}

/** `agg(rate=('late', 'mean'))`, `agg({'late': 'mean'})`: the columns that are put together. */
function aggregatedColumns(args: Arguments): readonly string[] {
  const [first] = args.positional;
  if (first?.type === 'mapping') return [...first.cell.value.entries.keys()];
  return [...args.keywords.values()].flatMap((value) => {
    const [column] = value.type === 'sequence' ? value.cell.value.items : [];
    return column?.type === 'constant' && typeof column.value === 'string' ? [column.value] : [];
  });
}

/** Whether a function puts numbers together under names: `return pd.Series({"mean": …})`. */
function givesOneRow(definition: FunctionDefinition | Lambda): boolean {
  const results =
    definition.type === 'lambda'
      ? [definition.body]
      : [...statementsIn(definition)].flatMap((statement) =>
          statement.type === 'return' && statement.value !== undefined ? [statement.value] : [],
        );
  return results.length > 0 && results.every(isNamedNumbers);
}

function isNamedNumbers(result: Expr): boolean {
  if (result.type !== 'call') return false;
  const { callee, args } = result;
  const isSeries =
    (callee.type === 'name' ? callee.id : callee.type === 'attribute' ? callee.name : '') === 'Series';
  const of = args[0]?.value.type;
  return isSeries && (of === 'dictionary' || of === 'sequence');
}

/** One row for each group: a frame of them, or a column that may be made one. */
function aggregated(interp: Interpreter, view: View, fits: Facts['fits'], call: Call): Value {
  const { rows, shape } = view.table.cell.value;
  const region = interp.source(`groups:${interp.siteKey(call)}`, interp.label(call));
  region.grouped = rows;
  const indexed =
    view.node.type === 'call' ? view.node.args.find(({ name }) => name === 'as_index') : undefined;
  const isFrame = shape === 'frame' || indexed?.value.type === 'constant';
  // Resampled series are series again: one row for each period.
  if (isResampled(view)) return newTable(emptyTable({ ...NO_FACTS, fits, rows: [region] }, shape));
  if (!isFrame) return { type: 'opaque', facts: { ...NO_FACTS, fits }, aggregate: region };
  return newTable({ ...emptyTable({ ...NO_FACTS, fits, rows: [region] }, 'frame'), partial: false });
}

function isResampled({ node }: View): boolean {
  return node.type === 'call' && node.callee.type === 'attribute' && node.callee.name === 'resample';
}

/** Rows put together by group, column by column; `agg(p=('proba', 'mean'))` names the columns again. */
function grouped(state: TableState, args: Arguments): Value {
  const columns = new Map(state.columns);
  for (const [name, value] of args.keywords) {
    const [from] = value.type === 'sequence' ? value.cell.value.items : [];
    const column = from?.type === 'constant' ? state.columns.get(String(from.value)) : undefined;
    columns.set(name, column ?? { fits: [], predictions: [], from: [] });
  }
  return newTable({ ...state, columns });
}

/** Whether a window of one column ends with the row itself, not with the one before it. */
function includesItself({ table, node }: View): boolean {
  const closed = node.type === 'call' ? node.args.find(({ name }) => name === 'closed') : undefined;
  return closed === undefined && table.cell.value.shape === 'column';
}

function windowMethod(interp: Interpreter, view: View, call: Call): Value {
  const state = view.table.cell.value;
  if (!view.future) return newTable(includesItself(view) ? state : { ...state, from: [] });
  const event = interp.fit(
    'future-values',
    `\`${interp.label(call)}\``,
    state,
    interp.label(view.node),
    call,
  );
  return newTable({ ...state, from: [], fits: union(state.fits, [event]) });
}
