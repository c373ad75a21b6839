import {
  type Arguments,
  construct,
  fitOn,
  fittedValue,
  ofLabels,
  optionsText,
  predict,
  transform,
} from './estimators.js';
import type { Follower } from './follower.js';
import { Table } from './table.js';
import { assign, callGrouped, callMethod, combine, concatenated, stepWith, used } from './table-calls.js';
import {
  columnSetOf,
  type DataSet,
  type Estimator,
  keyOf,
  type Learned,
  type Prediction,
  plain,
  predictionsIn,
  type Score,
  type Value,
  wayOf,
} from './values.js';
import { ABOUT, CROSS_VALIDATION, METRIC, NO_TABLE, PICKS, READS, SAME, SHOWS, STATISTIC } from './words.js';

/** `object.method(…)` */
export function callOn(follower: Follower, name: string, object: Value, args: Arguments): Value {
  switch (object.kind) {
    case 'table':
      return onTable(follower, name, object, args);
    case 'grouped':
      return callGrouped(name, object, args);
    case 'estimator':
      return onEstimator(follower, name, object, args);
    case 'columns': {
      if (!/^(drop|difference)$/.test(name)) return object;
      const [first] = args.positional;
      const without = first === undefined ? undefined : columnSetOf(first);
      if (without === undefined || without === '*') return object;
      const less = Table.from('').with({ columns: object.columns }).without(without).state.columns;
      return { kind: 'columns', columns: less, set: less.names ?? '*' };
    }
    case 'items':
      return onItems(name, object, args);
    case 'dictionary': {
      if (name === 'items')
        return {
          kind: 'items',
          items: [...object.entries].map(([key, value]) => ({ kind: 'items', items: [textOf(key), value] })),
        };
      if (name === 'values') return { kind: 'items', items: [...object.entries.values()] };
      if (name === 'keys') return { kind: 'items', items: [...object.entries.keys()].map(textOf) };
      if (name === 'update' && args.positional[0]?.kind === 'dictionary')
        for (const [key, value] of args.positional[0].entries) object.entries.set(key, value);
      return plain(`${keyOf(object)}.${name}(${optionsText(args)})`, [...object.entries.values()]);
    }
    case 'learned':
      return onLearned(name, object, args);
    case 'prediction':
      if (SAME.test(name)) return object;
      return { ...object, uses: [...object.uses, `${name}(${optionsText(args)})`] };
    default:
      if (/^(permutation|arange)$/.test(name) && args.positional.length === 1) return positions(name, args);
      return plain(`${keyOf(object)}.${name}(${optionsText(args)})`, [object, ...args.positional]);
  }
}

function textOf(text: string): Value {
  return { kind: 'plain', label: JSON.stringify(text), parts: [], text };
}

function onTable(follower: Follower, name: string, table: Table, args: Arguments): Value {
  const [first] = args.positional;
  if (name === 'pop') {
    const columns = (first && columnSetOf(first)) ?? ['?'];
    const taken = table.only(columns);
    table.state = table.without(columns).state;
    return taken;
  }
  if (/^to_(csv|parquet|pickle|feather)$/.test(name) && first?.kind === 'plain' && first.text !== undefined)
    follower.files.set(first.text, table.with({}));
  if (name === 'insert') {
    const [, column, value] = args.positional;
    const columns = column && columnSetOf(column);
    if (columns !== undefined && value !== undefined) assign(table, columns, value);
    return plain('None');
  }
  if (name === 'pipe' && first?.kind === 'function')
    return follower.runFunction(first, {
      positional: [table, ...args.positional.slice(1)],
      named: args.named,
    });
  if ((name === 'apply' || name === 'map' || name === 'applymap') && first?.kind === 'function') {
    const isOfColumns = name === 'apply';
    if (!isOfColumns) return table.withStep(stepWith(`${name}(function)`, table, []));
  }
  const made = callMethod(name, table, args);
  const isInPlace = args.named.get('inplace');
  if (isInPlace !== undefined && keyOf(isInPlace) === 'true' && made.kind === 'table') inPlace(table, made);
  return made;
}

/** `frame["a"].fillna(0, inplace=True)` changes the column of the frame. */
function inPlace(table: Table, made: Table): void {
  table.state = made.state;
}

function onItems(name: string, list: Value & { kind: 'items' }, { positional }: Arguments): Value {
  const [first] = positional;
  if (name === 'append' && first !== undefined) list.items.push(first);
  else if (name === 'extend' && first?.kind === 'items') list.items.push(...first.items);
  else if (name === 'remove' && first !== undefined)
    list.items = list.items.filter((item) => keyOf(item) !== keyOf(first));
  else if (name === 'copy') return { kind: 'items', items: [...list.items] };
  return plain('None');
}

function onLearned(name: string, learned: Learned, args: Arguments): Value {
  if (SAME.test(name) || /^(to_dict|items|loc|iloc|item|get|rename|add_prefix|sort_index)$/.test(name))
    return learned;
  const text = optionsText(args);
  // A grouping of one value: `groupby("a").agg("mean")` is `.mean()`.
  return { ...learned, label: `${learned.label}.${name}(${text})` };
}

function rowsOf(value: Value | undefined): Table | undefined {
  if (value?.kind === 'table') return value;
  if (value?.kind === 'dataset') return value.X;
  if (value?.kind === 'items') {
    const joined = concatenated(value.items, true);
    return joined.kind === 'table' ? joined : undefined;
  }
  return undefined;
}

const X_NAMES = ['X', 'x', 'train_set', 'data', 'raw_documents', 'train_data'];

function first({ positional, named }: Arguments, names: readonly string[]): Value | undefined {
  return positional[0] ?? names.map((name) => named.get(name)).find((value) => value !== undefined);
}

function onEstimator(follower: Follower, name: string, estimator: Estimator, args: Arguments): Value {
  const input = first(args, X_NAMES);
  const rows = rowsOf(input);
  const y = input?.kind === 'dataset' ? input.y : (args.positional[1] ?? args.named.get('y'));
  if (/^(fit|partial_fit|train)$/.test(name) && rows !== undefined) {
    fitOn(estimator, rows, y);
    return estimator;
  }
  if (/^fit_(re)?sample$/.test(name) && rows !== undefined) {
    const label = `resample ${estimator.label}`;
    return {
      kind: 'items',
      items: [rows, y].map((value, at) =>
        value?.kind === 'table' ? value.withPick(at === 0 ? label : ofLabels(label)) : plain(label),
      ),
    };
  }
  if (name === 'fit_transform' && rows !== undefined) {
    fitOn(estimator, rows, y);
    return transform(estimator, rows);
  }
  if (name === 'transform' && rows !== undefined) return transform(estimator, rows);
  if (/^(predict\w*|decision_function|fit_predict|__call__)$/.test(name) && rows !== undefined) {
    if (name === 'fit_predict') fitOn(estimator, rows, y);
    const prediction = predict(estimator, rows, name);
    follower.predictions.push(prediction);
    return prediction;
  }
  if (/^(score|evaluate)$/.test(name) && rows !== undefined) {
    const prediction = predict(estimator, rows, 'predict');
    return scored(follower, name, y, [prediction]);
  }
  if (name === 'split') return folds(estimator, rows);
  if (name === 'get_support') return fittedValue(estimator, name);
  if (/^(set_params|set_output|compile|add|build|to|eval|train|set_config)$/.test(name)) {
    if (/^(compile|add)$/.test(name)) estimator.label = `${estimator.label}.${name}(${optionsText(args)})`;
    return estimator;
  }
  return plain(`${estimator.label}.${name}`, args.positional);
}

/** `folds.split(X)`: one fold stands for all. */
function folds(estimator: Estimator, rows: Table | undefined): Value {
  const label = estimator.label.replaceAll('shuffle=false', '');
  const side = (at: number): Table =>
    (rows ?? Table.from('rows')).with({ isPositions: true }).withPick(`fold ${label} ${at}`);
  return { kind: 'items', items: [{ kind: 'items', items: [side(0), side(1)] }] };
}

function scored(
  follower: Follower,
  label: string,
  labels: Value | undefined,
  predictions: readonly Prediction[],
  way = '',
): Score {
  const score: Score = { kind: 'score', label, labels, predictions, way };
  follower.scores.push(score);
  return score;
}

/** A function of a library, or of Python. */
export function callFunction(
  follower: Follower,
  name: string,
  module: string,
  args: Arguments,
  text: string,
): Value {
  const { positional, named } = args;
  const [one, two] = positional;
  if (SHOWS.test(name) && (module === '' || /log/i.test(module))) {
    follower.show(positional);
    return plain('None');
  }
  if (name === 'train_test_split') return divided(args);
  if (name === 'len')
    return { ...plain('#len', positional), ...(one?.kind === 'table' ? { lengthOf: one } : {}) };
  if (/^(range|arange|permutation)$/.test(name) && one !== undefined) return positions(name, args);
  if (CROSS_VALIDATION.test(name) || name === 'cross_val_predict')
    return crossValidated(follower, name, args);
  if (METRIC.test(name)) {
    const predictions = positional.concat([...named.values()]).flatMap((value) => predictionsIn(value));
    if (predictions.length === 0 && module !== '') scored(follower, name, undefined, []);
    if (predictions.length > 0) {
      const labels = named.get('y_true') ?? positional.find((value) => predictionsIn(value).length === 0);
      const options = [...named]
        .filter(([option]) => !/^y_/.test(option))
        .map(([option, value]) => `${option}=${keyOf(value)}`);
      const way = positional.filter((value) => predictionsIn(value).length > 0).map((value) => wayOf(value));
      return scored(follower, `${name}(${options.sort().join()})`, labels, predictions, way.join());
    }
  }
  if (/^(concat|concatenate|vstack|hstack|column_stack|c_|append)$/.test(name)) {
    const listed = one?.kind === 'items' ? one.items : positional;
    const axis = named.get('axis') ?? (name === 'concat' ? undefined : two);
    const isBeside =
      /^(hstack|column_stack|c_)$/.test(name) ||
      (axis?.kind === 'plain' && /^(1|-1|"columns")$/.test(axis.label));
    if (!listed.some((value) => predictionsIn(value).length > 0)) return concatenated(listed, isBeside);
  }
  if (/^(Dataset|DMatrix|Pool|QuantileDMatrix|TensorDataset)$/.test(name)) {
    const X = rowsOf(one ?? named.get('data'));
    if (X !== undefined) return { kind: 'dataset', X, y: named.get('label') ?? two } satisfies DataSet;
  }
  if (
    name === 'train' &&
    (two?.kind === 'dataset' ||
      named.get('train_set')?.kind === 'dataset' ||
      named.get('dtrain')?.kind === 'dataset')
  )
    return trained(args);
  if (name === 'merge' && one?.kind === 'table')
    return callMethod('merge', one, { positional: positional.slice(1), named });
  if (name === 'clone' || name === 'deepcopy')
    return one?.kind === 'estimator' ? { ...one } : (one ?? plain(text));
  if (name === 'enumerate' && one?.kind === 'items')
    return {
      kind: 'items',
      items: one.items.map((item, at) => ({ kind: 'items', items: [plain(`${at}`), item] })),
    };
  if (name === 'zip' && positional.every((value) => value.kind === 'items')) {
    const lists = positional.flatMap((value) => (value.kind === 'items' ? [value.items] : []));
    const length = Math.min(...lists.map((list) => list.length));
    return {
      kind: 'items',
      items: Array.from({ length: Number.isFinite(length) ? length : 0 }, (_, at) => ({
        kind: 'items' as const,
        items: lists.flatMap((list) => list[at] ?? []),
      })),
    };
  }
  if (/^(next|iter)$/.test(name) && one?.kind === 'items')
    return name === 'next' ? (one.items[0] ?? one) : one;
  if ((name === 'list' || name === 'tuple') && one !== undefined) return one;
  if (/^(sorted|reversed)$/.test(name) && (one?.kind === 'items' || one?.kind === 'columns')) return one;
  if (/^[A-Z]|^make_(pipeline|column_transformer)$/.test(name) && !SAME.test(name) && name !== 'Path')
    return construct(name, args);
  return computed(follower, name, module, args, text);
}

/** A function of values: what the first table goes through, a statistic, or something else. */
function computed(follower: Follower, name: string, module: string, args: Arguments, text: string): Value {
  const { positional, named } = args;
  const all = [...positional, ...named.values()];
  const table = all.find((value): value is Table => value.kind === 'table');
  if (all.some((value) => value.kind === 'prediction' || value.kind === 'score'))
    return used(name, positional);
  if (table === undefined) {
    const learned = all.find((value): value is Learned => value.kind === 'learned');
    if (learned !== undefined)
      return SAME.test(name) || /^(float|int|round)$/.test(name) ? learned : combine(name, positional);
    if (READS.test(name)) {
      const file = positional[0]?.kind === 'plain' ? positional[0].text : undefined;
      const written = file === undefined ? undefined : follower.files.get(file);
      return written?.kind === 'table' ? written.with({}) : Table.from(`${name}(${optionsText(args)})`);
    }
    if (
      NO_TABLE.test(name) ||
      /^(zeros|ones|empty|full)(_like)?$/.test(name) ||
      /^(os|random|time|sys|json|math)/.test(module)
    )
      return plain(`${name}(${optionsText(args)})`, positional);
    return plain(`${module}.${text}`, positional);
  }
  if (SAME.test(name)) return positional[0] === table ? table.with({}) : table;
  if (/^(zeros|ones|empty|full)(_like)?$/.test(name)) return plain(`${name}(#)`);
  if (STATISTIC.test(name)) return callMethod(name, table, { positional: positional.slice(1), named });
  if (ABOUT.test(name)) return plain(`#${name}`);
  if (PICKS.test(name)) return callMethod(name, table, { positional: positional.slice(1), named });
  if (/^(qcut|cut|digitize|searchsorted)$/.test(name)) return inBins(name, table, args);
  if (name === 'where' && positional.length === 3) return chosen(positional);
  if (name === 'to_numeric' || name === 'to_datetime')
    return callMethod(name, table, { positional: positional.slice(1), named });
  return combine(name, [...positional, ...named.values()]);
}

/** `pd.qcut(ages, 5, retbins=True)`, and the same bins for other rows: `pd.cut(ages, edges)`. */
function inBins(name: string, table: Table, { positional, named }: Arguments): Value {
  const [, edges] = positional;
  if (edges?.kind === 'learned' && edges.label.startsWith('edges ')) {
    const label = edges.label.slice('edges '.length);
    return table.withStep({
      label,
      columns: '*',
      learning: { picks: edges.from.state.picks, isMixed: false },
    });
  }
  const options = [...named].filter(([option]) => option !== 'retbins').map(([, value]) => value);
  const made = combine(name, [table, ...positional.slice(1), ...options]);
  if (!named.has('retbins') || made.kind !== 'table') return made;
  const label = made.state.steps.at(-1)?.label ?? name;
  return { kind: 'items', items: [made, { kind: 'learned', label: `edges ${label}`, from: table.with({}) }] };
}

/** `np.where(frame["a"].isna(), value, frame["a"])` is a fill. */
function chosen([mask, yes, no]: readonly Value[]): Value {
  const isFill = mask?.kind === 'table' && /^(isna|isnull)\(\)$/.test(mask.state.steps.at(-1)?.label ?? '');
  if (isFill && no?.kind === 'table' && yes !== undefined)
    return callMethod('fillna', no, { positional: [yes], named: new Map() });
  return combine(
    'where',
    [no, yes, mask].filter((value) => value !== undefined),
  );
}

function positions(name: string, { positional, named }: Arguments): Value {
  const [one] = positional;
  const rows = one?.kind === 'table' ? one : one?.kind === 'plain' ? one.lengthOf : undefined;
  if (rows === undefined || positional.length > 1)
    return plain(`${name}(${optionsText({ positional, named })})`, []);
  const made = rows.with({ isPositions: true });
  return name === 'permutation' ? made.withPick('permutation').with({ isPositions: true }) : made;
}

/** `train_test_split(X, y, …)` */
function divided({ positional, named }: Arguments): Value {
  const options = [...named]
    .filter(([name, value]) => !(name === 'shuffle' && keyOf(value) === 'true') && keyOf(value) !== 'None')
    .map(([name, value]) => `${name}=${name === 'stratify' ? stratifyText(value) : keyOf(value)}`);
  if (!named.has('test_size') && !named.has('train_size')) options.push('test_size=0.25');
  const label = options.sort().join();
  const items = positional.flatMap((value) =>
    [0, 1].map((side) =>
      value.kind === 'table'
        ? value.withPick(`split ${label} ${side}`).with({ isPositions: value.state.isPositions ?? false })
        : plain(`split ${keyOf(value)} ${label} ${side}`, [value]),
    ),
  );
  return { kind: 'items', items };
}

function stratifyText(value: Value): string {
  if (value.kind !== 'table') return keyOf(value);
  const { source, columns } = value.state;
  return `${source}.${columns.names?.join('+') ?? columns.selections.join()}`;
}

function crossValidated(follower: Follower, name: string, args: Arguments): Value {
  const { positional, named } = args;
  const estimator = positional[0] ?? named.get('estimator');
  const rows = rowsOf(positional[1] ?? named.get('X'));
  const y = positional[2] ?? named.get('y');
  if (estimator?.kind !== 'estimator' || rows === undefined) return plain(name, positional);
  const options = [...named].filter(
    ([option]) => !/^(estimator|X|y|n_jobs|verbose|return_\w+)$/.test(option),
  );
  const label = `${CROSS_VALIDATION.test(name) ? 'cross_val' : name}(${options
    .map(([option, value]) => `${option}=${keyOf(value)}`)
    .sort()
    .join()})`;
  const own: Estimator = { ...estimator };
  const train = rows.withPick('fold 0');
  fitOn(own, train, y?.kind === 'table' ? y.withPick('fold 0') : y);
  const prediction = predict(own, rows.withPick('fold 1'), name === 'cross_val_predict' ? label : 'predict');
  if (name === 'cross_val_predict') return prediction;
  return scored(follower, label, y?.kind === 'table' ? y.withPick('fold 1') : y, [prediction]);
}

/** `lgb.train(params, data)` */
function trained({ positional, named }: Arguments): Value {
  const [params] = positional;
  const data = [...positional, ...named.values()].find((value): value is DataSet => value.kind === 'dataset');
  const estimator: Estimator = {
    kind: 'estimator',
    label: `train(${params === undefined ? '' : keyOf(params)})`,
    isSampler: false,
    isFollowed: true,
  };
  if (data !== undefined) fitOn(estimator, data.X, data.y);
  return estimator;
}
