import type { Call } from '../syntax/ast.js';
import { type Facts, joinFacts, NO_FACTS, union, wholeFacts } from '../values/facts.js';
import { addColumns, emptyTable, list, newTable } from '../values/join.js';
import {
  dividedAlike,
  noteShuffled,
  originOf,
  overlapOf,
  type Region,
  relationOf,
  sameRows,
} from '../values/region.js';
import {
  type Column,
  factsOf,
  opaque,
  partsOf,
  type Step,
  type TableState,
  UNKNOWN,
  type Value,
} from '../values/value.js';
import { countWork } from '../values/work.js';
import { type Arguments, argument, argumentsOf, flag } from './arguments.js';
import { columnFrom } from './assign.js';
import { afterSteps } from './bounds.js';
import { collectedBefore } from './collecting.js';
import { copiesInFrame } from './copies-in-frame.js';
import type { Interpreter } from './interpreter.js';
import { labelsOf } from './label-copies.js';
import { isDistinct } from './membership.js';
import { columnsBeside } from './renaming.js';
import { drawnPositions, positionsTogether } from './repeated-positions.js';
import { namesOf, pickRows } from './rows-and-columns.js';
import { groupsOf } from './splitters.js';
import { fileOf } from './stored-files.js';
import { concatenated } from './subscripts.js';
import { unknownCall } from './unknown-calls.js';
export function sourceTable(interp: Interpreter, path: string, args: Arguments, call: Call): Value {
  // A state that was saved because it scored best.
  if (/^(torch|joblib|pickle)\.load$/.test(path) && interp.savedChoices.length > 0) {
    return opaque({ ...NO_FACTS, fits: interp.savedChoices });
  }
  const file = fileOf(interp, args);
  const stored = file === undefined ? undefined : interp.stored.read(file);
  if (stored !== undefined) return stored;
  const [first] = args.positional;
  const known = fileKey(interp, args, call);
  nameSecondReading(interp, file, known, call);
  const name = first?.type === 'constant' ? String(first.value) : '';
  const region = interp.source(known ?? `${interp.siteKey(call)}:${name}`, name || interp.label(call));
  if (!/\brandom\b|\.make_/.test(path)) region.isFile = true;
  if (!/^(pandas|polars|cudf|dask|seaborn)\./.test(path)) {
    return { type: 'opaque', facts: NO_FACTS, source: region };
  }
  return newTable({ ...emptyTable({ ...NO_FACTS, rows: [region] }, 'frame'), partial: false });
}

/** Options of a reading function that do not decide which rows are read. */
const COLUMN_OPTIONS =
  /^(usecols|columns|index_col|parse_dates|dtype|sep|delimiter|encoding|names|header|low_memory|engine|na_values|allow_pickle|mmap_mode)$/;

/** What all calls that read the same rows of a file have in common; undefined where the name of the file is not known. */
function fileKey(interp: Interpreter, args: Arguments, call: Call): string | undefined {
  const [file, ...others] = args.positional;
  if (file?.type !== 'constant' || typeof file.value !== 'string' || others.length > 0) return undefined;
  const limits = [...args.keywordExpressions]
    .filter(([name]) => !COLUMN_OPTIONS.test(name))
    .map(([name, expression]) => `${name}=${interp.text(expression)}`);
  return ['file', interp.text(call.callee), file.value, ...limits.sort()].join(':');
}

/** Options that read a part of the rows. */
const PART_OPTIONS = /:(nrows|skiprows|skipfooter)=/;

/** Rows of a file that is read twice are the same rows. They are followed as others if it is not known which they are. */
function nameSecondReading(
  interp: Interpreter,
  file: string | undefined,
  known: string | undefined,
  call: Call,
): void {
  if (file === undefined) return;
  const key = known ?? String(call.end);
  const before = interp.filesRead.get(file);
  if (before === undefined) interp.filesRead.set(file, key);
  const isPart = known === undefined || PART_OPTIONS.test(`${before} ${key}`);
  if (before !== undefined && before !== key && isPart)
    interp.skip(call, 'rows of a file that is read or written more than once');
}

/** The state of a value taken as a table. */
export function asTable(interp: Interpreter, value: Value): TableState {
  return value.type === 'table' ? value.cell.value : emptyTable(interp.dataOf(value));
}

/**
 * What two calls of `train_test_split` have in common that divide rows of one number alike: the seed, the sizes, and
 * whether labels decide. Nothing without a seed.
 * Source: scikit-learn, "Controlling randomness": an integer seed gives the same division in every call.
 */
function seedKey(interp: Interpreter, args: Arguments): string | undefined {
  const said = (name: string): string => {
    const [value, expression] = [args.keywords.get(name), args.keywordExpressions.get(name)];
    if (value?.type === 'constant') return String(value.value);
    return expression === undefined ? '' : interp.text(expression).replaceAll(/\s+/g, '');
  };
  const seed = said('random_state');
  if (seed === '' || seed === 'null') return undefined;
  const labels = said('stratify');
  const isStratified = labels !== '' && labels !== 'null';
  return ['seed', seed, said('test_size'), said('train_size'), said('shuffle'), isStratified].join(':');
}

export function holdout(interp: Interpreter, args: Arguments, call: Call): Value {
  const key = seedKey(interp, args) ?? interp.siteKey(call);
  const [divided] = args.positional;
  const areValues = isDistinct(divided);
  const partition = interp.partition(`${areValues ? 'values' : 'holdout'}:${key}`, 'holdout', call);
  // Rows that share a value stay together.
  if (areValues) partition.keepsGroups = true;
  if (areValues && divided.values !== undefined) partition.dividesBy = divided.values;
  else partition.random = flag(args, 'shuffle') !== false;
  const groups = groupsOf(interp, divided, args.keywords.get('stratify'));
  if (groups !== undefined && partition.random) partition.ignoredGroups = groups;
  const sides: Step[] = [
    { partition, side: 'train', role: 'train' },
    { partition, side: 'test', role: 'test' },
  ];
  const results: Value[] = [];
  // The seed that scored best was chosen on the rows that it holds out.
  const seed = args.keywords.get('random_state');
  const chosen = seed === undefined ? [] : factsOf(seed).fits.filter(({ kind }) => kind === 'selection');
  // What is divided together lies side by side, row by row, as a list of labels beside the features.
  const beside = args.positional.map((value) => interp.dataOf(value)).find(({ rows }) => rows.length > 0);
  for (const value of args.positional) {
    const table = value.type === 'positions' ? undefined : asTable(interp, value);
    const whole =
      table === undefined || table.rows.length > 0 || beside === undefined
        ? table
        : { ...table, rows: beside.rows, certain: beside.certain };
    for (const side of sides) {
      if (value.type === 'positions' || whole === undefined) {
        results.push(value.type === 'positions' ? afterSteps(value, [side]) : value);
      } else {
        const part = pickRows(interp, whole, [side]);
        results.push(newTable(chosen.length === 0 ? part : { ...part, fits: union(part.fits, chosen) }));
      }
    }
  }
  return list(results, true);
}

/** Parts of a data set by lengths or cuts. */
export function parts(interp: Interpreter, args: Arguments, call: Call): Value {
  const [value, cuts] = args.positional;
  if (value === undefined) return UNKNOWN;
  const partition = interp.partition(`parts:${interp.siteKey(call)}`, 'holdout', call);
  const count = cuts?.type === 'sequence' ? cuts.cell.value.items.length : 1;
  const isRandom = call.callee.type === 'name' || interp.text(call.callee).endsWith('random_split');
  const state = asTable(interp, value);
  const pieces = Array.from({ length: isRandom ? count : count + 1 }, (_, at): Value => {
    const role = at === 0 ? 'train' : 'test';
    const step: Step = { partition, side: `part${at}`, role };
    return value.type === 'positions' ? afterSteps(value, [step]) : newTable(pickRows(interp, state, [step]));
  });
  return list(pieces, true);
}

export function positions(interp: Interpreter, path: string, args: Arguments, call: Call): Value {
  const [first] = args.positional;
  // `np.arange(0.1, 0.9, 0.01)` is a grid of numbers.
  if (args.positional.length > 1 && path.endsWith('arange')) return opaque(NO_FACTS);
  if (first?.type === 'constant') return opaque(NO_FACTS);
  if (path === 'random.sample')
    return first?.type === 'positions'
      ? drawnPositions(interp, first, args, call)
      : unknownCall(interp, args, call);
  const isShuffled = /(permutation|randperm)$/.test(path);
  if (first?.type === 'table' && path.endsWith('permutation')) {
    noteShuffled(first.cell.value.rows);
    return first;
  }
  if (path.endsWith('choice')) {
    return drawnPositions(interp, first, args, call);
  }
  if (first?.type === 'positions') return isShuffled ? { ...first, isShuffled } : first;
  const counts = first?.type === 'opaque' ? first.countOf : undefined;
  return {
    type: 'positions',
    steps: [],
    ...(counts === undefined ? {} : { counts }),
    ...(isShuffled ? { isShuffled } : {}),
  };
}

export function blank(interp: Interpreter, path: string, args: Arguments): Value {
  const [first] = args.positional;
  const name = path.replace(/^.*\./, '');
  const truth = /^ones/.test(name) ? { truth: true } : /^zeros/.test(name) ? { truth: false } : {};
  const length = first?.type === 'sequence' && first.cell.value.tuple ? first.cell.value.items[0] : first;
  if (length?.type === 'opaque' && length.countOf !== undefined) {
    return newTable({
      ...emptyTable({ ...NO_FACTS, rows: length.countOf }),
      blank: true,
      predicted: true,
      ...truth,
    });
  }
  if (first?.type === 'table') {
    const { rows, certain } = interp.dataOf(first);
    return newTable({
      ...emptyTable({ ...NO_FACTS, rows, certain }),
      blank: true,
      predicted: true,
      ...truth,
    });
  }
  return newTable(emptyTable(NO_FACTS));
}

export function isAcross(args: Arguments): boolean {
  for (const name of ['axis', 'dim', 'how']) {
    const value = args.keywords.get(name);
    if (value?.type === 'constant')
      return !(value.value === 0 || value.value === 'vertical' || value.value === 'index');
  }
  const second = args.positional[1];
  return second?.type === 'constant' && (second.value === 1 || second.value === -1);
}

export function concatenate(interp: Interpreter, args: Arguments, call: Call): Value {
  if (isAcross(args)) return sideBySide(interp, args);
  const [first, ...others] = args.positional;
  const values =
    first?.type === 'sequence'
      ? partsOf(first)
      : args.positional.length > 1 && others.every((value) => value.type === 'table')
        ? args.positional
        : [first ?? UNKNOWN];
  const together = positionsTogether(interp, values, call);
  if (together !== undefined) return together;
  const isLiteral = call.args.some(({ value }) => value.type === 'sequence');
  const all = values.map((value) => (isLiteral ? interp.dataOf(value) : wholeFacts(interp.dataOf(value))));
  const facts = all.filter((part) => part.rows.length > 0);
  const shape = values.some((value) => value.type === 'table' && value.cell.value.shape === 'frame')
    ? 'frame'
    : 'array';
  const result = concatenated(facts, shape);
  if (result.type !== 'table') return result;
  // Numbers of one row put together.
  if (isLiteral && all.some(({ single }) => single === true))
    return newTable({ ...result.cell.value, shape: 'row', single: true });
  interp.recordJoin(result.cell.value.rows);
  const keys = namesOf(args.keywords.get('keys'));
  const areKeys = keys !== undefined && keys.length === result.cell.value.rows.length;
  const joined = areKeys ? { ...result.cell.value, keys } : result.cell.value;
  const state = withSharedColumns(joined, values);
  // Different columns of the same rows, one under the other: texts for one vocabulary.
  const columns = values.map((value) =>
    value.type === 'table' && value.cell.value.shape === 'column' ? value.cell.value.from.join() : '',
  );
  const areColumns = columns.every((column) => column !== '') && new Set(columns).size === columns.length;
  if (areColumns) return newTable(state);
  // What a loop put into a list is one part after another, not one part twice; beside a part that the code wrote
  // out it may be a copy of it.
  const isWrittenOut = isLiteral || args.positional.length > 1;
  const written = isWrittenOut
    ? all.length
    : first?.type === 'sequence'
      ? (first.cell.value.written ?? 0)
      : 0;
  const literal = call.args.find(({ value }) => value.type === 'sequence')?.value;
  const expressions = literal?.type === 'sequence' ? literal.items : args.expressions;
  const collected = collectedBefore(interp, call, expressions);
  const rowsAt = (at: number): readonly Region[] =>
    at === collected?.at ? collected.rows : (all[at]?.rows ?? []);
  const repeated = all.filter((_, at) =>
    all.some((__, index) => index < Math.min(at, written) && overlapOf(rowsAt(at), rowsAt(index)) === 'yes'),
  );
  if (repeated.length === 0 || state.predictions.length > 0) return newTable(state);
  // Copies of some rows are beside the rows themselves: how they are dealt out is how those are dealt out.
  const remaining = state.rows.filter(
    (region) => !state.rows.some((other) => relationOf(other, region) === 'contains'),
  );
  const again = repeated.flatMap((part) => [...part.rows]);
  const rows = remaining.filter((region) => overlapOf([region], again) === 'yes');
  const event = interp.fit(
    'duplicated-rows',
    `\`${interp.label(call)}\``,
    { rows, certain: repeated.every((part) => part.certain) },
    interp.label(call),
    call,
  );
  const copies = copiesInFrame(values);
  if (copies !== undefined) event.copies = copies;
  return newTable({ ...state, rows: remaining, fits: union(state.fits, [event]) });
}

/** Columns of frames put one under the other: each keeps what any of them was made with. */
function withSharedColumns(state: TableState, values: readonly Value[]): TableState {
  const tables = values.flatMap((value) => (value.type === 'table' ? [value.cell.value] : []));
  if (tables.length !== values.length || tables.every((table) => table.columns.size === 0)) return state;
  const fits = allOf(tables.map((table) => table.fits));
  const columns = new Map<string, Column>();
  for (const table of tables) {
    countWork(8 * table.columns.size);
    addColumns(columns, table.columns);
  }
  const predictions = allOf(tables.map((table) => table.predictions));
  const dropped = new Set(
    [...(tables[0]?.dropped ?? [])].filter((name) => tables.every((table) => table.dropped.has(name))),
  );
  return { ...state, fits, predictions, columns, dropped };
}

/** What several tables were made with, each once. */
function allOf<T>(parts: readonly (readonly T[])[]): readonly T[] {
  return parts.reduce((all, part) => union(all, part), []);
}

/** Whether rows are the same, or those of two files that are read side by side, row by row. */
function areBeside(a: readonly Region[], b: readonly Region[]): boolean {
  if (sameRows(a, b)) return true;
  if (!dividedAlike(a, b, true)) return false;
  const [left, right] = [a[0], b[0]];
  if (left !== undefined && right !== undefined) originOf(right).beside ??= originOf(left);
  return true;
}

/** Columns beside columns: rows stay what they are. */
export function sideBySide(interp: Interpreter, args: Arguments): Value {
  const [first] = args.positional;
  const values = first?.type === 'sequence' ? partsOf(first) : args.positional;
  let facts = NO_FACTS;
  let rows: Facts | undefined;
  let certain = true;
  for (const value of values) {
    const next = interp.dataOf(value);
    if (next.rows.length > 0) {
      if (rows !== undefined && !areBeside(rows.rows, next.rows) && value.type !== 'opaque') certain = false;
      rows ??= next;
    }
    facts = joinFacts(facts, next);
  }
  // A list that a loop filled row by row holds all rows.
  if (first?.type === 'sequence' && args.expressions[0]?.type !== 'sequence') facts = wholeFacts(facts);
  const tables = values.flatMap((value) => (value.type === 'table' ? [value.cell.value] : []));
  const areTables = tables.length === values.length && values.length > 0;
  const named = areTables ? columnsBeside(tables, namesOf(args.keywords.get('keys'))) : undefined;
  if (named !== undefined) {
    const state = emptyTable({ ...NO_FACTS, scores: facts.scores, rows: rows?.rows ?? [] }, 'frame');
    const isCertain = (rows?.certain ?? true) && certain;
    return newTable({ ...state, certain: isCertain, columns: named, closed: true, partial: false });
  }
  const frame = values.find((value) => value.type === 'table' && value.cell.value.shape === 'frame');
  const base = emptyTable({ ...facts, rows: rows?.rows ?? [] }, frame === undefined ? 'array' : 'frame');
  const result = { ...base, certain: (rows?.certain ?? true) && certain };
  if (frame === undefined || !areTables) return newTable(result);
  // Frames side by side keep their columns separate.
  const columns = new Map<string, Column>();
  for (const table of tables) {
    countWork(8 * table.columns.size);
    for (const [name, column] of table.columns) columns.set(name, column);
    const { called, fits, predictions, from } = table;
    if (called !== undefined) columns.set(called, { fits, predictions, from });
  }
  const fits = allOf(tables.map((table) => (table.called === undefined ? table.fits : [])));
  const dropped = new Set([...(tables[0]?.dropped ?? [])].filter((name) => !columns.has(name)));
  return newTable({ ...result, fits, columns, dropped });
}

/** `pd.Series(0.0, index=train.index)`: one number in all rows, in which predictions are put later. */
function ofOneNumber(args: Arguments, shape: TableState['shape']): Value | undefined {
  const number = argument(args, 0, 'data');
  const index = argument(args, 1, 'index');
  const isNumber = number?.type === 'constant' && typeof number.value === 'number';
  if (!isNumber || index?.type !== 'positions' || index.steps.length > 0) return undefined;
  return newTable({
    ...emptyTable({ ...NO_FACTS, rows: index.of ?? [] }, shape),
    blank: true,
    predicted: true,
  });
}

export function container(interp: Interpreter, path: string, args: Arguments, call: Call): Value {
  const shape = /\.(DataFrame|from_pandas)$/.test(path)
    ? 'frame'
    : path.endsWith('.Series')
      ? 'column'
      : 'array';
  const [first] = args.positional;
  // Distinct values, or positions, in an array.
  if (first?.type === 'positions' && shape === 'array') return first;
  if (first?.type === 'mapping' && shape === 'frame') {
    const facts = factsOf(first);
    const contents = [...first.cell.value.entries.values()];
    const joined = interp.dataOf(list(contents));
    // Columns that are made on the spot belong to rows of their own.
    const isMade = !joined.certain && contents.every((value) => value.type !== 'table');
    const made = interp.source(interp.siteKey(call), interp.label(call));
    const rows = isMade ? { ...joined, rows: [made], certain: true } : joined;
    if (rows.rows.length > 0) {
      const columns = new Map(
        [...first.cell.value.entries].map(([name, value]) => [name, columnFrom(interp, value)]),
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
  const filled = ofOneNumber(args, shape);
  if (filled !== undefined) return filled;
  // A frame without rows, which is filled column by column or row by row.
  if (shape === 'frame' && first === undefined && !args.keywords.has('data')) {
    const index = args.keywords.get('index');
    const rows = index?.type === 'positions' && index.steps.length === 0 ? (index.of ?? []) : [];
    const isEmpty = [...args.keywords.keys()].every((name) => name === 'index');
    const facts = { ...NO_FACTS, rows, predicted: true };
    return newTable({ ...emptyTable(facts, 'frame'), closed: isEmpty, partial: true });
  }
  let facts = NO_FACTS;
  for (const value of args.all) facts = joinFacts(facts, interp.dataOf(value));
  // Features and labels side by side, which may come from two files.
  if (path.endsWith('.TensorDataset'))
    facts = interp.dataOf(sideBySide(interp, argumentsOf(args.positional)));
  if (path.endsWith('DataLoader') && facts.rows.length > 0) interp.recordLoader(facts.rows, call);
  if (facts.rows.length > 0 && first?.type === 'table') {
    const state = first.cell.value;
    // Features and labels in one, for a model that is trained by a function.
    const labels = /\.(Dataset|DMatrix|QuantileDMatrix|Pool)$/.test(path)
      ? labelsOf(interp, first, argument(args, 1, 'label'), call).fits
      : [];
    return newTable({
      ...state,
      fits: union(union(state.fits, facts.fits), labels),
      shape: state.shape === 'row' ? 'row' : shape,
    });
  }
  if (facts.rows.length > 0 || facts.scores.length > 0) return newTable(emptyTable(facts, shape));
  // A number for each column, as `frame.corrwith(label)` gives them: no rows.
  if (path.endsWith('.Series') && facts.fits.some(({ kind }) => kind === 'feature-selection'))
    return opaque(facts);
  if (first?.type === 'mapping' || first?.type === 'sequence') {
    const source = interp.source(interp.siteKey(call), interp.label(call));
    return shape === 'frame'
      ? newTable(emptyTable({ ...facts, rows: [source] }, shape))
      : { type: 'opaque', facts, source };
  }
  return opaque(facts);
}
