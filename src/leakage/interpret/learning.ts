import type { LeakKind } from '../kinds.js';
import { estimatorFamily } from '../library-models/estimators.js';
import type { Call, Expr, Stmt } from '../syntax/ast.js';
import {
  type Facts,
  type FitEvent,
  NO_FACTS,
  type Prediction,
  type Training,
  union,
} from '../values/facts.js';
import { partOf, type Region, sameRows } from '../values/region.js';
import type { Cell } from '../values/store.js';
import { type EstimatorState, factsOf, MAX_PARTS, type Value } from '../values/value.js';
import { type Arguments, argument, argumentExpression } from './arguments.js';
import { type CallbackEffect, callbackEffects } from './callbacks.js';
import type { Interpreter } from './interpreter.js';

/** How a sentence names the object whose method is called, or the function that is called. */
export function subjectOf(interp: Interpreter, call: Call): string {
  const { callee } = call;
  if (callee.type !== 'attribute') return `\`${interp.label(callee)}\``;
  if (callee.object.type === 'call') return `\`${interp.label(callee.object.callee)}\``;
  return `\`${interp.label(callee.object)}\``;
}

/** The rows argument of a fit: features, a data set, a list of texts. */
export function fittedRows(
  interp: Interpreter,
  args: Arguments,
  taken: (features: Value) => Value = (features) => features,
): { facts: Facts; expression: Expr | undefined } {
  const names = [
    'X',
    'x',
    'df',
    'data',
    'train_dataset',
    'dtrain',
    'train_dataloaders',
    'raw_documents',
    'dataset',
  ];
  const value = argument(args, 0, ...names);
  return {
    facts: value === undefined ? NO_FACTS : interp.dataOf(taken(value)),
    expression: argumentExpression(args, 0, ...names),
  };
}

/** The kind of leak a fit of this estimator over scored rows is, where it learns something from rows. */
export function learnedKind(state: EstimatorState, seen = new Set<object>()): LeakKind | undefined {
  if (state.role === 'transformer' || state.role === 'sampler') return estimatorFamily(state.path)?.kind;
  if (state.role !== 'pipeline') return undefined;
  for (const step of state.steps) {
    // One pipeline may occur many times in another; each is looked through once.
    if (step.type !== 'estimator' || seen.has(step.cell) || seen.size >= MAX_PARTS) continue;
    seen.add(step.cell);
    const inner = learnedKind(step.cell.value, seen);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

/** Whether an estimator predicts, rather than transforms. */
export function predicts(state: EstimatorState, depth = 0): boolean {
  if (state.role !== 'pipeline')
    return !['transformer', 'stateless', 'label-coder', 'sampler'].includes(state.role);
  if (/(ColumnTransformer|make_column_transformer|FeatureUnion|make_union)$/.test(state.path)) return false;
  const last = state.steps.at(-1);
  if (last?.type !== 'estimator' || depth >= MAX_PARTS) return last !== undefined;
  return predicts(last.cell.value, depth + 1);
}

/** Rows that a fit watches, in one or several sets. */
interface WatchedRows {
  readonly sets: readonly Facts[];
  readonly expression: Expr;
}

function rowsWatched(
  interp: Interpreter,
  args: Arguments,
  heldOut: Facts | undefined,
): WatchedRows | undefined {
  const split = args.keywordExpressions.get('validation_split');
  if (heldOut !== undefined && split !== undefined) return { sets: [heldOut], expression: split };
  const name = [
    'eval_set',
    'validation_data',
    'valid_sets',
    'evals',
    'eval_dataset',
    'val_dataloaders',
    'X_val',
  ].find((option) => args.keywords.has(option));
  const [value, expression] = [args.keywords.get(name ?? ''), args.keywordExpressions.get(name ?? '')];
  if (value === undefined || expression === undefined) return undefined;
  const sets = watchedParts(value).map((part) => watchedFacts(interp, part));
  return { sets: sets.filter(({ rows }) => rows.length > 0), expression };
}

/**
 * Rows that a fit watches to decide when to stop or which round to keep. What it writes down about them is remembered.
 * `heldOut`: the rows that it holds out itself (`validation_split`).
 */
export function watchedRows(
  interp: Interpreter,
  state: EstimatorState | undefined,
  args: Arguments,
  model: Cell<EstimatorState>,
  heldOut?: Facts,
): FitEvent[] {
  const watched = rowsWatched(interp, args, heldOut);
  const last = watched?.sets.at(-1);
  if (watched === undefined || last === undefined) return [];
  const { sets, expression } = watched;
  const rowsText = interp.label(heldOut === undefined ? expression : (args.expressions[0] ?? expression));
  interp.validated.set(model, { facts: last, rowsText, isOnly: sets.length === 1 });
  const option = (name: string): Value | undefined => args.keywords.get(name) ?? state?.options.get(name);
  const effects = effectsOf(option);
  if (effects.length === 0) return [];
  const events = sets.map((facts) => interp.fit('early-stopping', 'training', facts, rowsText, expression));
  for (const effect of effects) {
    if (effect.type !== 'saves') continue;
    const file = effect.file?.type === 'constant' ? String(effect.file.value) : undefined;
    interp.stored.addCheckpoint({ file, network: model, events });
  }
  return effects.some(({ type }) => type === 'stops') ? events : [];
}

/** `fit(X, y, validation_split=0.2)`: the rows that Keras trains on, and the last ones, which it holds out. */
export function heldOutByFit(
  interp: Interpreter,
  args: Arguments,
  facts: Facts,
  call: Call,
): { readonly trained: Facts; readonly heldOut: Facts } | undefined {
  const fraction = args.keywords.get('validation_split');
  const expression = args.keywordExpressions.get('validation_split');
  if (fraction === undefined || expression === undefined) return undefined;
  if (fraction.type === 'constant' && (typeof fraction.value !== 'number' || fraction.value <= 0))
    return undefined;
  const partition = interp.partition(`held:${interp.text(expression)}`, 'holdout', call);
  const side = (role: 'train' | 'test'): Facts => ({
    ...facts,
    rows: facts.rows.map((region) => partOf(region, partition, role, role, interp.statement)),
  });
  return { trained: side('train'), heldOut: side('test') };
}

/** Rows of `(X_val, y_val)`: those of the features, wherever the labels were read from. */
function watchedFacts(interp: Interpreter, part: Value): Facts {
  const [first] = part.type === 'sequence' ? part.cell.value.items : [];
  const features = first === undefined ? NO_FACTS : interp.dataOf(first);
  return features.rows.length > 0 ? features : interp.dataOf(part);
}

/** `eval_set=[(X_train, y_train), (X_val, y_val)]`: one set of rows each. */
function watchedParts(value: Value): readonly Value[] {
  if (value.type !== 'sequence') return [value];
  const { items, rest } = value.cell.value;
  const nested =
    items.some((item) => item.type === 'sequence') || items.every((item) => item.type === 'table');
  const tuple = value.cell.value.tuple && items.every((item) => item.type === 'table');
  if (!nested || tuple) return [value];
  return rest === undefined ? items : [...items, rest];
}

/** What the options and callbacks of a fit do with the scores of the rows that it watches. */
function effectsOf(option: (name: string) => Value | undefined): readonly CallbackEffect[] {
  for (const name of [
    'early_stopping_rounds',
    'od_wait',
    'od_type',
    'use_best_model',
    'early_stopping',
    'load_best_model_at_end',
  ]) {
    const value = option(name);
    if (value === undefined) continue;
    if (value.type !== 'constant' || (value.value !== null && value.value !== false))
      return [{ type: 'stops' }];
  }
  const params = option('params');
  if (params?.type === 'mapping') {
    for (const name of params.cell.value.entries.keys()) {
      if (/early_stopping_rounds?$/.test(name)) return [{ type: 'stops' }];
    }
  }
  const callbacks = option('callbacks');
  return callbacks === undefined ? [] : callbackEffects(callbacks);
}

/** The training that a fit makes, joined to an earlier one where the model goes on learning. */
export function trainingOf(
  interp: Interpreter,
  subject: string,
  facts: Facts,
  rowsText: string,
  extra: readonly FitEvent[],
  node: Expr,
  before?: Training,
  labels: readonly string[] = [],
  statement: Stmt = interp.statement,
): Training {
  const joined = before === undefined ? facts.rows : union(before.rows, facts.rows);
  const training: Training = {
    subject,
    rows: joined,
    certain: facts.certain && (before?.certain ?? true),
    rowsText: before !== undefined && sameRows(before.rows, joined) ? before.rowsText : rowsText,
    data: facts,
    fits: union(union(before?.fits ?? [], facts.fits), extra),
    supervised: true,
    labels: union(before?.labels ?? [], labels),
    predictions: union(before?.predictions ?? [], facts.predictions),
    node: before !== undefined && sameRows(before.rows, joined) ? before.node : node,
    statement: before !== undefined && sameRows(before.rows, joined) ? before.statement : statement,
  };
  interp.record.addTraining(training);
  return training;
}

/** What was chosen on rows and handed to the constructor (`best_params_`, a tuned threshold). */
export function chosenOptions(state: EstimatorState): readonly FitEvent[] {
  return state.argumentFacts.fits.filter((fit) => fit.kind === 'selection');
}

export function predictionOf(
  cell: Cell<EstimatorState>,
  facts: Facts,
  rowsText: string,
  node: Expr,
): Prediction {
  return {
    training: cell.value.training,
    model: cell,
    rows: facts.rows,
    certain: facts.certain,
    rowsText,
    data: facts,
    fits: facts.fits,
    inputs: facts.predictions,
    node,
  };
}

/** Slices `X[i:i + n]` that a loop goes through are all rows in the end. */
export function wholeOfSlices(interp: Interpreter, rows: readonly Region[]): readonly Region[] {
  const targets = interp.context
    .loops()
    .flatMap((loop) => (loop.type === 'for' && loop.target.type === 'name' ? [loop.target.id] : []));
  const isSlice = ({ partition }: Region): boolean =>
    partition?.key.startsWith('cut:') === true &&
    targets.some((name) => new RegExp(`\\b${name}\\b`).test(partition.key.slice(4)));
  return rows.map((region) => {
    let current = region;
    while (current.parent !== undefined && isSlice(current)) current = current.parent;
    return current;
  });
}

/** A step on a loss trains the networks whose predictions are in it. */
export function learnFromLoss(interp: Interpreter, loss: Value, node: Expr): void {
  const facts = factsOf(loss);
  const predictions = union(
    facts.predictions,
    facts.scores.flatMap((score) => [...score.predictions]),
  );
  for (const prediction of predictions) {
    const cell = prediction.model as Cell<EstimatorState>;
    const state = cell.value;
    const learned: Facts = {
      ...NO_FACTS,
      rows: interp.foldRounds.train(cell, wholeOfSlices(interp, prediction.rows)),
      certain: prediction.certain,
      fits: prediction.fits,
    };
    const loader = interp.loaderOf(prediction.rows);
    const training = trainingOf(
      interp,
      'the network',
      learned,
      prediction.rowsText,
      [],
      loader?.node ?? node,
      state.training,
      [],
      loader?.statement,
    );
    interp.store.write(cell, { ...state, training });
  }
}
