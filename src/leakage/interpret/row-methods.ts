import type { Call } from '../syntax/ast.js';
import { comparisonSide } from '../values/comparison.js';
import { NO_FACTS, union } from '../values/facts.js';
import { newTable } from '../values/join.js';
import { type CutAt, noteShuffled } from '../values/region.js';
import { factsOf, type Step, type TableState, tableFacts, type Value } from '../values/value.js';
import { type Arguments, argument, flag } from './arguments.js';
import { withoutColumns } from './assign.js';
import { partsBefore, sliceSteps } from './cuts.js';
import type { Interpreter } from './interpreter.js';
import { amongStep, isDistinct } from './membership.js';
import { filterSteps, truthStep } from './row-conditions.js';
import { withRowEvent } from './row-events.js';
import { leftOut, stepsToLabels } from './row-labels.js';
import { movedDown, takenFrom } from './rows-ahead.js';
import { columnOf, namesOf, pickRows } from './rows-and-columns.js';
import { otherSide, textStep } from './steps.js';
export function sampled(interp: Interpreter, state: TableState, args: Arguments, call: Call): Value {
  const fraction = argument(args, 1, 'frac', 'fraction');
  const replace = flag(args, 'replace') === true || flag(args, 'with_replacement') === true;
  if (replace && tableFacts(state).predictions.length === 0)
    return withRowEvent(interp, state, 'duplicated-rows', call);
  if (fraction?.type === 'constant' && Number(fraction.value) >= 1) {
    noteShuffled(state.rows);
    return newTable(state);
  }
  const partition = interp.partition(`sample:${interp.siteKey(call)}`, 'selection', call);
  return newTable(pickRows(interp, state, [{ partition, side: 'taken' }]));
}

/** `explode`: several rows for each row, which belong together. */
export function exploded(interp: Interpreter, state: TableState, call: Call): Value {
  const partition = interp.partition(
    `pieces:${interp.siteKey(call)}`,
    'selection',
    call,
    `\`${interp.label(call)}\``,
  );
  return newTable({ ...pickRows(interp, state, [{ partition, side: 'pieces' }]) });
}

export function cut(
  interp: Interpreter,
  state: TableState,
  name: string,
  args: Arguments,
  call: Call,
): Value {
  const [count] = args.positional;
  const [bound] = args.expressions;
  if (bound !== undefined && state.rows.length > 1) {
    const rows = name === 'tail' ? [...state.rows].reverse() : state.rows;
    const inside = partsBefore(interp, rows, bound);
    if (inside !== undefined && inside > 0)
      return newTable({
        ...state,
        rows: name === 'tail' ? state.rows.slice(-inside) : state.rows.slice(0, inside),
      });
  }
  const cut = count?.type === 'opaque' ? count.cut : undefined;
  if (cut !== undefined) {
    const at = name === 'tail' ? { fraction: 1 - cut.fraction, offset: -cut.offset } : cut;
    const key = `cut:${Number(at.fraction.toFixed(9))}*+${at.offset}`;
    const partition = interp.partition(key, 'selection', call, undefined, at);
    return newTable(pickRows(interp, state, [{ partition, side: name === 'tail' ? 'after' : 'before' }]));
  }
  const [expression] = call.args;
  const text = expression === undefined ? '5' : interp.text(expression.value).replaceAll(/[\s()]+/g, '');
  const [region] = state.rows;
  // `head(n)` and `tail(len - n)` are the two sides of one cut, by whatever the cut is called.
  const known = [...(region?.parts.values() ?? [])].map((part) => part.partition?.key ?? '');
  const matching = known.find((key) => key.startsWith('cut:') && text.includes(key.slice(4)));
  const key = name === 'tail' && matching !== undefined ? matching : `cut:${text}`;
  const last = count?.type === 'constant' && typeof count.value === 'number' ? count.value : undefined;
  const at = last === undefined || matching !== undefined ? undefined : endOf(name, last);
  const partition = interp.partition(key, 'selection', call, undefined, at);
  return newTable(pickRows(interp, state, [{ partition, side: name === 'tail' ? 'after' : 'before' }]));
}

/** Where `head(n)` ends, or `tail(n)` begins. Without the last rows, or the first, where `n` is negative. */
function endOf(name: string, count: number): CutAt {
  const isFromStart = (name === 'tail') === count < 0;
  return isFromStart ? { fraction: 0, offset: Math.abs(count) } : { fraction: 1, offset: -Math.abs(count) };
}

/** `truncate(before, after)`: rows by their labels, like a slice of them. */
export function truncated(interp: Interpreter, state: TableState, args: Arguments, call: Call): Value {
  const bounds = [
    ['>=', argument(args, 0, 'before')],
    ['<=', argument(args, 1, 'after')],
  ] as const;
  const partition = interp.partition('compare:index', 'selection', call);
  const steps = bounds.flatMap(([operator, bound]): Step[] => {
    if (bound === undefined || (bound.type === 'constant' && bound.value === null)) return [];
    const side = bound.type === 'constant' ? comparisonSide(operator, bound.value) : undefined;
    return [side === undefined ? textStep(interp, call) : { partition, side }];
  });
  return newTable(pickRows(interp, state, steps));
}

/** `slice(offset, length)` of polars: `slice(0, n)` and `slice(n)` are the two sides of one cut. */
export function sliced(interp: Interpreter, state: TableState, call: Call): Value {
  const [offset, length] = ['offset', 'length'].map(
    (name, at) =>
      (
        call.args.find((part) => part.name === name) ??
        call.args.filter((part) => part.name === undefined)[at]
      )?.value,
  );
  if (offset === undefined) return newTable(state);
  const isStart = offset.type === 'constant' && offset.value === 0;
  const { start, end } = call;
  const bounds = isStart ? (length === undefined ? {} : { upper: length }) : { lower: offset };
  const steps = sliceSteps(interp, { type: 'slice', start, end, ...bounds });
  const further = isStart || length === undefined ? [] : [textStep(interp, call)];
  return newTable(pickRows(interp, state, [...steps, ...further]));
}

/** `query('fold == 0')` and `filter(pl.col('fold') == 0)`. */
export function queried(interp: Interpreter, state: TableState, args: Arguments, call: Call): Value {
  const [first] = args.positional;
  const byName = ['items', 'like', 'regex'].some((name) => args.keywords.has(name));
  if (byName) return newTable({ ...state, closed: false, partial: true });
  if (state.shape === 'column' && first === undefined) return newTable(state);
  if (first?.type === 'constant' && typeof first.value === 'string') {
    const truth = /^\s*(not\s+|~\s*)?`?(\w+)`?\s*$/.exec(first.value);
    if (truth !== null) {
      const step = truthStep(interp, truth[2] ?? '', call);
      return newTable(pickRows(interp, state, [truth[1] === undefined ? step : otherSide(step)]));
    }
    const among = queriedMembership(interp, state, first.value, call);
    if (among !== undefined) return newTable(pickRows(interp, state, [among]));
    const match = /^`?([\w.]+)`?\s*(==|!=|<=|>=|<|>)\s*(\S.*)$/.exec(first.value.trim());
    if (match !== null && !/\b(and|or)\b|[&|]/.test(first.value)) {
      const [, column = '', operator = '', bound = ''] = match;
      const quoted = /^(['"])(.*)\1$/.exec(bound);
      const number = Number(bound);
      const value = quoted !== null ? (quoted[2] ?? '') : Number.isNaN(number) ? { text: bound } : number;
      const side = comparisonSide(operator, value);
      if (side !== undefined) {
        const partition = interp.partition(`compare:${column}`, 'selection', call);
        return newTable(pickRows(interp, state, [{ partition, side }]));
      }
    }
  }
  const conditions = filterSteps(interp, call);
  if (conditions !== undefined) return newTable(pickRows(interp, state, conditions));
  if (first?.type === 'table' && first.cell.value.mask !== undefined) {
    return newTable(pickRows(interp, state, first.cell.value.mask));
  }
  const [argumentOf] = call.args;
  return newTable(pickRows(interp, state, [textStep(interp, argumentOf?.value ?? call)]));
}

/** `year in @late`, `index not in @valid.index`. */
function queriedMembership(
  interp: Interpreter,
  { rows }: TableState,
  text: string,
  call: Call,
): Step | undefined {
  const match = /^\s*(\w+)\s+(not\s+)?in\s+@(\w+)(?:\.(\w+))?\s*$/.exec(text);
  if (match === null) return undefined;
  const [, column = '', not, name = '', attribute] = match;
  const named = interp.scope.lookup(name)?.value;
  const state = named?.type === 'table' && attribute !== undefined ? named.cell.value : undefined;
  const many: Value | undefined =
    state === undefined
      ? named
      : attribute === 'index'
        ? { type: 'positions', steps: [], of: state.rows }
        : newTable(columnOf(state, attribute ?? ''));
  const partition = interp.partition(`text:${column}in@${name}.${attribute ?? ''}`, 'selection', call);
  let step: Step = { partition, side: 'yes' };
  if (many?.type === 'positions' && column === 'index') step = otherSide(leftOut(interp, rows, many, call));
  else if (many?.type === 'table' || many?.type === 'sequence' || isDistinct(many)) {
    const known = amongStep(interp, column, many, call);
    if (known.partition.holds !== undefined || isDistinct(many)) step = known;
  }
  return not === undefined ? step : otherSide(step);
}

/** `drop(columns)` takes columns away, `drop(train.index)` rows. */
export function drop(interp: Interpreter, state: TableState, args: Arguments, call: Call): Value {
  const columns = argument(args, 0, 'columns', 'labels');
  const names = namesOf(columns);
  const axis = argument(args, 1, 'axis');
  const isColumns =
    args.keywords.has('columns') ||
    (axis?.type === 'constant' && (axis.value === 1 || axis.value === 'columns')) ||
    (axis === undefined && names !== undefined && !args.keywords.has('index'));
  if (isColumns) {
    if (names !== undefined)
      return newTable({ ...withoutColumns(state, names), selectedBy: interp.statement });
    const { fits } = columns === undefined ? NO_FACTS : factsOf(columns);
    return newTable({ ...state, closed: false, partial: true, fits: union(state.fits, fits) });
  }
  const index = call.args.find((part) => part.name === undefined || part.name === 'index')?.value;
  const taken = index === undefined ? undefined : indexOwner(interp, index);
  const [last] = taken?.rows.slice(-1) ?? [];
  if (last?.partition !== undefined && last.parent !== undefined && state.rows.includes(last.parent)) {
    const step: Step = { partition: last.partition, side: `!${last.side}` };
    return newTable(pickRows(interp, state, [step]));
  }
  const labels = columns ?? args.keywords.get('index');
  const isPart = labels?.type === 'positions' && stepsToLabels(state.rows, labels)?.length !== 0;
  return newTable(
    isPart ? pickRows(interp, state, [leftOut(interp, state.rows, labels, index ?? call)]) : state,
  );
}

function indexOwner(interp: Interpreter, index: Call['args'][number]['value']): TableState | undefined {
  if (index.type !== 'attribute' || index.name !== 'index') return undefined;
  const owner = index.object.type === 'name' ? interp.scope.lookup(index.object.id)?.value : undefined;
  return owner?.type === 'table' ? owner.cell.value : undefined;
}

/** `shift(n)`: values of the rows before; of the rows after where `n` is negative, or the rows run backwards. */
export function shifted(interp: Interpreter, state: TableState, args: Arguments, call: Call): Value {
  const periods = argument(args, 0, 'periods', 'n');
  const past: TableState = { ...state, from: [] };
  const isByOne = periods === undefined && args.all.length === 0;
  const rows = isByOne ? 1 : periods?.type === 'constant' ? periods.value : undefined;
  if (typeof rows === 'number') {
    if (rows === 0) return newTable(state);
    if (rows < 0 !== (state.reversed === true))
      return takenFrom(past, withRowEvent(interp, past, 'future-values', call), Math.abs(rows), state.from);
    return newTable(withNeighbors(interp, state, movedDown(past, Math.abs(rows)), call));
  }
  return newTable(withNeighbors(interp, state, past, call));
}

/** Values of the rows before: a random split of the rows puts labels of one side into the other. */
function withNeighbors(interp: Interpreter, state: TableState, past: TableState, call: Call): TableState {
  // The name of a column comes before those of the columns that it was made of, or that it had before.
  const own = state.shape === 'column' ? state.from.slice(0, 1) : state.from;
  const names = state.closed && state.shape === 'frame' ? [...state.columns.keys()] : own;
  if (names.length === 0 || (names.length > 1 && !state.closed)) return past;
  const subject = `\`${interp.label(call)}\``;
  const event = interp.fit('shuffled-time', subject, state, subject, call, undefined, names);
  return { ...past, fits: union(past.fits, [event]) };
}
