import { type EstimatorFamily, estimatorFamily } from '../knowledge/estimators.js';
import { functionFamily } from '../knowledge/functions.js';
import type { Call } from '../syntax/ast.js';
import { joinFacts, NO_FACTS, union } from '../values/facts.js';
import { list, newEstimator, newMapping, newSequence, newTable } from '../values/join.js';
import { type EstimatorRole, factsOf, MAX_PARTS, opaque, UNKNOWN, type Value } from '../values/value.js';
import { countWork } from '../values/work.js';
import { behind } from './bounds.js';
import { callBuiltin } from './builtins.js';
import {
  type Arguments,
  argument,
  argumentExpression,
  argumentsOf,
  callValue,
  unknownCall,
} from './calls.js';
import { polarsExpression } from './column-expressions.js';
import { crossScore } from './estimator-methods.js';
import { elementsOf } from './iterate.js';
import { subjectOf, trainingOf, watchedRows } from './learning.js';
import type { Machine } from './machine.js';
import { handMadePrediction } from './products.js';
import { leftOut, membership, pickPositions } from './row-labels.js';
import { namedGroups, validationOptions } from './splitters.js';
import { bins, chosen, curveFit, metric, optimized, statistic, withEvent } from './statistic-calls.js';
import { pickRows } from './subscripts.js';
import {
  asTable,
  blank,
  concatenate,
  container,
  holdout,
  isAcross,
  parts,
  positions,
  sideBySide,
  sourceTable,
} from './table-calls.js';

/** Calls a library function or constructs a library object. */
export function callLibrary(machine: Machine, path: string, args: Arguments, call: Call): Value {
  if (path.startsWith('builtins.')) return callBuiltin(machine, path.slice(9), args, call);
  if (/^(joblib|pickle|dill|cloudpickle)\.loads?$/.test(path)) {
    machine.skip(call, 'what was stored, and from which rows it was made');
  }
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
    case 'optimizer':
      return optimized(machine, args, call);
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
      const given = argumentExpression(args, 9, 'groups');
      const named = options.random ? namedGroups(machine, facts.rows) : undefined;
      const groups = given === undefined ? named : machine.label(given);
      return crossScore(machine, facts, subject, machine.label(expression), call, {
        labels: labels?.type === 'table' ? labels.cell.value.from : [],
        random: options.random,
        keepsGroups: options.keepsGroups,
        ...(groups === undefined || options.knowsGroups ? {} : { groups }),
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
  const collected = new Set<object>();
  const collect = (value: Value | undefined): void => {
    // A list may hold itself, or one list in many places.
    if (value?.type === 'sequence') {
      if (collected.has(value.cell)) return;
      collected.add(value.cell);
    }
    countWork(1);
    if (steps.length >= MAX_PARTS) return;
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
  if (/^(torch|joblib|pickle)\.(save|dump)$/.test(path)) {
    machine.savedChoices = union(machine.savedChoices, machine.choices);
    return UNKNOWN;
  }
  if (path === 'functools.reduce') {
    const [fn, over, start] = args.positional;
    if (fn === undefined || over === undefined) return UNKNOWN;
    const elements = elementsOf(machine, over, call);
    const items = (elements.known ?? [elements.common ?? UNKNOWN]).slice(0, 12);
    const all = start === undefined ? items : [start, ...items];
    return all.reduce((left, right) => callValue(machine, fn, argumentsOf([left, right]), call));
  }
  const [every, some] = args.positional;
  const [left, right] = args.expressions;
  if (/^(numpy|torch)\.(dot|matmul|mm|mv)$/.test(path) && every && some && left && right) {
    const predicted = handMadePrediction(machine, every, some, { node: call, left, right });
    if (predicted !== undefined) return predicted;
  }
  if (/^numpy\.(isin|in1d)$/.test(path) && every?.type === 'positions' && args.keywords.size === 0)
    return membership(machine, every, some, right ?? call);
  if (path === 'numpy.setdiff1d' && every?.type === 'positions')
    return behind(every, [leftOut(machine, every.of ?? [], some, right ?? call)]);
  if (
    path === 'numpy.delete' &&
    every !== undefined &&
    !isAcross(args) &&
    machine.dataOf(every).rows.length > 0
  ) {
    const state = asTable(machine, every);
    const axis = argument(args, 2, 'axis');
    if (axis?.type === 'constant' && axis.value !== 0) return newTable({ ...state, partial: true });
    return newTable(pickRows(machine, state, [leftOut(machine, state.rows, some, right ?? call)]));
  }
  const column = polarsExpression(machine, path, args, call);
  if (column !== undefined) return column;
  if (name === 'Subset' && args.positional.length === 2) {
    const [data, at] = args.positional;
    if (data !== undefined && at?.type === 'positions')
      return newTable(pickPositions(machine, asTable(machine, data), at, call));
  }
  if (
    /^(timm|torchvision\.models|transformers|segmentation_models_pytorch|torch\.hub)\b/.test(path) &&
    !/okeniz|rocessor|transforms/.test(path)
  ) {
    return construct(path, 'network', args);
  }
  // A class by its name, but a generator of random numbers learns nothing: like `default_rng`.
  const isClass = /^[A-Z]/.test(name) && path !== 'numpy.random.RandomState';
  if (isClass || name === 'create_study') return construct(path, 'object', args);
  return unknownCall(machine, args, call);
}
