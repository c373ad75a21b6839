import type { Expr, FunctionDefinition, Module, Stmt, Subscript } from '../../../syntax/ast.js';
import { calleeName, namesInExpression, rootName, statementsIn } from '../../../syntax/walk.js';
import { helpersOf } from '../../helper-calls.js';
import { assignedTo, expressionsOf } from './assigned-values.js';
import { type FoldRounds, foldRounds } from './fold-loops.js';
import { NotCrossFitted } from './not-cross-fitted.js';
import type { RowAccess, RowKind, Rows } from './row-kinds.js';

/** A variable that holds a value for each row that the folds divide, and how some of its rows are taken. */
interface RowTable {
  readonly access: RowAccess;
  readonly kind: RowKind;
}

/** Predictions that a loop over folds puts together, and the tables whose rows it takes. */
export interface OutOfFold {
  readonly rounds: FoldRounds;
  /** The statement of the suite in which the last of the predictions are made. */
  readonly outer: Stmt;
  readonly tables: ReadonlyMap<string, RowTable>;
}

/** The predictions that were put together before a statement of a suite; nothing where there are none. */
export function outOfFoldBefore(module: Module, choice: Stmt): OutOfFold | undefined {
  const before = choice.suite.statements.filter(
    ({ type, end }) => end <= choice.start && type !== 'function' && type !== 'class',
  );
  const found = before.flatMap((outer) =>
    [...statementsIn(outer)].flatMap((loop) =>
      loop.type === 'for' && fillsRows(loop.body.statements) ? [{ outer, loop }] : [],
    ),
  );
  const made = found.flatMap(({ outer, loop }) => {
    const rounds = foldRounds(module, loop);
    return rounds === undefined || filled(module, rounds).length === 0 ? [] : [{ outer, rounds }];
  });
  const last = made.at(-1);
  if (last === undefined) return undefined;
  if (made.some(({ rounds }) => rounds.head !== last.rounds.head))
    throw new NotCrossFitted('the predictions are made for several divisions of the rows');
  return { ...last, tables: tablesOf(module, made, choice) };
}

function fillsRows(statements: readonly Stmt[]): boolean {
  return statements
    .flatMap((outer) => [...statementsIn(outer)])
    .some((statement) => targetsOf(statement).some((target) => target.type === 'subscript'));
}

function targetsOf(statement: Stmt): Expr[] {
  if (statement.type === 'augmented') return [statement.target];
  if (statement.type !== 'assign') return [];
  return statement.targets.flatMap((target) => (target.type === 'sequence' ? target.items : [target]));
}

/** Subscripts by which rows are predicted: `oof[val]`, `oof.iloc[val, 0]`, `oof[name][val]`. */
function filled(module: Module, rounds: FoldRounds): Subscript[] {
  const turns = new Set([...namesInExpression(rounds.loop.target)].map(({ id }) => id));
  return [...statementsIn(rounds.loop)].flatMap((statement) =>
    (isNumberOfFold(statement, turns) ? [] : targetsOf(statement)).filter(
      (target): target is Subscript =>
        target.type === 'subscript' && target.indices.some((index) => isTaken(module, index, rounds.scored)),
    ),
  );
}

/** `frame.loc[val, "fold"] = fold` */
function isNumberOfFold(statement: Stmt, turns: ReadonlySet<string>): boolean {
  if (statement.type !== 'assign') return false;
  const { value } = statement;
  return value.type === 'constant' || (value.type === 'name' && turns.has(value.id));
}

function isTaken({ source }: Module, index: Expr, rows: string): boolean {
  return source.slice(index.start, index.end) === rows;
}

interface Taken {
  readonly name: string;
  readonly access: RowAccess;
  /** The key of a dictionary of tables. */
  readonly key?: Expr;
  readonly hasColumn: boolean;
}

function tablesOf(
  module: Module,
  made: readonly { readonly rounds: FoldRounds }[],
  reader: Stmt,
): ReadonlyMap<string, RowTable> {
  const byName = new Map<string, Taken[]>();
  const predicted = new Set(
    made.flatMap(({ rounds }) => filled(module, rounds)).flatMap((one) => rootName(one) ?? []),
  );
  for (const { rounds } of made) {
    for (const taken of takenIn(module, rounds)) {
      byName.set(taken.name, [...(byName.get(taken.name) ?? []), taken]);
    }
  }
  const tables = new Map<string, RowTable>();
  for (const [name, ways] of byName) {
    const access = accessOf(ways);
    if (access !== undefined)
      tables.set(name, { access, kind: kindOf(module, name, ways, access, predicted.has(name), reader) });
  }
  return tables;
}

/** One way to take rows; `iloc` where both it and an index alone are used. */
function accessOf(ways: readonly Taken[]): RowAccess | undefined {
  const all = new Set(ways.map(({ access }) => access));
  const isMixed = new Set(ways.map(({ key }) => key === undefined)).size > 1;
  if (isMixed) return undefined;
  if (all.size === 1) return ways[0]?.access;
  return all.has('second') ? undefined : all.has('iloc') ? 'iloc' : undefined;
}

function kindOf(
  module: Module,
  name: string,
  ways: readonly Taken[],
  access: RowAccess,
  isPredicted: boolean,
  reader: Stmt,
): RowKind {
  const isKeyed = ways.some(({ key }) => key !== undefined);
  const [first, ...others] = assignedTo(module, name, reader);
  const value = others.length > 0 ? undefined : first;
  const rows: Rows = {
    is: 'rows',
    axes: undefined,
    type: 'float',
    isArray: access === 'plain' ? undefined : access === 'second',
    isApplied: false,
  };
  if (isKeyed) {
    const entry =
      value?.type === 'comprehension'
        ? value.element
        : value?.type === 'dictionary'
          ? value.entries[0]?.value
          : undefined;
    return { is: 'entries', of: { ...rows, ...blankOf(entry) } };
  }
  if (!isPredicted) return rows;
  const blank = blankOf(value);
  const axes = ways.some(({ hasColumn }) => hasColumn) ? 2 : blank.axes;
  return { ...rows, ...blank, axes, ...(blank.isArray === true ? { like: name } : {}) };
}

/** What a table is that is made before it is filled: `np.zeros(len(X))`, `np.zeros((len(X), 3))`. */
function blankOf(value: Expr | undefined): Partial<Pick<Rows, 'axes' | 'isArray'>> {
  const none = {};
  if (value?.type !== 'call' || rootName(value) !== 'np') return none;
  const [shape] = value.args;
  switch (calleeName(value)) {
    case 'zeros':
    case 'empty':
    case 'ones':
    case 'full': {
      if (value.args.some(({ name }) => name === 'dtype')) return none;
      const sizes = shape?.value.type === 'sequence' ? shape.value.items.length : 1;
      return { axes: sizes === 1 ? 1 : sizes === 2 ? 2 : undefined, isArray: true };
    }
    case 'zeros_like':
    case 'empty_like':
      return { axes: undefined, isArray: true };
    default:
      return none;
  }
}

/** The ways in which a loop takes the rows of its folds, also in the functions that get their positions. */
function takenIn(module: Module, { loop, train, scored }: FoldRounds): Taken[] {
  const statements = [...statementsIn(loop)];
  const own = statements.flatMap((statement) => takenBy(module, statement, [train, scored]));
  const inHelpers = statements.flatMap(expressionsOf).flatMap((call) => {
    if (call.type !== 'call') return [];
    const [helper, ...others] = helpersOf(module, call);
    if (helper === undefined || others.length > 0) return [];
    const rows = parametersFor(module, helper, call.args, (text) => text === train || text === scored);
    const inside = [...statementsIn(helper)].flatMap((statement) =>
      takenBy(module, statement, [...rows.keys()]),
    );
    const tables = parametersFor(module, helper, call.args, () => true);
    return inside.flatMap((taken) => {
      const name = tables.get(taken.name);
      return name === undefined || !/^\w+$/.test(name) ? [] : [{ ...taken, name }];
    });
  });
  return [...own, ...inHelpers];
}

/** Parameters of a function with the code of what a call hands to them. */
function parametersFor(
  { source }: Module,
  { params }: FunctionDefinition,
  args: readonly { readonly name?: string; readonly star: string; readonly value: Expr }[],
  isMeant: (text: string) => boolean,
): Map<string, string> {
  const found = new Map<string, string>();
  if (args.some(({ star }) => star !== '')) return found;
  args.forEach(({ name, value }, at) => {
    const parameter = name ?? params[at]?.name;
    const text = source.slice(value.start, value.end);
    if (parameter !== undefined && isMeant(text)) found.set(parameter, text);
  });
  return found;
}

function takenBy(module: Module, statement: Stmt, rows: readonly string[]): Taken[] {
  return expressionsOf(statement).flatMap((part) => {
    if (part.type !== 'subscript') return [];
    const at = part.indices.findIndex((index) => rows.some((text) => isTaken(module, index, text)));
    if (at < 0) return [];
    const hasColumn = part.indices.length > 1;
    const taken = at === 0 ? takenFrom(module, part.object, statement) : undefined;
    if (taken !== undefined) return [{ ...taken, hasColumn }];
    const isSecond = at === 1 && part.object.type === 'name' && part.indices[0]?.type !== 'slice';
    return isSecond && part.object.type === 'name'
      ? [{ name: part.object.id, access: 'second' as const, hasColumn: false }]
      : [];
  });
}

/** `y`, `y.iloc`, `X[features].iloc`, `y.values`, `oof[name]` before the index. */
function takenFrom(module: Module, object: Expr, reader: Stmt): Omit<Taken, 'hasColumn'> | undefined {
  if (object.type === 'name') return { name: object.id, access: 'plain' };
  if (object.type === 'attribute') {
    const name = rootOfColumns(object.object);
    if (name === undefined) return undefined;
    if (object.name === 'loc') return { name, access: 'loc' };
    return object.name === 'iloc' || object.name === 'values' ? { name, access: 'iloc' } : undefined;
  }
  if (object.type !== 'subscript' || object.object.type !== 'name') return undefined;
  const { id } = object.object;
  const [key, ...more] = object.indices;
  if (key === undefined || more.length > 0 || !isDictionary(module, id, reader)) return undefined;
  return { name: id, access: 'plain', key };
}

/** The table of which columns are picked: `X`, `X[features]`. */
function rootOfColumns(object: Expr): string | undefined {
  if (object.type === 'name') return object.id;
  return object.type === 'subscript' && object.object.type === 'name' ? object.object.id : undefined;
}

function isDictionary(module: Module, name: string, reader: Stmt): boolean {
  const [value, ...others] = assignedTo(module, name, reader);
  if (others.length > 0 || value === undefined) return false;
  return value.type === 'dictionary' || (value.type === 'comprehension' && value.form === 'dict');
}
