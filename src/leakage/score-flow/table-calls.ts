import type { Arguments } from './estimators.js';
import { hasOtherSteps } from './estimators.js';
import { ALL_COLUMNS, type ColumnSet, madeBy, type Step, type Table } from './table.js';
import { columnSetOf, type Grouped, keyOf, type Learned, plain, type Value } from './values.js';
import { ABOUT, ACROSS_ROWS, MASK, PICKS, SAME, STATISTIC } from './words.js';

/** A value beside the rows of a table, as a text that does not depend on names. */
export function besides(value: Value, base: Table): string {
  if (value.kind === 'learned') {
    const { from, label } = value;
    const columns = from.state.columns.names;
    const own = base.state.columns.names;
    const isOther = columns !== undefined && own !== undefined && columns.join() !== own.join();
    return `~${label}${isOther ? `[${columns.join()}]` : ''}`;
  }
  if (value.kind !== 'table') return keyOf(value);
  const { source, picks, columns } = value.state;
  const from = source === base.state.source ? '' : source;
  const own = madeBy(value.state);
  const rows = from === '' && picks.join('>') !== base.state.picks.join('>') ? '!rows' : '';
  return `${from}@${columns.names?.join('+') ?? '*'}${own.length === 0 ? '' : `{${own.join('>')}}`}${rows}`;
}

/** The step of a computation on a table with other values. */
export function stepWith(label: string, base: Table, others: readonly Value[]): Step {
  const learned = others.find((value): value is Learned => value.kind === 'learned');
  const isAcross = ACROSS_ROWS.test(label.split('(')[0] ?? '');
  const isFitted = /^(get_dummies|factorize|qcut|cut)\(/.test(label);
  return {
    label,
    columns: '*',
    ...(learned === undefined
      ? {}
      : {
          learning: {
            source: learned.from.state.source,
            picks: learned.from.state.picks,
            isMixed: hasOtherSteps(learned.from, base),
          },
        }),
    ...(isFitted ? { learning: { picks: base.state.picks, isMixed: false } } : {}),
    ...(isAcross ? { rowsBefore: base.state.picks } : {}),
  };
}

/** A computation of several values; the first table gives the rows. */
export function combine(operator: string, values: readonly Value[]): Value {
  const base = values.find((value): value is Table => value.kind === 'table');
  if (base === undefined) {
    const learned = values.find((value): value is Learned => value.kind === 'learned');
    const label = `${operator}(${values.map((value) => keyOf(value)).join()})`;
    return learned === undefined ? plain(label, values) : { ...learned, label };
  }
  const texts = values.map((value) => (value === base ? '.' : besides(value, base)));
  const isMask = /^([<>]=?|[!=]=|&|\||~|not|in|is)/.test(operator);
  const made = base.withStep(stepWith(`${operator}(${texts.join()})`, base, values));
  return isMask ? made.with({ isMask: true }) : made;
}

/** A computation with predictions and scores stays one of them. */
export function used(label: string, values: readonly Value[]): Value {
  const prediction = values.find((value) => value.kind === 'prediction');
  if (prediction?.kind === 'prediction' && values.filter(({ kind }) => kind === 'prediction').length === 1) {
    const others = values.map((value) => (value === prediction ? '.' : keyOf(value))).join();
    return { ...prediction, uses: [...prediction.uses, `${label}(${others})`] };
  }
  if (prediction !== undefined || values.some(({ kind }) => kind === 'score'))
    return plain(`${label}(${values.map((value) => keyOf(value)).join()})`, values);
  return combine(label, values);
}

function callText({ positional, named }: Arguments, base: Table): string {
  const options = [...named]
    .filter(([name]) => !/^(inplace|copy|n_jobs|verbose)$/.test(name))
    .map(([name, value]) => `${name}=${besides(value, base)}`)
    .sort();
  return [...positional.map((value) => besides(value, base)), ...options].join();
}

/** `frame.method(…)`: a new value; what it does in place is up to the caller. */
export function callMethod(name: string, table: Table, args: Arguments): Value {
  const { positional, named } = args;
  const [first] = positional;
  if (name === 'drop') return dropped(table, args);
  if (name === 'fillna') return filled(table, args);
  if (name === 'filter' || name === 'select_dtypes')
    return table.only([`?${name}(${callText(args, table)})`]);
  if (name === 'get') return table.only((first && columnSetOf(first)) ?? ['?']);
  if (name === 'groupby' || name === 'group_by')
    return { kind: 'grouped', table, keys: first === undefined ? '' : groupText(first) };
  if (name === 'assign') return assigned(table, named);
  if (name === 'map' && first?.kind === 'learned') return looked(table, first);
  if ((name === 'merge' || name === 'join') && first?.kind === 'learned') {
    const result = table.with({});
    result.set([`?${first.label}`], [groupStep(first)]);
    return result;
  }
  if (name === 'shape' || name === '__len__') return plain(`#${name}`);
  if (SAME.test(name)) return table.with({ isPositions: table.state.isPositions ?? false });
  if (STATISTIC.test(name)) {
    const axis = named.get('axis');
    if (axis === undefined || !/^(1|"columns")$/.test(keyOf(axis)))
      return { kind: 'learned', label: statisticText(name, args), from: table.with({}) };
  }
  if (ABOUT.test(name)) return plain(`#${name}`);
  if (PICKS.test(name)) return picked(table, name, args);
  const made = table.withStep(
    stepWith(`${name}(${callText(args, table)})`, table, [...positional, ...named.values()]),
  );
  return MASK.test(name) ? made.with({ isMask: true }) : made;
}

function statisticText(name: string, { positional, named }: Arguments): string {
  const plainName = name === 'agg' || name === 'aggregate' ? '' : name.replace(/^nan/, '');
  const options = [
    ...positional.map((value) => keyOf(value)),
    ...[...named]
      .filter(([option]) => !/^(numeric_only|skipna|axis)$/.test(option))
      .map(([option, value]) => `${option}=${keyOf(value)}`),
  ];
  if (plainName === '') return options.join().replaceAll('"', '');
  return options.length === 0 ? plainName : `${plainName}(${options.join()})`;
}

/** The fills before rows with gaps are dropped decide which rows remain. */
function picked(table: Table, name: string, args: Arguments): Table {
  const isByValue = /^(dropna|drop_duplicates|query|sort_values|nlargest|nsmallest)$/.test(name);
  const fills = table.state.steps
    .filter(({ label }) => /^(fillna|where\(isna)/.test(label))
    .map(({ label }) => label);
  const before = isByValue && name === 'dropna' ? fills.join('>') : '';
  return table.withPick(`${name}(${callText(args, table)})${before === '' ? '' : ` after ${before}`}`);
}

function groupText(keys: Value): string {
  const columns = columnSetOf(keys);
  if (columns !== undefined && columns !== '*') return [...columns].join();
  return keys.kind === 'table' ? (keys.state.columns.names?.join() ?? keys.key) : keyOf(keys);
}

/** `frame.groupby(keys)["a"].mean()`, `.transform("mean")` */
export function callGrouped(name: string, { table, keys }: Grouped, args: Arguments): Value {
  const [first] = args.positional;
  const column = table.state.columns.names?.join() ?? '*';
  if (name === 'transform') {
    const how = first?.kind === 'plain' ? (first.text ?? first.label) : 'function';
    return fresh(table, {
      label: `group[${keys}].${how}(${column})`,
      columns: '*',
      learning: { picks: table.state.picks, isMixed: false },
    });
  }
  if (ACROSS_ROWS.test(name))
    return table.withStep({
      label: `group[${keys}] ${name}(${callText(args, table)})`,
      columns: '*',
      rowsBefore: table.state.picks,
    });
  if (STATISTIC.test(name) || name === 'apply')
    return {
      kind: 'learned',
      label: `group[${keys}].${statisticText(name, args)}(${column})`,
      from: table.with({}),
      groups: keys,
    };
  return table.with({ isFollowed: false });
}

function groupStep({ label, from }: Learned): Step {
  return { label, columns: '*', learning: { picks: from.state.picks, isMixed: false } };
}

/** Values that are looked up by group have no steps of the column with the groups. */
function looked(table: Table, learned: Learned): Table {
  const label = learned.groups === undefined ? `map(~${learned.label})` : learned.label;
  return fresh(table, { ...groupStep(learned), label });
}

/** New values for the rows of a table, without its steps. */
function fresh(table: Table, step: Step): Table {
  return table.with({ steps: [step], columns: ALL_COLUMNS });
}

function filled(table: Table, { positional, named }: Arguments): Table {
  const value = positional[0] ?? named.get('value');
  if (value === undefined) {
    const method = named.get('method');
    const label = method?.kind === 'plain' ? `${method.text ?? method.label}()` : 'fillna()';
    return table.withStep(stepWith(label.replace('forward', 'ffill'), table, []));
  }
  // A group that the training rows lack gets a value of all of them.
  if (table.state.steps.at(-1)?.label.startsWith('group[') === true) return table;
  if (value.kind === 'dictionary') {
    const result = table.with({});
    for (const [column, fill] of value.entries) {
      const own = table.only([column]);
      result.set([column], [stepWith(`fillna(${besides(fill, own)})`, own, [fill])]);
    }
    return result;
  }
  const filledColumns = value.kind === 'learned' ? columnsOfSeries(value) : undefined;
  if (filledColumns !== undefined) {
    const result = table.with({});
    const own = table.only(filledColumns);
    result.set(filledColumns, [stepWith(`fillna(${besides(value, own)})`, own, [value])]);
    return result;
  }
  return table.withStep(stepWith(`fillna(${besides(value, table)})`, table, [value]));
}

/** Statistics of several columns: each fills its own, and no other. */
function columnsOfSeries({ from, groups }: Learned): readonly string[] | undefined {
  const { names } = from.state.columns;
  const isSeries = groups === undefined && names !== undefined && names.length > 1;
  return isSeries && names.every((name) => !name.startsWith('?')) ? names : undefined;
}

function dropped(table: Table, { positional, named }: Arguments): Table {
  const axis = named.get('axis') ?? positional[1];
  const columns = named.get('columns');
  const isColumns = columns !== undefined || (axis !== undefined && /^(1|"columns")$/.test(keyOf(axis)));
  const what = columns ?? named.get('labels') ?? positional[0];
  if (what === undefined) return table;
  if (isColumns) return table.without(columnSetOf(what) ?? [`?${keyOf(what)}`]);
  return table.withPick(`drop(${besides(named.get('index') ?? what, table)})`);
}

function assigned(table: Table, named: ReadonlyMap<string, Value>): Table {
  const result = table.with({});
  for (const [column, value] of named) assign(result, [column], value);
  return result;
}

/** `frame[columns] = value` */
export function assign(table: Table, columns: ColumnSet, value: Value, mask?: Value): void {
  const own = table.only(columns);
  if (mask !== undefined) {
    const where = mask.kind === 'table' ? maskText(mask) : keyOf(mask);
    const text = besides(value, own);
    const isFill = where === 'isna()';
    const label = isFill ? `fillna(${text})` : `where(${where})=${text}`;
    table.set(columns, [stepWith(label, own, [value])]);
    return;
  }
  if (value.kind === 'prediction') {
    const label = `=${keyOf(value)}`;
    table.set(columns, [{ label, columns: '*', prediction: value }]);
    return;
  }
  if (value.kind !== 'table') {
    table.set(columns, [stepWith(`=${besides(value, own)}`, own, [value])]);
    return;
  }
  const { state } = value;
  const steps = state.steps.filter((step) => !table.state.steps.includes(step));
  const first: Step[] = [];
  if (state.source !== table.state.source) first.push({ label: `=${state.source}`, columns: '*' });
  else if (state.picks.join('>') !== table.state.picks.join('>'))
    first.push({ label: `rows of another part (${state.picks.at(-1) ?? 'all'})`, columns: '*' });
  const names = state.columns.names;
  const isGroup = steps[0]?.label.startsWith('group[') === true;
  const isOther = columns !== '*' && (names === undefined || names.join() !== columns.join());
  if (isOther && !isGroup && names !== undefined) {
    const made = madeBy(state).filter((label) => !steps.some((step) => step.label === label));
    first.push({
      label: `=@${names.join('+')}${made.length === 0 ? '' : `{${made.join('>')}}`}`,
      columns: '*',
    });
  }
  // A column that its new values are made of was there before.
  table.set(columns, [...first, ...steps], state.isFollowed, isOther);
}

/** A condition on rows, as a text. */
export function maskText(mask: Table): string {
  const made = madeBy(mask.state).join('>');
  const columns = mask.state.columns.names?.join('+');
  return /(^|>)(isna|isnull)\(\)$/.test(made) ? 'isna()' : `${columns ?? ''}.${made}`;
}

/** Tables under each other, or beside each other. */
export function concatenated(values: readonly Value[], isBeside: boolean): Value {
  const tables = values.filter((value): value is Table => value.kind === 'table');
  const [first] = tables;
  if (first === undefined) return plain(`concat(${values.map((value) => keyOf(value)).join()})`, values);
  if (!isBeside) {
    const label = `concat(${tables.map((table) => `${table.state.source}[${table.state.picks.join('>')}]`).join()})`;
    const isAlike = tables.every(
      (table) =>
        table.state.steps.map(({ label: one }) => one).join() ===
        first.state.steps.map(({ label: one }) => one).join(),
    );
    const made = first.with({
      stack: tables.map(({ state: { source, picks } }) => ({ source, picks })),
      source: label,
      picks: [],
      isFollowed: tables.every((table) => table.state.isFollowed),
    });
    return isAlike
      ? made
      : made.withStep({
          label: `concat{${tables.map((table) => table.state.steps.map(({ label: one }) => one).join('>')).join(';')}}`,
          columns: '*',
        });
  }
  const isNamed = tables.every((table) => table.state.columns.names !== undefined);
  const names = tables.flatMap((table) => table.state.columns.names ?? []);
  const result = first.with({
    columns: isNamed
      ? { ...ALL_COLUMNS, names }
      : {
          ...ALL_COLUMNS,
          selections: tables.map(
            (table) => table.state.columns.selections.join() || (table.state.columns.names?.join('+') ?? '*'),
          ),
        },
    steps: first.state.steps.filter((step) => tables.every((table) => table.state.steps.includes(step))),
    isFollowed: tables.every((table) => table.state.isFollowed),
  });
  const shared = new Set(result.state.steps);
  for (const [at, table] of tables.entries()) {
    const own = table.state.steps.filter((step) => !shared.has(step));
    const columns = table.state.columns.names ?? [`?part ${at}`];
    for (const step of own) result.set(step.columns === '*' ? columns : step.columns, [step]);
    const isOther =
      table.state.source === first.state.source &&
      table.state.picks.join('>') !== first.state.picks.join('>');
    if (isOther)
      result.set(columns, [
        { label: `rows of another part (${table.state.picks.at(-1) ?? 'all'})`, columns: '*' },
      ]);
  }
  return result;
}
