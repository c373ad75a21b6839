import { columnsText, madeBy, type Table } from './table.js';
import {
  type Branch,
  columnSetOf,
  type Estimator,
  keyOf,
  type Learned,
  type Prediction,
  plain,
  type Value,
} from './values.js';
import { SAMPLER, SEARCH, TRANSFORMER } from './words.js';

/** A call's arguments, in order and by name. */
export interface Arguments {
  readonly positional: readonly Value[];
  readonly named: ReadonlyMap<string, Value>;
}

/** Options that change how fast or how loudly something is computed, or in which container, but not what. */
const IMMATERIAL =
  /^(n_jobs|verbose|verbosity|sparse|sparse_output|copy|handle_unknown|unknown_value|dtype|memory|logging_level|silent|n_threads|thread_count)$/;

/** An object of a class of a library; undefined if the call makes no estimator. */
export function construct(name: string, args: Arguments): Estimator {
  if (name === 'Pipeline' || name === 'make_pipeline') return pipeline(args);
  if (name === 'ColumnTransformer' || name === 'make_column_transformer') return byColumns(args);
  const inner = args.positional[0] ?? args.named.get('estimator');
  if (SEARCH.test(name) && inner?.kind === 'estimator') return search(name, inner, args);
  const strategy =
    args.named.get('strategy') ??
    args.positional.find((value) => value.kind === 'plain' && value.text !== undefined);
  if (name === 'SimpleImputer') return simple(`fillna(${imputed(strategy, args)})`);
  return simple(`${name}(${optionsText(args)})`, SAMPLER.test(name));
}

function simple(label: string, isSampler = false, isFollowed = true): Estimator {
  return { kind: 'estimator', label, isSampler, isFollowed };
}

function imputed(strategy: Value | undefined, { named }: Arguments): string {
  const text = strategy?.kind === 'plain' ? (strategy.text ?? strategy.label) : 'mean';
  if (text !== 'constant') return `~${text === 'most_frequent' ? 'mode' : text}`;
  const value = named.get('fill_value');
  return value === undefined ? '0' : keyOf(value);
}

export function optionsText({ positional, named }: Arguments): string {
  const options = [...named]
    .filter(([name]) => !IMMATERIAL.test(name))
    .map(([name, value]) => `${name}=${keyOf(value)}`)
    .sort();
  return [...positional.map((value) => keyOf(value)), ...options].join();
}

function stepOf(value: Value): Estimator {
  if (value.kind === 'estimator') return value;
  if (value.kind === 'items') {
    const found = value.items.find((item) => item.kind === 'estimator');
    if (found !== undefined) return found;
  }
  if (value.kind === 'plain' && value.text === 'passthrough') return { ...simple(''), steps: [] };
  return simple(keyOf(value), false, false);
}

function pipeline({ positional, named }: Arguments): Estimator {
  const listed = named.get('steps') ?? positional[0];
  const steps = listed?.kind === 'items' ? listed.items : positional;
  const made = steps.map(stepOf).flatMap((step) => step.steps ?? [step]);
  return { ...simple(''), steps: made };
}

function byColumns({ positional, named }: Arguments): Estimator {
  const listed = named.get('transformers') ?? positional[0];
  const isListed = listed?.kind === 'items' && listed.items.every((item) => item.kind === 'items');
  const entries = isListed ? listed.items : positional;
  const branches = entries.map(branchOf);
  const isFollowed = branches.every((branch) => branch !== undefined);
  const remainder = named.get('remainder');
  return {
    ...simple('', false, isFollowed),
    branches: branches.filter((branch) => branch !== undefined),
    remainder: remainder === undefined ? 'drop' : partOf(remainder),
  };
}

function branchOf(entry: Value): Branch | undefined {
  if (entry.kind !== 'items') return undefined;
  const columns = entry.items.at(-1);
  const transformer = entry.items.at(-2);
  if (columns === undefined || transformer === undefined) return undefined;
  return { columns: columnSetOf(columns) ?? [`?${keyOf(columns)}`], transformer: partOf(transformer) };
}

function partOf(value: Value): Estimator | 'passthrough' | 'drop' {
  if (value.kind === 'plain' && (value.text === 'passthrough' || value.text === 'drop')) return value.text;
  return stepOf(value);
}

/** The steps before the model do the same in each candidate; the search is over the model. */
function search(name: string, inner: Estimator, args: Arguments): Estimator {
  const rest: Arguments = {
    positional: args.positional.slice(inner === args.positional[0] ? 1 : 0),
    named: new Map([...args.named].filter(([option]) => option !== 'estimator')),
  };
  const steps = inner.steps ?? [inner];
  const options = optionsText(rest).replaceAll(/"\w+?__/g, '"');
  const model = steps.at(-1);
  const label = `${name}(${model === undefined ? '' : keyOf(model)},${options})`;
  return { ...simple(''), steps: [...steps.slice(0, -1), simple(label)] };
}

function isTransformer({ label, steps, branches }: Estimator): boolean {
  if (branches !== undefined) return true;
  if (steps !== undefined) return steps.every(isTransformer);
  return TRANSFORMER.test(label.split('(')[0] ?? '') || label.startsWith('fillna(');
}

/** The re-sampling of labels, beside that of features. */
export function ofLabels(pick: string): string {
  return `${pick} labels`;
}

/** Fits an estimator: transformers learn from the rows, a model at the end is trained on what they give. */
export function fitOn(estimator: Estimator, table: Table, y: Value | undefined): void {
  // A table may change afterwards.
  const rows = table.with({});
  estimator.fitted = rows;
  const { steps, branches } = estimator;
  if (branches !== undefined) {
    for (const { transformer, columns } of branches)
      if (typeof transformer !== 'string') fitOn(transformer, rows.only(columns), y);
    if (typeof estimator.remainder === 'object') fitOn(estimator.remainder, rows, y);
    return;
  }
  if (steps === undefined) {
    if (!isTransformer(estimator)) estimator.training = { X: rows, y };
    return;
  }
  let current = rows;
  let labels = y;
  for (const [at, step] of steps.entries()) {
    const isLast = at === steps.length - 1;
    if (step.isSampler) {
      current = current.withPick(`resample ${step.label}`);
      if (labels?.kind === 'table') labels = labels.withPick(ofLabels(`resample ${step.label}`));
      continue;
    }
    fitOn(step, current, labels);
    if (isLast && !isTransformer(step)) estimator.training = step.training ?? { X: current, y: labels };
    else current = transform(step, current);
  }
}

/** What an estimator gives for rows. */
export function transform(estimator: Estimator, rows: Table): Table {
  const { steps, branches, label } = estimator;
  if (steps !== undefined) {
    return steps.reduce((table, step) => (step.isSampler ? table : transform(step, table)), rows);
  }
  if (branches !== undefined) return inBranches(estimator, branches, rows);
  const { fitted } = estimator;
  const made = rows.withStep({
    label,
    columns: '*',
    ...(fitted === undefined
      ? {}
      : {
          learning: {
            source: fitted.state.source,
            picks: fitted.state.picks,
            isMixed: hasOtherSteps(fitted, rows),
          },
        }),
  });
  return estimator.isFollowed && fitted !== undefined ? made : made.with({ isFollowed: false });
}

function inBranches(
  { remainder = 'drop', isFollowed }: Estimator,
  branches: readonly Branch[],
  rows: Table,
): Table {
  const result = rows.with({ isFollowed: rows.state.isFollowed && isFollowed });
  const remaining: string[] = [];
  const dropped: string[] = [];
  let isAll = false;
  for (const { columns, transformer } of branches) {
    if (transformer === 'drop') {
      if (columns !== '*') dropped.push(...columns);
      continue;
    }
    if (columns === '*') isAll = true;
    else remaining.push(...columns);
    if (transformer === 'passthrough') continue;
    const made = transform(transformer, rows.only(columns));
    const own = made.state.steps.filter((step) => !rows.state.steps.includes(step));
    result.set(columns, own, made.state.isFollowed);
  }
  if (typeof remainder === 'object') {
    const own = transform(remainder, rows).state.steps.filter((step) => !rows.state.steps.includes(step));
    result.set(['?rest'], own);
    return result;
  }
  if (remainder === 'passthrough' || isAll) return dropped.length === 0 ? result : result.without(dropped);
  return onlyTransformed(result, remaining);
}

/** What is not listed is dropped. */
function onlyTransformed(result: Table, remaining: readonly string[]): Table {
  const symbolic = remaining.filter((name) => name.startsWith('?'));
  if (symbolic.length === 0) return result.only(remaining);
  // Several selections by type together are taken for all columns.
  if (symbolic.length > 1) return result;
  const { names } = result.state.columns;
  return names === undefined ? result.only([`?${remaining.join()}`]) : result;
}

/** Whether rows that something was learned from went through other steps than those that it is applied to. */
export function hasOtherSteps(fitted: Table, rows: Table): boolean {
  const { columns } = rows.state;
  // Arithmetic with what was learned is one step with the computation around it.
  const labels = ({ state: { steps } }: Table): string =>
    madeBy({ steps, columns })
      .filter((label) => !/^group\[|^[-+*/]\(\.,~/.test(label))
      .sort()
      .join('>');
  return labels(fitted) !== labels(rows);
}

/** What a fitted estimator says of columns: those that it keeps, or their weights. Before it is fitted, it says something else. */
export function fittedValue({ label, fitted, training }: Estimator, name: string): Value {
  const from = fitted ?? training?.X;
  if (!/^(support_|get_support|ranking_|scores_|pvalues_|feature_importances_|coef_)$/.test(name))
    return plain(`${label}.${name}`);
  return from === undefined
    ? plain(`${label}.${name} of nothing`)
    : { kind: 'learned', label: `${label}.${name}`, from };
}

/** The columns of a table that a fitted estimator keeps. */
export function pickedColumns(table: Table, by: Learned): Table {
  const { source, picks, columns } = by.from.state;
  const isMixed = hasOtherSteps(by.from, table) || columnsText(columns) !== columnsText(table.state.columns);
  return table
    .only([`?${by.label}`])
    .withStep({ label: `columns by ${by.label}`, columns: '*', learning: { source, picks, isMixed } });
}

/** What the model in an estimator predicts for rows. */
export function predict(estimator: Estimator, rows: Table, how: string): Prediction {
  const steps = estimator.steps ?? [estimator];
  const before = steps.slice(0, -1).filter((step) => !step.isSampler);
  const X = before.reduce((table, step) => transform(step, table), rows.with({}));
  const model = steps.at(-1) ?? estimator;
  return {
    kind: 'prediction',
    model: modelLabel(model),
    training: estimator.training ?? model.training,
    X,
    isFollowed: steps.every((step) => step.isFollowed),
    uses: [how],
  };
}

function modelLabel(model: Estimator): string {
  return keyOf(model);
}
