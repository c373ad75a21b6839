import { type EstimatorFamily, estimatorFamily } from '../knowledge/estimators.js';
import { functionFamily } from '../knowledge/functions.js';
import type { Call } from '../syntax/ast.js';
import { type Facts, joinFacts, NO_FACTS, union } from '../values/facts.js';
import { emptyTable, list, newEstimator, newMapping, newSequence, newTable } from '../values/join.js';
import { overlapOf, sameRows } from '../values/region.js';
import {
  type EstimatorRole,
  factsOf,
  opaque,
  type Step,
  type TableState,
  UNKNOWN,
  type Value,
} from '../values/value.js';
import { columnFrom } from './assign.js';
import { callBuiltin, choose } from './builtins.js';
import {
  type Arguments,
  argument,
  argumentExpression,
  argumentsOf,
  callValue,
  flag,
  unknownCall,
} from './calls.js';
import { choiceEvents } from './choices.js';
import { crossScore } from './estimator-methods.js';
import { subjectOf, trainingOf, watchedRows } from './learning.js';
import type { Machine } from './machine.js';
import { meetLabels, textStep } from './operators.js';
import { validationOptions } from './splitters.js';
import { concatenated, pickRows } from './subscripts.js';

/** Calls a library function or constructs a library object. */
export function callLibrary(machine: Machine, path: string, args: Arguments, call: Call): Value {
  if (path.startsWith('builtins.')) return callBuiltin(machine, path.slice(9), args, call);
  const family = estimatorFamily(path);
  if (family !== undefined) return constructed(machine, path, family, args, call);
  const known = functionFamily(path);
  switch (known?.effect) {
    case 'source':
      return sourceTable(machine, path, args, call);
    case 'holdout-split':
      return holdout(machine, args, call);
    case 'random-split':
    case 'array-split':
      return parts(machine, args, call);
    case 'positions':
      return positions(machine, path, args, call);
    case 'blank':
      return blank(machine, args);
    case 'concatenate':
      return concatenate(machine, args, call);
    case 'side-by-side':
      return sideBySide(machine, args);
    case 'container':
      return container(machine, path, args, call);
    case 'statistic':
      return statistic(machine, known.kind ?? 'statistics', args, call);
    case 'bins':
      return bins(machine, args, call);
    case 'learned-transform':
      return withEvent(machine, known.kind ?? 'scaling', subjectOf(machine, call), args, call);
    case 'with-replacement':
      return withEvent(
        machine,
        known.kind ?? 'duplicated-rows',
        `\`${machine.label(call.callee)}\``,
        args,
        call,
      );
    case 'choice':
      return chosen(machine, args, call);
    case 'curve-fit':
      return curveFit(machine, args, call);
    case 'optimiser':
      return optimised(machine, args, call);
    case 'metric':
      return metric(machine, args, call);
    case 'cross-validation':
    case 'cross-prediction': {
      const value = argument(args, 1, 'X', 'dtrain', 'train_set', 'pool');
      const expression = argumentExpression(args, 1, 'X', 'dtrain', 'train_set', 'pool');
      if (value === undefined || expression === undefined) return UNKNOWN;
      const facts = machine.dataOf(value);
      const [model] = args.expressions;
      const subject = model === undefined ? 'the model' : `\`${machine.label(model)}\``;
      const labels = argument(args, 2, 'y');
      const options = validationOptions(argument(args, 9, 'cv', 'folds'));
      const groups = argumentExpression(args, 9, 'groups');
      return crossScore(machine, facts, subject, machine.label(expression), call, {
        labels: labels?.type === 'table' ? labels.cell.value.from : [],
        random: options.random,
        ...(groups === undefined || options.knowsGroups ? {} : { groups: machine.label(groups) }),
      });
    }
    case 'booster-training':
      return booster(machine, path, args, call);
    case 'same-table': {
      const [first] = args.positional;
      return first?.type === 'table' ? newTable(first.cell.value) : unknownCall(machine, args, call);
    }
    case 'copy':
      return copied(path, args);
    case 'plain':
      return opaque(args.all.map((value) => factsOf(value)).reduce(joinFacts, NO_FACTS));
    default:
      return otherCall(machine, path, args, call);
  }
}

/** A library object; some learn from the rows that they are constructed with. */
function constructed(
  machine: Machine,
  path: string,
  family: EstimatorFamily,
  args: Arguments,
  call: Call,
): Value {
  const made = construct(path, family.role, args);
  if (family.kind !== 'vocabulary' || made.type !== 'estimator' || args.all.length === 0) return made;
  const rows = args.all.map((value) => machine.dataOf(value)).find((facts) => facts.rows.length > 0);
  if (rows === undefined) return made;
  const subject = `\`${machine.label(call.callee)}\``;
  const event = machine.fit(family.kind, subject, rows, subject, call);
  made.cell.value = { ...made.cell.value, fits: [event] };
  return made;
}

function construct(path: string, role: EstimatorRole, args: Arguments): Value {
  const [first] = args.positional;
  const steps: Value[] = [];
  const collect = (value: Value | undefined): void => {
    if (value?.type === 'estimator' || value?.type === 'instance') steps.push(value);
    else if (value?.type === 'sequence') value.cell.value.items.forEach(collect);
  };
  if (role === 'pipeline') args.all.forEach(collect);
  else if (role === 'search') collect(first ?? args.keywords.get('estimator'));
  return newEstimator({
    path,
    role,
    options: args.keywords,
    steps,
    training: undefined,
    fits: [],
    held: args.all.map((value) => factsOf(value)).reduce(joinFacts, NO_FACTS),
  });
}

function sourceTable(machine: Machine, path: string, args: Arguments, call: Call): Value {
  const [first] = args.positional;
  const name = first?.type === 'constant' ? String(first.value) : '';
  const region = machine.source(`${machine.placeKey(call)}:${name}`, name || machine.label(call));
  if (!/^(pandas|polars|cudf|dask|seaborn)\./.test(path)) {
    return { type: 'opaque', facts: NO_FACTS, source: region };
  }
  return newTable({ ...emptyTable({ ...NO_FACTS, rows: [region] }, 'frame'), partial: false });
}

/** The state of a value taken as a table. */
export function asTable(machine: Machine, value: Value): TableState {
  return value.type === 'table' ? value.cell.value : emptyTable(machine.dataOf(value));
}

function holdout(machine: Machine, args: Arguments, call: Call): Value {
  const partition = machine.partition(`holdout:${machine.placeKey(call)}`, 'holdout', call);
  partition.random = flag(args, 'shuffle') !== false;
  const sides: Step[] = [
    { partition, side: 'train', role: 'train' },
    { partition, side: 'test', role: 'test' },
  ];
  const results: Value[] = [];
  for (const value of args.positional) {
    for (const side of sides) {
      if (value.type === 'positions') results.push({ ...value, steps: [...value.steps, side] });
      else results.push(newTable(pickRows(machine, asTable(machine, value), [side])));
    }
  }
  return list(results, true);
}

/** Parts of a data set by lengths or cuts. */
function parts(machine: Machine, args: Arguments, call: Call): Value {
  const [value, cuts] = args.positional;
  if (value === undefined) return UNKNOWN;
  const partition = machine.partition(`parts:${machine.placeKey(call)}`, 'holdout', call);
  const count = cuts?.type === 'sequence' ? cuts.cell.value.items.length : 1;
  const isRandom = call.callee.type === 'name' || machine.text(call.callee).endsWith('random_split');
  const state = asTable(machine, value);
  const pieces = Array.from({ length: isRandom ? count : count + 1 }, (_, at): Value => {
    const role = at === 0 ? 'train' : 'test';
    const step: Step = { partition, side: `part${at}`, role };
    return value.type === 'positions'
      ? { ...value, steps: [...value.steps, step] }
      : newTable(pickRows(machine, state, [step]));
  });
  return list(pieces, true);
}

function positions(machine: Machine, path: string, args: Arguments, call: Call): Value {
  const [first] = args.positional;
  // `np.arange(0.1, 0.9, 0.01)` is a grid of numbers.
  if (args.positional.length > 1 && path.endsWith('arange')) return opaque(NO_FACTS);
  if (first?.type === 'constant') return opaque(NO_FACTS);
  if (first?.type === 'table' && path.endsWith('permutation')) return first;
  if (path.endsWith('choice')) return { type: 'positions', steps: [textStep(machine, call)] };
  return first?.type === 'positions' ? first : { type: 'positions', steps: [] };
}

function blank(machine: Machine, args: Arguments): Value {
  const [first] = args.positional;
  const length = first?.type === 'sequence' && first.cell.value.tuple ? first.cell.value.items[0] : first;
  if (length?.type === 'opaque' && length.countOf !== undefined) {
    return newTable(emptyTable({ ...NO_FACTS, rows: length.countOf }));
  }
  if (first?.type === 'table') {
    const { rows, certain } = machine.dataOf(first);
    return newTable(emptyTable({ ...NO_FACTS, rows, certain }));
  }
  return newTable(emptyTable(NO_FACTS));
}

function isAcross(args: Arguments): boolean {
  for (const name of ['axis', 'dim', 'how']) {
    const value = args.keywords.get(name);
    if (value?.type === 'constant')
      return !(value.value === 0 || value.value === 'vertical' || value.value === 'index');
  }
  const second = args.positional[1];
  return second?.type === 'constant' && (second.value === 1 || second.value === -1);
}

function concatenate(machine: Machine, args: Arguments, call: Call): Value {
  if (isAcross(args)) return sideBySide(machine, args);
  const [first, ...others] = args.positional;
  const values =
    first?.type === 'sequence'
      ? [...first.cell.value.items, ...(first.cell.value.rest === undefined ? [] : [first.cell.value.rest])]
      : args.positional.length > 1 && others.every((value) => value.type === 'table')
        ? args.positional
        : [first ?? UNKNOWN];
  const facts = values.map((value) => machine.dataOf(value)).filter((part) => part.rows.length > 0);
  const shape = values.some((value) => value.type === 'table' && value.cell.value.shape === 'frame')
    ? 'frame'
    : 'array';
  const result = concatenated(facts, shape);
  if (result.type !== 'table') return result;
  machine.recordJoin(result.cell.value.rows);
  const state = withSharedColumns(result.cell.value, values);
  const repeated = facts.filter((part, at) =>
    facts.some((other, index) => index < at && overlapOf(part.rows, other.rows) === 'yes'),
  );
  // A list that a loop filled holds one part after another, not one part twice.
  const isWrittenOut = call.args.some(({ value }) => value.type === 'sequence') || args.positional.length > 1;
  if (repeated.length === 0 || state.predictions.length > 0 || !isWrittenOut) return newTable(state);
  const rows = repeated.flatMap((part) => [...part.rows]);
  const event = machine.fit(
    'duplicated-rows',
    `\`${machine.label(call)}\``,
    { rows, certain: repeated.every((part) => part.certain) },
    machine.label(call),
    call,
  );
  return newTable({ ...state, fits: union(state.fits, [event]) });
}

/** Columns of frames put one under the other: each keeps what any of them was made with. */
function withSharedColumns(state: TableState, values: readonly Value[]): TableState {
  const tables = values.flatMap((value) => (value.type === 'table' ? [value.cell.value] : []));
  if (tables.length !== values.length || tables.every((table) => table.columns.size === 0)) return state;
  let { fits } = { fits: tables.flatMap((table) => [...table.fits]) };
  fits = [...new Set(fits)];
  const columns = new Map<string, TableState['columns'] extends ReadonlyMap<string, infer C> ? C : never>();
  for (const table of tables) {
    for (const [name, column] of table.columns) {
      const other = columns.get(name);
      columns.set(
        name,
        other === undefined
          ? column
          : {
              fits: union(other.fits, column.fits),
              predictions: union(other.predictions, column.predictions),
              from: union(other.from, column.from),
            },
      );
    }
  }
  const predictions = tables.flatMap((table) => [...table.predictions]);
  const dropped = new Set(
    [...(tables[0]?.dropped ?? [])].filter((name) => tables.every((table) => table.dropped.has(name))),
  );
  return { ...state, fits, predictions, columns, dropped };
}

/** Columns beside columns: rows stay what they are. */
export function sideBySide(machine: Machine, args: Arguments): Value {
  const [first] = args.positional;
  const values =
    first?.type === 'sequence'
      ? [...first.cell.value.items, ...(first.cell.value.rest === undefined ? [] : [first.cell.value.rest])]
      : args.positional;
  let facts = NO_FACTS;
  let rows: Facts | undefined;
  let certain = true;
  for (const value of values) {
    const next = machine.dataOf(value);
    if (next.rows.length > 0) {
      if (rows !== undefined && !sameRows(rows.rows, next.rows) && value.type !== 'opaque') certain = false;
      rows ??= next;
    }
    facts = joinFacts(facts, next);
  }
  const frame = values.find((value) => value.type === 'table' && value.cell.value.shape === 'frame');
  const base = emptyTable({ ...facts, rows: rows?.rows ?? [] }, frame === undefined ? 'array' : 'frame');
  const result = { ...base, certain: (rows?.certain ?? true) && certain };
  const tables = values.flatMap((value) => (value.type === 'table' ? [value.cell.value] : []));
  if (frame === undefined || tables.length !== values.length) return newTable(result);
  // Frames side by side keep their columns apart.
  const columns = new Map(tables.flatMap((table) => [...table.columns]));
  const fits = [...new Set(tables.flatMap((table) => [...table.fits]))];
  const dropped = new Set([...(tables[0]?.dropped ?? [])].filter((name) => !columns.has(name)));
  return newTable({ ...result, fits, columns, dropped });
}

function container(machine: Machine, path: string, args: Arguments, call: Call): Value {
  const shape = /\.(DataFrame|from_pandas)$/.test(path)
    ? 'frame'
    : path.endsWith('.Series')
      ? 'column'
      : 'array';
  const [first] = args.positional;
  if (first?.type === 'mapping' && shape === 'frame') {
    const facts = factsOf(first);
    const contents = [...first.cell.value.entries.values()];
    const joined = machine.dataOf(list(contents));
    // Columns that are made on the spot belong to rows of their own.
    const isMade = !joined.certain && contents.every((value) => value.type !== 'table');
    const made = machine.source(machine.placeKey(call), machine.label(call));
    const rows = isMade ? { ...joined, rows: [made], certain: true } : joined;
    if (rows.rows.length > 0) {
      const columns = new Map(
        [...first.cell.value.entries].map(([name, value]) => [name, columnFrom(machine, value)]),
      );
      return newTable({
        ...emptyTable(
          { ...facts, fits: [], predictions: [], rows: rows.rows, certain: rows.certain },
          'frame',
        ),
        columns,
        closed: first.cell.value.rest === undefined,
      });
    }
  }
  let facts = NO_FACTS;
  for (const value of args.all) facts = joinFacts(facts, machine.dataOf(value));
  if (path.endsWith('DataLoader') && facts.rows.length > 0) machine.recordLoader(facts.rows, call);
  if (facts.rows.length > 0 && first?.type === 'table') {
    const state = first.cell.value;
    return newTable({
      ...state,
      fits: union(state.fits, facts.fits),
      shape: shape === 'array' && state.shape === 'column' ? 'array' : shape,
    });
  }
  if (facts.rows.length > 0 || facts.scores.length > 0) return newTable(emptyTable(facts, shape));
  if (first?.type === 'mapping' || first?.type === 'sequence') {
    const source = machine.source(machine.placeKey(call), machine.label(call));
    return shape === 'frame'
      ? newTable(emptyTable({ ...facts, rows: [source] }, shape))
      : { type: 'opaque', facts, source };
  }
  return opaque(facts);
}

/** Whether a reduction goes along the columns of each row. */
export function isRowWise(args: Arguments, axisPosition: number): boolean {
  const axis = argument(args, axisPosition, 'axis', 'dim', 'axes');
  if (axis?.type === 'constant') {
    return axis.value === 1 || axis.value === -1 || axis.value === 'columns' || axis.value === 2;
  }
  // Over all axes but the first: a statistic for each row.
  if (axis?.type === 'sequence') {
    return axis.cell.value.items.every((item) => item.type === 'constant' && item.value !== 0);
  }
  return false;
}

function statistic(
  machine: Machine,
  kind: Parameters<Machine['fit']>[0],
  args: Arguments,
  call: Call,
): Value {
  const [first] = args.positional;
  const facts = args.all.map((value) => machine.dataOf(value)).reduce(joinFacts, NO_FACTS);
  if (first === undefined) return opaque(facts);
  if (facts.scores.length > 0) return opaque(facts);
  // A list of arrays: one result per row, as in a blend.
  const overParts = first.type === 'sequence';
  const quantile = /(quantile|percentile)$/.test(machine.text(call.callee));
  if (
    facts.predictions.length > 0 ||
    isRowWise(args, quantile ? 2 : 1) ||
    (overParts && kind === 'statistics')
  ) {
    return facts.rows.length > 0 ? newTable(emptyTable(facts)) : opaque(facts);
  }
  if (facts.rows.length === 0) return opaque(facts);
  const [expression] = args.expressions;
  const rowsText = expression === undefined ? '' : machine.label(expression);
  const subject = `\`${machine.label(call)}\``;
  const event = machine.fit(kind, subject, facts, rowsText, call);
  return opaque({ ...NO_FACTS, fits: union(facts.fits, [event]) });
}

function bins(machine: Machine, args: Arguments, call: Call): Value {
  const edges = argument(args, 1, 'bins', 'q');
  const byRank = /(qcut|rankdata)$/.test(machine.text(call.callee));
  const fixed = !byRank && !(edges?.type === 'constant' && typeof edges.value === 'number');
  if (fixed) return unknownCall(machine, args, call);
  return withEvent(machine, 'binning', `\`${machine.label(call)}\``, args, call);
}

/** The rows of the first argument, made with something computed over all of them. */
function withEvent(
  machine: Machine,
  kind: Parameters<Machine['fit']>[0],
  subject: string,
  args: Arguments,
  call: Call,
): Value {
  const results = args.positional
    .filter((value) => value.type === 'table' || machine.dataOf(value).rows.length > 0)
    .map((value) => {
      const state = asTable(machine, value);
      const facts = machine.dataOf(value);
      if (isRowWise(args, 1) || (kind === 'duplicated-rows' && flag(args, 'replace') === false))
        return newTable(state);
      const [expression] = args.expressions;
      const event = machine.fit(
        kind,
        subject,
        facts,
        expression === undefined ? '' : machine.label(expression),
        call,
      );
      return newTable({ ...state, fits: union(state.fits, [event]) });
    });
  const [first] = results;
  if (first === undefined) return unknownCall(machine, args, call);
  return results.length === 1 ? first : list(results, true);
}

/** Positions of the best: a choice where they are scores, the class of each row where they are predictions. */
function chosen(machine: Machine, args: Arguments, call: Call): Value {
  const [first] = args.positional;
  if (first === undefined || factsOf(first).scores.length === 0) return unknownCall(machine, args, call);
  return choose(machine, first, call) ?? UNKNOWN;
}

/** Coefficients that bring predictions close to labels are chosen on the rows of these labels. */
function curveFit(machine: Machine, args: Arguments, call: Call): Value {
  const facts = args.all.map((value) => machine.dataOf(value)).reduce(joinFacts, NO_FACTS);
  const [prediction] = facts.predictions;
  if (prediction === undefined) return statistic(machine, 'statistics', args, call);
  const subject = `what \`${machine.label(call.callee)}\` finds`;
  const event = machine.fit('selection', subject, prediction, prediction.rowsText, call);
  return opaque({ ...NO_FACTS, fits: union(facts.fits, [event]) });
}

/** Runs the function to be optimised once: what it scores, the result was chosen on. */
export function optimised(machine: Machine, args: Arguments, call: Call): Value {
  let facts = NO_FACTS;
  for (const value of args.all) {
    const isCode = value.type === 'function' || value.type === 'instance' || value.type === 'class';
    facts = joinFacts(facts, isCode ? factsOf(callValue(machine, value, argumentsOf([]), call)) : NO_FACTS);
  }
  const events = choiceEvents(machine, facts.scores, `what \`${machine.label(call.callee)}\` finds`, call);
  return opaque({ ...NO_FACTS, scores: facts.scores, fits: events });
}

function metric(machine: Machine, args: Arguments, call: Call): Value {
  const [a, b] = args.positional.length >= 2 ? args.positional : args.all;
  if (a === undefined || b === undefined) return unknownCall(machine, args, call);
  const [left, right] = [machine.dataOf(a), machine.dataOf(b)];
  const scores = meetLabels(machine, left, right, call);
  const facts = joinFacts(left, right);
  return opaque({ ...facts, rows: [], predictions: [], scores: union(facts.scores, scores), certain: true });
}

function booster(machine: Machine, path: string, args: Arguments, call: Call): Value {
  const value = argument(args, 1, 'train_set', 'dtrain', 'pool');
  const expression = argumentExpression(args, 1, 'train_set', 'dtrain', 'pool');
  const model = newEstimator({
    path: `${path}.Booster`,
    role: 'model',
    options: args.keywords,
    steps: [],
    training: undefined,
    fits: [],
    held: NO_FACTS,
  });
  if (value === undefined || expression === undefined) return model;
  const params = argument(args, 0, 'params');
  const withParams: Arguments =
    params === undefined ? args : { ...args, keywords: new Map(args.keywords).set('params', params) };
  const facts = machine.dataOf(value);
  if (facts.rows.length === 0) return model;
  const chosen = params === undefined ? [] : factsOf(params).fits.filter((fit) => fit.kind === 'selection');
  const extra = union(watchedRows(machine, undefined, withParams), chosen);
  const subject = `\`${machine.label(call.callee)}\``;
  const training = trainingOf(machine, subject, facts, machine.label(expression), extra, call);
  model.cell.value = { ...model.cell.value, training, fits: training.fits };
  return model;
}

function copied(path: string, args: Arguments): Value {
  const copies = args.positional.map((value): Value => {
    switch (value.type) {
      case 'table':
        return newTable(value.cell.value);
      case 'estimator': {
        const state = value.cell.value;
        return newEstimator(path.endsWith('clone') ? { ...state, training: undefined, fits: [] } : state);
      }
      case 'sequence':
        return newSequence(value.cell.value);
      case 'mapping':
        return path.startsWith('builtins.') ? value : newMapping(value.cell.value);
      default:
        return value;
    }
  });
  return copies.length > 1 && path.endsWith('shuffle') ? list(copies, true) : (copies[0] ?? list([]));
}

/** Library code that the table of knowledge does not describe. */
function otherCall(machine: Machine, path: string, args: Arguments, call: Call): Value {
  const name = path.split('.').at(-1) ?? '';
  if (path === 'functools.partial') {
    const [fn, ...bound] = args.positional;
    return fn?.type === 'function' ? { ...fn, bound } : UNKNOWN;
  }
  if (path === 'polars.col' || path === 'polars.all' || path === 'polars.element') {
    return { type: 'opaque', facts: NO_FACTS, pending: [] };
  }
  if (name === 'Subset' && args.positional.length === 2) {
    const [data, at] = args.positional;
    if (data !== undefined && at?.type === 'positions')
      return newTable(pickRows(machine, asTable(machine, data), at.steps));
  }
  if (
    /^(timm|torchvision\.models|transformers|segmentation_models_pytorch|torch\.hub)\b/.test(path) &&
    !/okeniz|rocessor|transforms/.test(path)
  ) {
    return construct(path, 'network', args);
  }
  if (/^[A-Z]/.test(name) || name === 'create_study') return construct(path, 'object', args);
  return unknownCall(machine, args, call);
}
