import { type EstimatorFamily, estimatorFamily } from '../library-models/estimators.js';
import { functionFamily } from '../library-models/functions.js';
import type { Call } from '../syntax/ast.js';
import { type Facts, type FitEvent, joinFacts, NO_FACTS, union, withFits } from '../values/facts.js';
import { list, newCell, newEstimator, newMapping, newSequence, newTable } from '../values/join.js';
import { noteShuffled } from '../values/region.js';
import {
  type EstimatorRole,
  factsOf,
  type Instance,
  MAX_PARTS,
  opaque,
  UNKNOWN,
  type Value,
} from '../values/value.js';
import { countWork } from '../values/work.js';
import { type Arguments, argument, argumentExpression, argumentsOf, flag } from './arguments.js';
import { arrayFunction } from './array-functions.js';
import { afterSteps } from './bounds.js';
import { callBuiltin } from './builtins.js';
import { withChoices } from './choices.js';
import { polarsExpression } from './column-expressions.js';
import { withFitsThat } from './copies-in-frame.js';
import { directoryDataset } from './directories.js';
import { crossScore } from './fitted-attributes.js';
import { seriesModel } from './forecasts.js';
import type { Interpreter } from './interpreter.js';
import { elementsOf } from './iterate.js';
import { labelsOf } from './label-copies.js';
import { trainingOf, watchedRows } from './learning.js';
import {
  amongStep,
  distinctOfArray,
  distinctValues,
  maskOf,
  membership,
  stepsOfArray,
} from './membership.js';
import { handMadePrediction, unaryValue } from './operators.js';
import { parallelFunction } from './parallel-calls.js';
import { repeatedPositions } from './repeated-positions.js';
import { stepsBetween } from './row-events.js';
import { leftOut, pickPositions } from './row-labels.js';
import { namesOf, pickRows } from './rows-and-columns.js';
import { columnOfGroups, groupsOf, validationOptions } from './splitters.js';
import { bins, chosen, curveFit, metric, optimized, statistic, withEvent } from './statistic-calls.js';
import { statisticalModel } from './statistical-models.js';
import { otherSide } from './steps.js';
import { fileOf } from './stored-files.js';
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
import { tableMethod } from './table-methods.js';
import { unknownCall } from './unknown-calls.js';

/** Calls a library function or constructs a library object. */
export function callLibrary(interp: Interpreter, path: string, args: Arguments, call: Call): Value {
  if (path.startsWith('builtins.')) return callBuiltin(interp, path.slice(9), args, call);
  if (/^(joblib|pickle|dill|cloudpickle)\.loads?$|models\.load_model$/.test(path)) {
    const file = fileOf(interp, args);
    const stored = file === undefined ? undefined : interp.stored.read(file);
    if (stored !== undefined) return withChoices(stored, interp.savedChoices);
    interp.skip(call, 'what was stored, and from which rows it was made');
  }
  const parallel = parallelFunction(path, args);
  if (parallel !== undefined) return parallel;
  const [number] = args.positional;
  if (/^(math|numpy)\.(ceil|floor|trunc|round|rint)$/.test(path) && number?.type === 'opaque') {
    if (number.cut !== undefined || number.countOf !== undefined) return number;
  }
  const family = estimatorFamily(path);
  if (family !== undefined) return constructed(interp, path, family, args, call);
  const known = functionFamily(path);
  switch (known?.effect) {
    case 'source':
      return sourceTable(interp, path, args, call);
    case 'directory':
      return directoryDataset(interp, args, call);
    case 'holdout-split':
      return holdout(interp, args, call);
    case 'random-split':
    case 'array-split':
      return parts(interp, args, call);
    case 'positions':
      return positions(interp, path, args, call);
    case 'blank':
      return blank(interp, path, args);
    case 'concatenate':
      return concatenate(interp, args, call);
    case 'side-by-side':
      return path.startsWith('pandas.merge') ? mergedBy(interp, path, args, call) : sideBySide(interp, args);
    case 'container':
      return container(interp, path, args, call);
    case 'windows':
      return windowsOf(interp, args, call);
    case 'statistic':
      return statistic(interp, known.kind ?? 'statistics', args, call);
    case 'bins':
      return bins(interp, args, call);
    case 'learned-transform':
      // `boxcox(x, lmbda)` learns nothing.
      if (args.keywords.has('lmbda') || (path.endsWith('.boxcox') && args.positional.length > 1))
        return unknownCall(interp, args, call);
      return withEvent(interp, known.kind ?? 'scaling', `\`${interp.label(call.callee)}\``, args, call);
    case 'with-replacement':
      if (number?.type === 'positions' && /^numpy\./.test(path)) return repeatedPositions(number, args, call);
      return withEvent(
        interp,
        known.kind ?? 'duplicated-rows',
        `\`${interp.label(call.callee)}\``,
        args,
        call,
      );
    case 'choice': {
      const [sorted] = args.positional;
      const facts = sorted === undefined ? NO_FACTS : interp.dataOf(sorted);
      const isOrder = path === 'numpy.argsort' && args.positional.length === 1 && args.keywords.size === 0;
      // The order of numbers that nothing is known of, as of random ones: all positions.
      if (isOrder && sorted?.type === 'opaque' && isNothingKnown(facts))
        return { type: 'positions', steps: [] };
      return chosen(interp, args, call);
    }
    case 'curve-fit':
      return curveFit(interp, args, call);
    case 'optimizer':
      return optimized(interp, args, call);
    case 'metric':
      return metric(interp, path, args, call);
    case 'cross-validation':
    case 'cross-prediction': {
      const value = argument(args, 1, 'X', 'dtrain', 'train_set', 'pool');
      const expression = argumentExpression(args, 1, 'X', 'dtrain', 'train_set', 'pool');
      if (value === undefined || expression === undefined) return UNKNOWN;
      const facts = interp.dataOf(value);
      const [model] = args.expressions;
      const subject = model === undefined ? 'the model' : `\`${interp.label(model)}\``;
      const labels = argument(args, 2, 'y');
      const [estimator] = args.positional;
      const state = estimator?.type === 'estimator' ? estimator.cell.value : undefined;
      const copies = labelsOf(interp, value, labels, call, state).fits;
      const options = validationOptions(argument(args, 9, 'cv', 'folds'));
      const groupsArgument = argumentExpression(args, 9, 'groups');
      const named = options.random ? groupsOf(interp, value) : undefined;
      const groups = groupsArgument === undefined ? named : { text: interp.label(groupsArgument) };
      return crossScore(interp, withFits(facts, copies), subject, interp.label(expression), call, {
        labels: labels?.type === 'table' ? labels.cell.value.from : [],
        random: options.random,
        keepsGroups: options.keepsGroups,
        dividesBy: options.keepsGroups ? columnOfGroups(argument(args, 9, 'groups')) : undefined,
        predicts: known.effect === 'cross-prediction',
        ...(groups === undefined || options.knowsGroups ? {} : { groups }),
      });
    }
    case 'booster-training':
      return booster(interp, path, args, call);
    case 'same-table': {
      const [first] = args.positional;
      return first?.type === 'table' ? newTable(first.cell.value) : unknownCall(interp, args, call);
    }
    case 'copy':
      return copied(path, args);
    case 'plain':
      return opaque(args.all.map((value) => factsOf(value)).reduce(joinFacts, NO_FACTS));
    default:
      return otherCall(interp, path, args, call);
  }
}

/** Windows of a series, from `start_index` to `end_index`, with the labels beside them. */
function windowsOf(interp: Interpreter, args: Arguments, call: Call): Value {
  const data = argument(args, 0, 'data');
  if (data === undefined) return UNKNOWN;
  const [start, stop] = ['start_index', 'end_index'].map((name) => args.keywordExpressions.get(name));
  return newTable(pickRows(interp, asTable(interp, data), stepsBetween(interp, start, stop, call)));
}

function isNothingKnown({ fits, predictions, scores }: Facts): boolean {
  return [fits, predictions, scores].every(({ length }) => length === 0);
}

/** `pd.merge(left, right)`: as the method of the left table, whose rows stay. */
function mergedBy(interp: Interpreter, path: string, args: Arguments, call: Call): Value {
  const left = argument(args, 0, 'left');
  const right = argument(args, 1, 'right');
  if (left?.type !== 'table' || right === undefined) return sideBySide(interp, args);
  const known = path.endsWith('_asof') ? ofEarlierRows(right, args) : right;
  const keywords = new Map([...args.keywords].filter(([name]) => name !== 'left').concat([['right', known]]));
  return tableMethod(interp, left, 'merge', { ...args, positional: [], keywords }, call);
}

/**
 * `pd.merge_asof(left, totals, on="day")`: statistics by day, of the days before. Those of the same day are taken as well, unless
 * that is ruled out or the days of the totals were moved.
 */
function ofEarlierRows(right: Value, args: Arguments): Value {
  const [on, ...others] = namesOf(args.keywords.get('on') ?? args.keywords.get('right_on')) ?? [];
  const direction = args.keywords.get('direction');
  const isBackward =
    direction === undefined || (direction.type === 'constant' && direction.value === 'backward');
  if (right.type !== 'table' || on === undefined || others.length > 0 || !isBackward) return right;
  const state = right.cell.value;
  const isMoved = state.columns.get(on)?.from.includes(on) === true;
  if (flag(args, 'allow_exact_matches') !== false && !isMoved) return right;
  const isOther = ({ groupedBy }: FitEvent): boolean => groupedBy?.includes(on) !== true;
  return newTable(withFitsThat(state, isOther));
}

/** A library object; some learn from the rows that they are constructed with. */
function constructed(
  interp: Interpreter,
  path: string,
  family: EstimatorFamily,
  args: Arguments,
  call: Call,
): Value {
  const made = construct(path, family.role, args);
  interp.sharedLayers.addNetwork(made);
  if (family.role === 'splitter' && made.type === 'estimator')
    made.cell.value = { ...made.cell.value, madeBy: interp.statement };
  const isFittedWhenMade = family.kind === 'vocabulary' || /(BallTree|KDTree)$/.test(path);
  if (!isFittedWhenMade || family.kind === undefined || made.type !== 'estimator' || args.all.length === 0)
    return made;
  const rows = args.all.map((value) => interp.dataOf(value)).find((facts) => facts.rows.length > 0);
  if (rows === undefined) return made;
  const subject = `\`${interp.label(call.callee)}\``;
  const texts = argumentExpression(args, 0, 'sentences', 'documents', 'corpus_iterable', 'data');
  const rowsText = texts === undefined ? '' : interp.label(texts);
  const event = interp.fit(family.kind, subject, rows, rowsText, call);
  made.cell.value = { ...made.cell.value, fits: [event] };
  return made;
}

function construct(path: string, known: EstimatorRole, args: Arguments): Value {
  const role = removesConstants(path, args) || renamesCategories(path, args) ? 'stateless' : known;
  const [first] = args.positional;
  const steps: Value[] = [];
  const collected = new Set<object>();
  const collect = (value: Value | undefined): void => {
    // A list may hold itself, or one list many times.
    if (value?.type === 'sequence') {
      if (collected.has(value.cell)) return;
      collected.add(value.cell);
    }
    countWork(1);
    if (steps.length >= MAX_PARTS) return;
    if (value?.type === 'estimator' || value?.type === 'instance') steps.push(value);
    else if (value?.type === 'sequence') value.cell.value.items.forEach(collect);
  };
  if (role === 'pipeline' || role === 'network') args.all.forEach(collect);
  else if (role === 'search') collect(first ?? args.keywords.get('estimator'));
  return newEstimator({
    path,
    role,
    options: new Map([
      ...args.positional.map((value, at): [string, Value] => [String(at), value]),
      ...args.keywords,
    ]),
    steps,
    training: undefined,
    fits: [],
    argumentFacts: args.all.map((value) => factsOf(value)).reduce(joinFacts, NO_FACTS),
  });
}

/** `VarianceThreshold()` only drops columns that have one value in all rows. */
function removesConstants(path: string, args: Arguments): boolean {
  if (!path.endsWith('.VarianceThreshold')) return false;
  const threshold = argument(args, 0, 'threshold');
  return threshold === undefined || (threshold.type === 'constant' && threshold.value === 0);
}

/**
 * An encoder that gives each category a column or a number, and puts no rare ones together, learns no more than `get_dummies`
 * or `LabelEncoder`: the list of the categories.
 */
function renamesCategories(path: string, args: Arguments): boolean {
  if (!/\.(OneHotEncoder|OrdinalEncoder|BinaryEncoder|BaseNEncoder)$/.test(path)) return false;
  return !['min_frequency', 'max_categories'].some((option) => {
    const value = args.keywords.get(option);
    return value !== undefined && !(value.type === 'constant' && value.value === null);
  });
}

function booster(interp: Interpreter, path: string, args: Arguments, call: Call): Value {
  const value = argument(args, 1, 'train_set', 'dtrain', 'pool');
  const expression = argumentExpression(args, 1, 'train_set', 'dtrain', 'pool');
  const model = newEstimator({
    path: `${path}.Booster`,
    role: 'model',
    options: args.keywords,
    steps: [],
    training: undefined,
    fits: [],
    argumentFacts: NO_FACTS,
  });
  if (value === undefined || expression === undefined) return model;
  const params = argument(args, 0, 'params');
  const withParams: Arguments =
    params === undefined ? args : { ...args, keywords: new Map(args.keywords).set('params', params) };
  const facts = interp.dataOf(value);
  if (facts.rows.length === 0) return model;
  const chosen = params === undefined ? [] : factsOf(params).fits.filter((fit) => fit.kind === 'selection');
  const extra = union(watchedRows(interp, undefined, withParams, model.cell), chosen);
  const subject = `\`${interp.label(call.callee)}\``;
  const training = trainingOf(interp, subject, facts, interp.label(expression), extra, call);
  model.cell.value = { ...model.cell.value, training, fits: training.fits };
  return model;
}

/** A copy of a network learns by itself. */
function copyOfInstance(instance: Instance): Instance {
  countWork(8 * instance.attributes.size);
  return {
    ...instance,
    attributes: new Map([...instance.attributes].map(([name, { value }]) => [name, newCell(value)])),
    learned: newEstimator(instance.learned.value).cell,
  };
}

function copied(path: string, args: Arguments): Value {
  const copies = args.positional.map((value): Value => {
    switch (value.type) {
      case 'table':
        if (path.endsWith('shuffle')) noteShuffled(value.cell.value.rows);
        return newTable(value.cell.value);
      case 'estimator': {
        const state = value.cell.value;
        return newEstimator(path.endsWith('clone') ? { ...state, training: undefined, fits: [] } : state);
      }
      case 'sequence':
        return newSequence(value.cell.value);
      case 'instance':
        return path.startsWith('copy.') ? copyOfInstance(value) : value;
      case 'mapping':
        return path.startsWith('builtins.') ? value : newMapping(value.cell.value);
      default:
        return value;
    }
  });
  return copies.length > 1 && path.endsWith('shuffle') ? list(copies, true) : (copies[0] ?? list([]));
}

/** Library code that the library models do not describe. */
function otherCall(interp: Interpreter, path: string, args: Arguments, call: Call): Value {
  const name = path.split('.').at(-1) ?? '';
  if (path === 'functools.partial') {
    const [fn, ...bound] = args.positional;
    if (fn?.type !== 'function') return UNKNOWN;
    return {
      ...fn,
      bound: [...(fn.bound ?? []), ...bound],
      boundNames: new Map([...(fn.boundNames ?? []), ...args.keywords]),
    };
  }
  if (/^numpy\.save(txt)?$/.test(path)) {
    const file = fileOf(interp, args);
    const [, rows] = args.positional;
    if (file !== undefined && rows !== undefined) interp.stored.write(file, rows);
    return UNKNOWN;
  }
  if (/^(torch|joblib|pickle|dill|cloudpickle)\.(save|dump)$/.test(path)) {
    const [value] = args.positional;
    const file = fileOf(interp, args, 1);
    if (file !== undefined && value !== undefined) interp.stored.write(file, value);
    interp.savedChoices = union(interp.savedChoices, interp.context.choices);
    return UNKNOWN;
  }
  if (path === 'functools.reduce') {
    const [fn, over, start] = args.positional;
    if (fn === undefined || over === undefined) return UNKNOWN;
    const elements = elementsOf(interp, over, call);
    const items = (elements.known ?? [elements.common ?? UNKNOWN]).slice(0, 12);
    const all = start === undefined ? items : [start, ...items];
    return all.reduce((left, right) => interp.callValue(fn, argumentsOf([left, right]), call));
  }
  const made = arrayFunction(interp, path, args, call);
  if (made !== undefined) return made;
  const [every, some] = args.positional;
  const [left, right] = args.expressions;
  const isArray = every?.type === 'table' || (every?.type === 'opaque' && every.source !== undefined);
  if (path === 'numpy.unique' && isArray && left !== undefined)
    interp.counted.addDistinct(interp, asTable(interp, every), left);
  if (/^(numpy|torch)\.(dot|matmul|mm|mv)$/.test(path) && every && some && left && right) {
    const predicted = handMadePrediction(interp, every, some, { node: call, left, right });
    if (predicted !== undefined) return predicted;
  }
  if (/^numpy\.(isin|in1d)$/.test(path) && every?.type === 'positions') {
    const isOut = flag(args, 'invert') === true;
    return isOut
      ? maskOf(leftOut(interp, every.of ?? [], some, right ?? call))
      : membership(interp, every, some, right ?? call);
  }
  if (/^numpy\.(isin|in1d)$/.test(path) && every?.type === 'table' && every.cell.value.from.length === 1) {
    const step = amongStep(interp, every.cell.value.from[0], some, right ?? call);
    const facts = args.all.map((value) => factsOf(value)).reduce(joinFacts, NO_FACTS);
    return maskOf(flag(args, 'invert') === true ? otherSide(step) : step, {
      ...facts,
      rows: every.cell.value.rows,
    });
  }
  const [divided] = /^numpy\.(isin|in1d)$/.test(path) ? (stepsOfArray(interp, every, some) ?? []) : [];
  if (divided !== undefined && every !== undefined)
    return maskOf(flag(args, 'invert') === true ? otherSide(divided) : divided, interp.dataOf(every));
  if (/^numpy\.(where|nonzero|flatnonzero|argwhere)$/.test(path) && args.positional.length === 1) {
    const mask = every?.type === 'table' ? every.cell.value.mask : undefined;
    const at: Value = { type: 'positions', steps: mask ?? [] };
    if (mask !== undefined) return /where|^numpy\.nonzero/.test(path) ? list([at], true) : at;
  }
  if (/^(numpy|pandas)\.unique$/.test(path) && args.all.length === 1) {
    const values = distinctValues(every) ?? distinctOfArray(interp, every);
    if (values !== undefined) return values;
  }
  if (/^numpy\.(sort|array|asarray)$/.test(path) && every?.type === 'positions') return every;
  if (
    /^numpy\.(logical_not|invert|bitwise_not)$/.test(path) &&
    every?.type === 'table' &&
    args.all.length === 1
  )
    return unaryValue(interp, '~', every, call);
  if (path === 'numpy.delete' && every?.type === 'positions')
    return afterSteps(every, [leftOut(interp, every.of ?? [], some, right ?? call)]);
  if (path === 'numpy.setdiff1d' && every?.type === 'positions')
    return afterSteps(every, [leftOut(interp, every.of ?? [], some, right ?? call)]);
  if (
    path === 'numpy.delete' &&
    every !== undefined &&
    !isAcross(args) &&
    interp.dataOf(every).rows.length > 0
  ) {
    const state = asTable(interp, every);
    const axis = argument(args, 2, 'axis');
    if (axis?.type === 'constant' && axis.value !== 0) return newTable({ ...state, partial: true });
    return newTable(pickRows(interp, state, [leftOut(interp, state.rows, some, right ?? call)]));
  }
  const column = polarsExpression(interp, path, args, call);
  if (column !== undefined) return column;
  if (name === 'Subset' && args.positional.length === 2) {
    const [data, at] = args.positional;
    if (data !== undefined && at?.type === 'positions')
      return newTable(pickPositions(interp, asTable(interp, data), at, call));
  }
  if (
    /^(timm|torchvision\.models|transformers|segmentation_models_pytorch|torch\.hub)\b/.test(path) &&
    !/okeniz|rocessor|transforms/.test(path)
  ) {
    const network = construct(path, 'network', args);
    interp.sharedLayers.addNetwork(network);
    return network;
  }
  const statistical = statisticalModel(interp, path, args, call) ?? seriesModel(interp, path, args, call);
  if (statistical !== undefined) return statistical;
  // A class by its name, but a generator of random numbers learns nothing: like `default_rng`.
  const isClass = /^[A-Z]/.test(name) && path !== 'numpy.random.RandomState' && !IMAGE_FILTERS.test(path);
  if (isClass || name === 'create_study') return construct(path, 'object', args);
  return unknownCall(interp, /^(numpy|torch)\./.test(path) ? asArrays(interp, args) : args, call);
}

/** Functions of OpenCV with the names of classes: each gives an image. */
const IMAGE_FILTERS = /^cv2\.(GaussianBlur|Canny|Sobel|Scharr|Laplacian|LUT)$/;

/** What a function of arrays gets is an array, also where nothing else says so. */
function asArrays(interp: Interpreter, args: Arguments): Arguments {
  const [first] = args.positional;
  if (first?.type !== 'opaque' || first.source === undefined || first.element === true) return args;
  const positional = [newTable(asTable(interp, first)), ...args.positional.slice(1)];
  return { ...args, positional, all: [...positional, ...args.all.slice(args.positional.length)] };
}
