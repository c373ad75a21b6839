import { isOutlierDetector, isProjectingModel } from '../library-models/estimators.js';
import { FIT_METHODS, PREDICT_METHODS, TRANSFORM_METHODS } from '../library-models/methods.js';
import type { Call, Expr } from '../syntax/ast.js';
import { type Facts, type FitEvent, joinFacts, NO_FACTS, union } from '../values/facts.js';
import { emptyTable, list, newSequence, newTable } from '../values/join.js';
import type { Cell } from '../values/store.js';
import {
  type Estimator,
  type EstimatorState,
  factsOf,
  opaque,
  type Step,
  UNKNOWN,
  type Value,
} from '../values/value.js';
import { type Arguments, argument, argumentExpression, argumentsOf } from './arguments.js';
import { withoutColumns } from './assign.js';
import { withChoices } from './choices.js';
import { historyOf, WATCHED_SCORES } from './fitted-attributes.js';
import { forecastOf } from './forecasts.js';
import type { Interpreter } from './interpreter.js';
import { labelsOf } from './label-copies.js';
import {
  chosenOptions,
  fittedRows,
  heldOutByFit,
  learnedKind,
  predictionOf,
  predicts,
  subjectOf,
  trainingOf,
  watchedRows,
  wholeOfSlices,
} from './learning.js';
import { isDistinct } from './membership.js';
import { poolMethod, runTasks } from './parallel-calls.js';
import { columnOfGroups, groupsOf, isRandomSplitter, keepsGroups, knowsGroups } from './splitters.js';
import { optimized } from './statistic-calls.js';
import { fileOf, withEvents } from './stored-files.js';
import { unknownCall } from './unknown-calls.js';

/** Methods that give the object itself back. */
const SELF_METHODS = new Set(
  'to cuda cpu eval train compile set_params load_state_dict requires_grad_ float half double zero_grad set_output build apply_ freeze unfreeze save load_model load_weights set_fit_request'.split(
    ' ',
  ),
);

/** Calls a library object: a network gives predictions, a loss gives a score. */
export function callEstimator(interp: Interpreter, estimator: Estimator, args: Arguments, call: Call): Value {
  const { role } = estimator.cell.value;
  if (role === 'network') {
    return networkCall(interp, estimator.cell, args, call) ?? unknownCall(interp, args, call);
  }
  if (role === 'transformer' || role === 'stateless') {
    return transformed(interp, estimator.cell.value, args);
  }
  return runTasks(estimator, args) ?? unknownCall(interp, args, call);
}

/** `model.predict(y_val)`: the labels instead of the features give no predictions. */
function isLabel({ training }: EstimatorState, { positional: [rows] }: Arguments): boolean {
  if (rows?.type !== 'table' || rows.cell.value.shape !== 'column') return false;
  const [name, ...others] = rows.cell.value.from;
  return name !== undefined && others.length === 0 && training?.labels.includes(name) === true;
}

/** Features of which nobody knows which columns they are: the label is not among them, whatever it was made with. */
function withoutLabels(value: Value, labels: readonly string[]): Value {
  if (value.type !== 'table' || labels.length === 0) return value;
  const { columns, partial, closed, shape } = value.cell.value;
  const [label] = labels.filter((name) => columns.has(name));
  if (label === undefined || !partial || closed || shape !== 'frame') return value;
  return newTable(withoutColumns(value.cell.value, [label]));
}

/** Predictions of a network for a batch. */
export function networkCall(
  interp: Interpreter,
  cell: Cell<EstimatorState>,
  args: Arguments,
  call: Call,
): Value | undefined {
  let facts = NO_FACTS;
  const labels = cell.value.training?.labels ?? [];
  for (const value of args.all) facts = joinFacts(facts, interp.dataOf(withoutLabels(value, labels)));
  if (facts.rows.length === 0 || isLabel(cell.value, args)) return undefined;
  const [first] = args.expressions;
  const learned = interp.sharedLayers.trainingOf(cell);
  if (learned !== undefined && learned !== cell.value.training) {
    const { subject, rowsText, node, statement } = learned;
    const event = interp.fit('projection', subject, learned, rowsText, node, statement);
    return newTable({ ...emptyTable(facts), fits: union(facts.fits, [event]) });
  }
  const prediction = predictionOf(cell, facts, first === undefined ? '' : interp.label(first), call);
  const predicted = prediction.training?.supervised === true;
  return newTable({ ...emptyTable({ ...facts, predictions: [prediction], predicted }), fits: [] });
}

export function estimatorMethod(
  interp: Interpreter,
  estimator: Estimator,
  name: string,
  args: Arguments,
  call: Call,
  self: Value = estimator,
): Value {
  const state = estimator.cell.value;
  if (state.role === 'splitter') return name === 'split' ? foldsOf(interp, state, args, call) : UNKNOWN;
  const ofPool = state.role === 'object' ? poolMethod(interp, estimator, name, args, call) : undefined;
  if (ofPool !== undefined) return ofPool;
  if (/^(set_weights|load_weights|load_model|load_state_dict|apply)$/.test(name))
    interp.foldRounds.reset(estimator.cell);
  if (/^load_(state_dict|weights)$/.test(name)) loadChosen(interp, estimator, args);
  if (name === 'save' && interp.context.choices.length > 0)
    interp.savedChoices = union(interp.savedChoices, interp.context.choices);
  if (name === 'save') {
    const file = fileOf(interp, args);
    if (file !== undefined) interp.stored.write(file, withChoices(self, interp.context.choices));
  }
  if (name === 'train') trainOnOwnRows(interp, estimator, call);
  if (SELF_METHODS.has(name) && (name !== 'train' || args.all.length === 0)) return self;
  if (name === 'fit_resample' || name === 'fit_sample') return resampled(interp, state, args, call);
  const byFunction = /^(fit_)?transform$/.test(name) ? byOwnFunction(interp, state, args, call) : undefined;
  if (byFunction !== undefined) return byFunction;
  if (name === 'fit_transform' || (name === 'fit_predict' && !predicts(state))) {
    const result = fitted(interp, estimator, args, call);
    return result === undefined
      ? fittedOnUnknown(interp, estimator, args, call)
      : transformed(interp, estimator.cell.value, args);
  }
  if (FIT_METHODS.has(name)) {
    fitted(interp, estimator, args, call, name === 'partial_fit');
    return self;
  }
  const forecast = forecastOf(interp, estimator, name, args, call);
  if (forecast !== undefined) return forecast;
  if (PREDICT_METHODS.has(name) && predicts(state)) {
    return networkCall(interp, estimator.cell, args, call) ?? UNKNOWN;
  }
  if (TRANSFORM_METHODS.has(name) || PREDICT_METHODS.has(name)) {
    return transformed(interp, estimator.cell.value, args);
  }
  if (name === 'score' || name === 'evaluate') return scored(interp, estimator.cell, args, call);
  if (WATCHED_SCORES.test(name) && args.all.length === 0) {
    const history = historyOf(interp, estimator, call);
    if (history !== undefined) return history;
  }
  if (name === 'optimize') {
    const facts = factsOf(optimized(interp, args, call));
    interp.store.write(estimator.cell, {
      ...state,
      fits: union(state.fits, facts.fits),
      argumentFacts: { ...state.argumentFacts, scores: union(state.argumentFacts.scores, facts.scores) },
    });
    return UNKNOWN;
  }
  // `selector.get_support(indices=True)`: the option says how the columns are written.
  if (args.all.length === 0 || name === 'get_support') return opaque({ ...NO_FACTS, fits: state.fits });
  return unknownCall(interp, args, call);
}

/** `FunctionTransformer(prepare).fit_transform(table)`: the function of the script, over all rows that it gets. */
function byOwnFunction(
  interp: Interpreter,
  { path, options }: EstimatorState,
  args: Arguments,
  call: Call,
): Value | undefined {
  const fn = options.get('func') ?? options.get('0');
  const rows = argument(args, 0, 'X');
  if (!path.endsWith('.FunctionTransformer') || fn?.type !== 'function' || rows === undefined)
    return undefined;
  return interp.callFunction(fn, argumentsOf([rows], args.expressions.slice(0, 1)), call);
}

/** `Trainer(model=model, train_dataset=rows).train()`: the rows were passed when the trainer was made. */
function trainOnOwnRows(interp: Interpreter, estimator: Estimator, call: Call): void {
  const { path, options } = estimator.cell.value;
  const rows = options.get('train_dataset');
  if (rows === undefined || !/^transformers\.\w*Trainer$/.test(path)) return;
  fitted(interp, estimator, argumentsOf([rows]), call);
}

/** A state that was kept because it scored best brings the choice with it. */
function loadChosen(interp: Interpreter, estimator: Estimator, args: Arguments): void {
  const state = estimator.cell.value;
  const fits = args.all
    .flatMap((value) => [...factsOf(value).fits])
    .filter((fit) => fit.kind === 'selection');
  const isNamed = args.all.some((value) => value.type === 'constant');
  const saved = interp.stored.chosenWeights(fileOf(interp, args));
  const chosen = union(union(fits, isNamed ? interp.savedChoices : []), saved);
  interp.store.write(estimator.cell, withEvents(state, chosen));
}

/** `fit`: what the estimator knows afterwards. Gives the event of a transformer's fit, if it is one. */
function fitted(
  interp: Interpreter,
  estimator: Estimator,
  args: Arguments,
  call: Call,
  isPartial = false,
): FitEvent | 'trained' | undefined {
  const state = estimator.cell.value;
  const target = argument(args, 1, 'y', 'label');
  const fittedOn = fittedRows(interp, args, (features) => withoutLabels(features, labelNames(target)));
  const { expression } = fittedOn;
  const facts = isPartial
    ? { ...fittedOn.facts, rows: wholeOfSlices(interp, fittedOn.facts.rows) }
    : fittedOn.facts;
  if (state.role === 'stateless' || state.role === 'label-coder') return 'trained';
  const rowsText = expression === undefined ? '' : interp.label(expression);
  const subject = subjectOf(interp, call);
  if (!predicts(state)) {
    const kind = learnedKind(state);
    if (kind === undefined) return 'trained';
    if (facts.rows.length === 0) return undefined;
    const event = interp.fit(kind, subject, facts, rowsText, call);
    if (isOutlierDetector(state.path)) interp.detectors.add(event);
    interp.store.write(estimator.cell, {
      ...state,
      fits: union([event], facts.fits),
      training: trainingLike(interp, subject, facts, rowsText, call),
    });
    return event;
  }
  if (facts.rows.length === 0) return undefined;
  const division = heldOutByFit(interp, args, facts, call);
  const label = labelsOf(interp, argument(args, 0, 'X', 'x'), argument(args, 1, 'y', 'label'), call, state);
  const watched = watchedRows(interp, state, args, estimator.cell, division?.heldOut);
  const extra = [...watched, ...chosenOptions(state), ...adaptedLayers(state), ...label.fits];
  const learned = division?.trained ?? facts;
  const rows = isKerasModel(state)
    ? { ...learned, rows: interp.foldRounds.train(estimator.cell, learned.rows) }
    : learned;
  const training = trainingOf(interp, subject, rows, rowsText, extra, call, undefined, label.columns);
  const teachers = target === undefined ? [] : interp.dataOf(target).predictions;
  const recorded = teachers.length > 0 ? { ...training, pseudo: true, teachers } : training;
  interp.store.write(estimator.cell, { ...state, training: recorded, fits: training.fits });
  return 'trained';
}

/** The column that labels are, by its name. */
function labelNames(labels: Value | undefined): readonly string[] {
  return labels?.type === 'table' ? labels.cell.value.from.slice(0, 1) : [];
}

/** Texts in a list that nobody knows the rows of: the rows of the result are those that the vocabulary is learned from. */
function fittedOnUnknown(interp: Interpreter, estimator: Estimator, args: Arguments, call: Call): Value {
  const result = unknownCall(interp, args, call);
  const state = estimator.cell.value;
  const facts = interp.dataOf(result);
  if (learnedKind(state) !== 'vocabulary' || facts.rows.length === 0) return result;
  const [texts] = args.expressions;
  const rowsText = texts === undefined ? '' : interp.label(texts);
  const event = interp.fit('vocabulary', subjectOf(interp, call), facts, rowsText, call);
  const fits = union(facts.fits, [event]);
  interp.store.write(estimator.cell, { ...state, fits });
  return newTable({ ...emptyTable(facts), fits });
}

/** What the layers of a network learned before it was trained, as by `Normalization.adapt`. */
function adaptedLayers({ role, steps, argumentFacts }: EstimatorState): readonly FitEvent[] {
  if (role !== 'network') return [];
  const layers = steps.flatMap((step) => (step.type === 'estimator' ? [...step.cell.value.fits] : []));
  return [...layers, ...argumentFacts.fits].filter(({ node }) => isAdaptation(node));
}

function isAdaptation(node: Expr): boolean {
  return node.type === 'call' && node.callee.type === 'attribute' && node.callee.name === 'adapt';
}

/** Whether `fit` goes on from the weights that the model has. */
function isKerasModel({ path, role }: EstimatorState): boolean {
  return role === 'network' && /^(tensorflow\.|tf_)?keras\b/.test(path);
}

/** A transformer remembers the rows it was fitted on, but is not a model that competes with one. */
function trainingLike(interp: Interpreter, subject: string, facts: Facts, rowsText: string, node: Call) {
  return {
    subject,
    rows: facts.rows,
    certain: facts.certain,
    rowsText,
    fits: facts.fits,
    supervised: false,
    labels: [],
    predictions: facts.predictions,
    node,
    statement: interp.statement,
  };
}

function transformed(interp: Interpreter, state: EstimatorState, args: Arguments): Value {
  const value = argument(args, 0, 'X', 'x', 'raw_documents');
  if (value === undefined) return opaque({ ...NO_FACTS, fits: state.fits });
  const facts = interp.dataOf(value);
  const shape = value.type === 'table' ? value.cell.value.shape : 'array';
  // Other names for the classes: still this column.
  const from = state.role === 'label-coder' && value.type === 'table' ? value.cell.value.from : [];
  return newTable({
    ...emptyTable(facts, shape === 'frame' ? 'frame' : 'array'),
    from,
    fits: union(union(facts.fits, state.fits), learnedAxes(interp, state)),
  });
}

/** The axes of a model that also projects, as a computation over the rows that it was trained on. */
function learnedAxes(interp: Interpreter, state: EstimatorState): readonly FitEvent[] {
  if (!predicts(state)) return [];
  const last = state.role === 'pipeline' ? state.steps.at(-1) : undefined;
  const { path } = last?.type === 'estimator' ? last.cell.value : state;
  const { training } = state;
  if (training === undefined || !isProjectingModel(path)) return [];
  const { subject, rowsText, node, statement } = training;
  return [interp.fit('projection', subject, training, rowsText, node, statement)];
}

function resampled(interp: Interpreter, state: EstimatorState, args: Arguments, call: Call): Value {
  const kind = learnedKind(state);
  const results = args.positional.slice(0, 2).map((value) => {
    const facts = interp.dataOf(value);
    const table = value.type === 'table' ? value.cell.value : emptyTable(facts);
    if (kind === undefined || facts.rows.length === 0) return newTable(table);
    const [expression] = args.expressions;
    const rowsText = expression === undefined ? '' : interp.label(expression);
    const event = interp.fit(kind, subjectOf(interp, call), facts, rowsText, call);
    return newTable({ ...table, fits: union(table.fits, [event]) });
  });
  return list(results, true);
}

/** `score(X, y)` and `evaluate(X, y)`: predictions and labels at once. */
function scored(interp: Interpreter, cell: Cell<EstimatorState>, args: Arguments, call: Call): Value {
  const labels = cell.value.training?.labels ?? [];
  const { facts, expression } = fittedRows(interp, args, (features) => withoutLabels(features, labels));
  if (facts.rows.length === 0)
    return opaque(args.all.map((value) => factsOf(value)).reduce(joinFacts, NO_FACTS));
  const rowsText = expression === undefined ? '' : interp.label(expression);
  const prediction = predictionOf(cell, facts, rowsText, call);
  const score = interp.record.addScore(interp, [prediction], facts, [], call);
  return opaque({ ...NO_FACTS, scores: [score] });
}

/** Folds: the same two sides for every fold, since what holds for one fold holds for all. */
function foldSteps(interp: Interpreter, state: EstimatorState, call: Call): { train: Step; test: Step } {
  // A splitter with a seed, or in order, gives the same folds again.
  const said = (name: string): unknown => {
    const value = state.options.get(name);
    return value?.type === 'constant' ? value.value : value?.type;
  };
  const isRepeatable = typeof said('random_state') === 'number' && call.callee.type === 'attribute';
  const key = isRepeatable
    ? `${state.path}:${said('n_splits') ?? said('0')}:${said('random_state')}`
    : interp.siteKey(call);
  const partition = interp.partition(`folds:${key}`, 'folds', call);
  return {
    train: { partition, side: 'train', role: 'train' },
    test: { partition, side: 'test', role: 'test' },
  };
}

function foldsOf(interp: Interpreter, state: EstimatorState, args: Arguments, call: Call): Value {
  const { train, test } = foldSteps(interp, state, call);
  const { partition } = test;
  const count = state.options.get('n_splits');
  if (count?.type === 'constant' && count.value === 1) partition.form = 'holdout';
  partition.random = isRandomSplitter(state);
  partition.keepsGroups = keepsGroups(state) || isDistinct(args.positional[0]);
  const groups = argumentExpression(args, 2, 'groups');
  const [divided] = args.positional;
  const column = isDistinct(divided) ? divided.values : columnOfGroups(argument(args, 2, 'groups'));
  if (partition.keepsGroups && column !== undefined) partition.dividesBy = column;
  const named = groupsOf(interp, divided);
  const known =
    groups === undefined ? (partition.random ? named : undefined) : { text: interp.label(groups) };
  if (known !== undefined && !knowsGroups(state))
    partition.ignoredGroups = state.madeBy === undefined ? known : { ...known, madeBy: state.madeBy };
  const pair = list(
    [
      { type: 'positions', steps: [train] },
      { type: 'positions', steps: [test] },
    ],
    true,
  );
  return newSequence({ items: [], rest: pair, tuple: false });
}
