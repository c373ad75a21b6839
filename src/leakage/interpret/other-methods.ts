import { STATISTIC_METHODS } from '../library-models/methods.js';
import type { Call } from '../syntax/ast.js';
import { joinFacts, NO_FACTS, union } from '../values/facts.js';
import {
  boundedMapping,
  boundedSequence,
  emptyTable,
  joinValues,
  list,
  newMapping,
  newSequence,
  newTable,
} from '../values/join.js';
import {
  constant,
  factsOf,
  type Mapping,
  type MappingState,
  type Opaque,
  opaque,
  type SequenceOf,
  UNKNOWN,
  type Value,
} from '../values/value.js';
import { countWork } from '../values/work.js';
import { type Arguments, argument } from './arguments.js';
import { choose, report, sortedByScores } from './builtins.js';
import { withChoices } from './choices.js';
import { collected, ofOneRound } from './collecting.js';
import { expressionMethod } from './column-expressions.js';
import type { Interpreter } from './interpreter.js';
import { learnFromLoss } from './learning.js';
import { isDistinct, positionsMethod } from './membership.js';
import { restOf } from './operators.js';
import { drawnPositions, repeatedPositions } from './repeated-positions.js';
import { tableMethod } from './table-methods.js';
import { unknownCall } from './unknown-calls.js';

/** Methods of lists, dicts, strings and everything without structure. */
export function containerMethod(
  interp: Interpreter,
  receiver: Value,
  name: string,
  args: Arguments,
  call: Call,
): Value {
  if (receiver.type === 'sequence') return sequenceMethod(interp, receiver, name, args, call);
  if (receiver.type === 'mapping') return mappingMethod(interp, receiver, name, args, call);
  if (receiver.type === 'positions' && name === 'repeat') return repeatedPositions(receiver, args, call);
  if (receiver.type === 'positions')
    return positionsMethod(interp, receiver, name, args.positional[0], call.args[0]?.value ?? call);
  const result = unknownCall(interp, args, call);
  return result.type === 'opaque' && result.facts === NO_FACTS ? opaque(factsOf(receiver)) : result;
}

function sequenceMethod(
  interp: Interpreter,
  receiver: SequenceOf,
  name: string,
  args: Arguments,
  call: Call,
): Value {
  const { allBut, ...changeable } = receiver.cell.value;
  const state = /^(copy|index|count)$/.test(name) ? receiver.cell.value : changeable;
  // What it leaves out is not known any more when it is changed.
  if (allBut !== undefined && state === changeable) interp.store.write(receiver.cell, changeable);
  const [first, second] = args.positional;
  switch (name) {
    case 'append':
    case 'add': {
      if (first === undefined) return UNKNOWN;
      const whole = isOneOf(first, state.rest) ? first : collected(interp, first);
      const row = interp.windows.inLoop(interp, ofOneRound(interp, whole));
      const piece = withChoices(row, interp.context.choices);
      const [expression] = args.expressions;
      const name = call.callee.type === 'attribute' ? call.callee.object : call.callee;
      const value =
        expression === undefined ? piece : interp.appended.add(interp, receiver, name, piece, expression);
      // In a loop the number of items is not known any more; two rounds show what they look like.
      const items = [...state.items, value];
      const isNext = interp.context.innermostLoop === undefined && state.written === state.items.length;
      const next =
        items.length > 24
          ? { ...state, rest: items.reduce(joinValues), items: [] }
          : { ...state, items, ...(isNext ? { written: items.length } : {}) };
      interp.store.write(receiver.cell, next);
      return UNKNOWN;
    }
    case 'extend':
    case 'insert':
    case 'update': {
      const pieces = name === 'insert' ? second : first;
      if (pieces === undefined) return UNKNOWN;
      const owner = call.callee.type === 'attribute' ? call.callee.object : call.callee;
      const added = interp.appended.addAll(interp, receiver, owner, pieces, args.expressions[0] ?? call);
      if (
        name === 'extend' &&
        added.type === 'sequence' &&
        added.cell.value.rest === undefined &&
        state.items.length < 24
      ) {
        const items = [...state.items, ...added.cell.value.items];
        interp.store.write(receiver.cell, boundedSequence({ ...state, items }));
        return UNKNOWN;
      }
      if (name === 'extend' && added.type === 'sequence' && added.cell.value.rest?.type === 'table') {
        const rest = restOf(interp, state.rest, added.cell.value.rest);
        const items = [...state.items, ...added.cell.value.items];
        interp.store.write(receiver.cell, boundedSequence({ ...state, items, ...(rest && { rest }) }));
        return UNKNOWN;
      }
      const item = name === 'extend' ? opaque(interp.dataOf(added)) : added;
      // What was put in between moves the others.
      const moved = name === 'insert' ? state.items : [];
      const rest = moved.reduce(joinValues, state.rest === undefined ? item : joinValues(state.rest, item));
      const items = name === 'insert' ? [] : state.items;
      interp.store.write(receiver.cell, { ...state, items, rest });
      return UNKNOWN;
    }
    case 'index':
      // `scores.index(max(scores))` was chosen as the maximum was.
      return first === undefined
        ? UNKNOWN
        : opaque({ ...NO_FACTS, fits: factsOf(first).fits.filter(({ kind }) => kind === 'selection') });
    case 'copy':
      return newSequence(state);
    case 'pop': {
      takeOutLearned(interp, receiver, first);
      const index = first === undefined ? -1 : first.type === 'constant' ? Number(first.value) : Number.NaN;
      const popped = state.items.at(index) ?? state.rest ?? UNKNOWN;
      edit(interp, receiver, (items) => items.splice(index, 1));
      return popped;
    }
    case 'remove':
      takeOutLearned(interp, receiver, first);
      edit(interp, receiver, (items) => {
        const at = items.findIndex(
          (item) => item.type === 'constant' && first?.type === 'constant' && item.value === first.value,
        );
        if (at >= 0) items.splice(at, 1);
      });
      return UNKNOWN;
    case 'reverse':
      edit(interp, receiver, (items) => items.reverse());
      return UNKNOWN;
    case 'clear':
      edit(interp, receiver, (items) => items.splice(0));
      return UNKNOWN;
    case 'sort': {
      const inOrder = sortedByScores(interp, receiver, call);
      if (inOrder !== undefined) {
        const rest = inOrder.type === 'sequence' ? inOrder.cell.value.rest : inOrder;
        interp.store.write(receiver.cell, { ...state, items: [], ...(rest === undefined ? {} : { rest }) });
        return UNKNOWN;
      }
      // Which item is first is not known any more.
      if (state.items.some((item) => item.type === 'constant' && typeof item.value === 'number'))
        interp.store.write(receiver.cell, { ...state, items: [], rest: opaque(NO_FACTS) });
      return UNKNOWN;
    }
    case 'count':
      return UNKNOWN;
    default:
      return unknownCall(interp, args, call);
  }
}

/** Whether a value is an element of the very source that the others of a list are elements of, as after `list(labels)`. */
function isOneOf(value: Value, others: Value | undefined): boolean {
  return (
    value.type === 'opaque' &&
    others?.type === 'opaque' &&
    value.element === true &&
    value.source !== undefined &&
    value.source === others.source
  );
}

/**
 * `columns.remove(weights.idxmin())`: which items are left was learned from rows. So it was where a condition that was
 * learned decides on it.
 */
function takeOutLearned(interp: Interpreter, { cell }: SequenceOf, what: Value | undefined): void {
  const own = what === undefined ? [] : factsOf(what).fits;
  const fits = union(own, interp.context.choices).filter(({ kind }) => kind === 'feature-selection');
  if (fits.length === 0) return;
  const { items, rest, ...state } = cell.value;
  const learned = opaque({ ...NO_FACTS, fits });
  countWork(items.length);
  const joined = rest === undefined ? learned : joinValues(rest, learned);
  interp.store.write(cell, { ...state, items: [], rest: items.reduce(joinValues, joined) });
}

/** Changes a list whose items are known one by one, outside of loops. */
function edit(interp: Interpreter, { cell }: SequenceOf, change: (items: Value[]) => void): void {
  const { items, rest } = cell.value;
  if (rest !== undefined || interp.context.innermostLoop !== undefined) return;
  countWork(items.length);
  const changed = [...items];
  change(changed);
  interp.store.write(cell, { ...cell.value, items: changed });
}

function mappingMethod(
  interp: Interpreter,
  receiver: Mapping,
  name: string,
  args: Arguments,
  call: Call,
): Value {
  const state = receiver.cell.value;
  const [first] = args.positional;
  const all = (items: readonly Value[]): Value =>
    newSequence({ items, tuple: false, ...(state.rest === undefined ? {} : { rest: state.rest }) });
  switch (name) {
    case 'items': {
      const pairs = [...state.entries].map(([key, value]) =>
        list([{ type: 'constant', value: key }, value], true),
      );
      return newSequence({
        items: pairs,
        tuple: false,
        ...(state.rest === undefined ? {} : { rest: list([UNKNOWN, state.rest], true) }),
      });
    }
    case 'values':
      return all([...state.entries.values()]);
    case 'keys':
      return list([...state.entries.keys()].map((value) => ({ type: 'constant', value })));
    case 'setdefault':
      return withDefault(interp, receiver, first, argument(args, 1, 'default') ?? constant(null));
    case 'get':
    case 'pop':
      if (first?.type === 'constant') {
        return (
          state.entries.get(String(first.value)) ?? state.rest ?? argument(args, 1, 'default') ?? UNKNOWN
        );
      }
      return opaque(factsOf(receiver));
    case 'copy':
      return newMapping(state);
    case 'update':
      for (const added of [first?.type === 'mapping' ? first.cell.value.entries : undefined, args.keywords]) {
        if (added === undefined || added.size === 0) continue;
        interp.store.write(receiver.cell, withEntries(receiver.cell.value, withChoicesOfEach(interp, added)));
      }
      return UNKNOWN;
    default:
      return unknownCall(interp, args, call);
  }
}

/** The value of a key, which is put there where the key is new: what is done to it later is done to the entry. */
function withDefault(interp: Interpreter, { cell }: Mapping, key: Value | undefined, fallback: Value): Value {
  const { entries, rest } = cell.value;
  const name = key?.type === 'constant' ? String(key.value) : undefined;
  const known = (name === undefined ? undefined : entries.get(name)) ?? rest;
  if (known !== undefined) return known;
  interp.store.write(
    cell,
    name === undefined
      ? { ...cell.value, rest: fallback }
      : withEntries(cell.value, new Map([[name, fallback]])),
  );
  return fallback;
}

/** Entries that are put into a dictionary where a score decides on it. */
function withChoicesOfEach(
  { context: { choices } }: Interpreter,
  entries: ReadonlyMap<string, Value>,
): ReadonlyMap<string, Value> {
  return choices.length === 0
    ? entries
    : new Map([...entries].map(([key, value]) => [key, withChoices(value, choices)]));
}

function withEntries(state: MappingState, added: ReadonlyMap<string, Value>): MappingState {
  return boundedMapping({ ...state, entries: new Map([...state.entries, ...added]) });
}

const SAME_ROWS_METHODS = new Set(
  'astype reshape copy ravel flatten squeeze transpose numpy float long int double half to cuda cpu values to_numpy toarray todense tolist view unsqueeze contiguous clip round abs fillna drop reset_index items batch map shuffle prefetch cache repeat filter select rename'.split(
    ' ',
  ),
);

/** Methods that only a data frame has: what they are called on is one. */
const FRAME_METHODS = new Set(
  'groupby group_by drop dropna fillna shift rolling expanding ewm sample head tail merge assign query bfill ffill interpolate sort_values set_index select_dtypes with_columns iterrows'.split(
    ' ',
  ),
);

/** Methods that pick the best of some scores. */
const CHOOSING = new Set([
  'max',
  'min',
  'argmax',
  'argmin',
  'argsort',
  'idxmax',
  'idxmin',
  'nlargest',
  'nsmallest',
  'sort_values',
]);

/** Methods of texts. */
const TEXT_METHODS = new Set(
  'split rsplit partition rpartition strip lstrip rstrip removeprefix removesuffix'.split(' '),
);

const REPORTING = new Set(['info', 'warning', 'debug', 'write', 'log', 'log_metric', 'dump']);

/** Whether a value stands for all rows of a table: their number, or their positions. */
function isRange(value: Value): boolean {
  return value.type === 'positions' || (value.type === 'opaque' && value.countOf !== undefined);
}

/** Methods of numbers, texts, losses, and objects of unknown libraries. */
export function opaqueMethod(
  interp: Interpreter,
  receiver: Opaque,
  name: string,
  args: Arguments,
  call: Call,
): Value {
  if (name === 'backward') {
    learnFromLoss(interp, receiver, call);
    return UNKNOWN;
  }
  if (CHOOSING.has(name) && receiver.facts.scores.length > 0 && receiver.facts.predictions.length === 0) {
    return choose(interp, receiver, call) ?? receiver;
  }
  if (receiver.aggregate !== undefined && /^(reset_index|to_frame)$/.test(name)) {
    const facts = { ...receiver.facts, rows: [receiver.aggregate] };
    return newTable({ ...emptyTable(facts, 'frame'), partial: false });
  }
  if (receiver.pending !== undefined) return expressionMethod(interp, receiver, name, args, call);
  if (receiver.source !== undefined && (STATISTIC_METHODS.has(name) || FRAME_METHODS.has(name))) {
    const shape = receiver.element === true ? 'row' : FRAME_METHODS.has(name) ? 'frame' : 'array';
    return tableMethod(interp, newTable(emptyTable(interp.dataOf(receiver), shape)), name, args, call);
  }
  if (receiver.source !== undefined && name === 'pop') return receiver;
  if (REPORTING.has(name)) report(interp, args.all, call);
  if (/^to_?list$/.test(name) && receiver.names !== undefined && receiver.facts.fits.length === 0)
    return list(receiver.names.map(constant));
  const [population] = args.positional;
  // A part of a text, as of the name of a file: no rows come out of it.
  const isText =
    TEXT_METHODS.has(name) && population?.type === 'constant' && typeof population.value === 'string';
  if (isText && receiver.source === undefined && receiver.facts === NO_FACTS) return UNKNOWN;
  if (name === 'choice' && population !== undefined && isRange(population)) {
    return drawnPositions(interp, population, args, call);
  }
  if (name === 'permutation' && isDistinct(population)) return { ...population, isShuffled: true };
  if (name === 'permutation' || name === 'randperm')
    return { type: 'positions', steps: [], isShuffled: true };
  const result = unknownCall(interp, args, call);
  if (receiver.source !== undefined && result.type === 'opaque' && result.facts === NO_FACTS) {
    // `arrays.astype('float32')` is the same rows; `rng.normal(size=100)` is rows of its own.
    return SAME_ROWS_METHODS.has(name) ? receiver : result;
  }
  if (receiver.source !== undefined) return result;
  if (args.all.length === 0 || receiver.pending !== undefined) {
    const facts = joinFacts(receiver.facts, factsOf(result));
    return receiver.pending === undefined
      ? opaque(facts)
      : { type: 'opaque', facts, pending: receiver.pending };
  }
  const facts = joinFacts(receiver.facts, factsOf(result));
  return result.type === 'opaque' ? (facts === NO_FACTS ? result : opaque(facts)) : result;
}
