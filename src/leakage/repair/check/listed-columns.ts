import type { Call, Expr, Module, Span, Stmt } from '../../syntax/ast.js';
import {
  calleeName,
  expressionsIn,
  namesInExpression,
  ownExpressions,
  rootName,
  statementsIn,
} from '../../syntax/walk.js';
import { lastAssigned } from '../rows-first/table-kind.js';
import { newStatements, type PartPair, partPairs, plainText, type ScriptChange } from './script-change.js';

/** What gives the names of all columns of a table, or of all of one type. */
const LISTS = /^(columns|select_dtypes|dtypes|keys|describe|_get_numeric_data)$/;
/** Methods that take names out of a list, or columns out of a table. */
const TAKES_OUT = /^(remove|discard|drop|pop|difference_update)$/;
/** A table, or a list, is followed through as many steps. */
const MAX_STEPS = 30;

/** Where the names of an index come from. */
interface Listed {
  /** The tables whose columns are listed, and where. */
  readonly tables: readonly { readonly name: string; readonly at: number }[];
  /** Names of the lists on the way. */
  readonly lists: ReadonlySet<string>;
  /** What says which names are in the list. */
  readonly made: readonly Span[];
}

/**
 * Whether a rewrite takes columns of a part by names that were listed of a table which had more columns:
 * `numeric = df.select_dtypes("number").columns`, then `df.drop(columns="label")` is divided, and `X_train[numeric]`
 * asks for a label that is not there. Names that the list leaves out as well do not count.
 */
export function columnsListedBefore(change: ScriptChange): string | undefined {
  const { module } = change.after;
  const pairs = partPairs(change);
  for (const statement of newStatements(change)) {
    for (const part of ownExpressions(statement).flatMap((own) => [...expressionsIn(own)])) {
      const root = part.type === 'subscript' ? rootName(part.object) : undefined;
      const pair = pairs.find(({ train, test }) => root === train || root === test);
      const index = part.type === 'subscript' ? part.indices.at(-1) : undefined;
      if (pair === undefined || index === undefined) continue;
      const missing = missingColumn(module, pair, index, statement);
      if (missing !== undefined)
        return `\`${plainText(module, index)}\` lists columns that \`${root}\` does not have (${missing})`;
    }
  }
  return undefined;
}

function missingColumn(
  module: Module,
  { source, statements }: PartPair,
  index: Expr,
  statement: Stmt,
): string | undefined {
  const divided = statements[0]?.start ?? 0;
  const { tables, lists, made } = listOf(module, index, statement, divided);
  if (tables.length === 0) return undefined;
  const texts = made.map((span) => plainText(module, span).replaceAll("'", '"'));
  for (const { name, at } of tables) {
    for (const removed of removedSince(module, { to: source, from: name, at, until: divided })) {
      const { texts: wanted, list } = removed;
      if (list !== undefined && lists.has(list)) continue;
      const isTakenOut = wanted.some((text) => texts.some((other) => holdsWord(other, text)));
      if (!isTakenOut) return wanted[0];
    }
  }
  return undefined;
}

function holdsWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
    if (!/\w/.test(text[at - 1] ?? '') || /\W/.test(word[0] ?? '')) {
      if (!/\w/.test(text[at + word.length] ?? '') || /\W/.test(word.at(-1) ?? '')) return true;
    }
  return false;
}

function listOf(module: Module, index: Expr, statement: Stmt, divided: number): Listed {
  const tables: { name: string; at: number }[] = [];
  const made: Span[] = [index];
  const lists = new Set<string>();
  const open = [...namesInExpression(index)].map(({ id }) => id);
  for (let name = open.pop(); name !== undefined && lists.size < MAX_STEPS; name = open.pop()) {
    if (lists.has(name)) continue;
    lists.add(name);
    const turn = loopOver(statement, name);
    const value = turn?.iterable ?? lastAssigned(module, name, 0, divided);
    if (value === undefined) continue;
    made.push(turn ?? value, ...changesOfList(module, name, value.end, divided));
    const parts = [...expressionsIn(value)];
    // A list that is made after the division is one of the part.
    const listed = value.start < divided ? parts.flatMap(tableListed) : [];
    tables.push(...listed.map((table) => ({ name: table, at: value.start })));
    open.push(
      ...parts.flatMap((part) => (part.type === 'name' && !listed.includes(part.id) ? [part.id] : [])),
    );
  }
  return { tables, lists, made };
}

/** `df.columns`, `df.drop(…).select_dtypes(…)`, `list(df)`: the table whose columns are listed, unless they were picked. */
function tableListed(part: Expr): string[] {
  if (part.type === 'attribute' && LISTS.test(part.name)) return wholeTable(part.object);
  if (part.type !== 'call') return [];
  if (part.args.some(({ name }) => name === 'numeric_only')) return wholeTable(part.callee);
  const [first] = part.args;
  const isList = part.callee.type === 'name' && /^(list|set|sorted)$/.test(part.callee.id);
  return isList && first?.value.type === 'name' ? [first.value.id] : [];
}

function wholeTable(table: Expr): string[] {
  if (table.type === 'name') return [table.id];
  if (table.type === 'attribute') return wholeTable(table.object);
  if (table.type === 'call') return wholeTable(table.callee);
  return [];
}

/** The innermost loop around a statement that has a name as its variable. */
function loopOver(statement: Stmt, name: string): Extract<Stmt, { type: 'for' }> | undefined {
  for (let owner = statement.suite.owner; owner !== undefined; owner = owner.suite.owner)
    if (owner.type === 'for' && owner.target.type === 'name' && owner.target.id === name) return owner;
  return undefined;
}

/** `numeric.remove("label")` */
function* changesOfList(module: Module, name: string, from: number, to: number): Generator<Expr> {
  for (const call of callsBetween(module, from, to)) {
    const { callee } = call;
    if (callee.type === 'attribute' && TAKES_OUT.test(callee.name) && rootName(callee.object) === name)
      yield call;
  }
}

function* callsBetween(module: Module, from: number, to: number): Generator<Call> {
  for (const own of ownBetween(module, from, to))
    for (const part of expressionsIn(own)) if (part.type === 'call') yield part;
}

function* ownBetween(module: Module, from: number, to: number): Generator<Expr> {
  for (const outer of module.body.statements) {
    if (outer.end < from || outer.start > to) continue;
    for (const inner of statementsIn(outer))
      if (inner.start >= from && inner.start < to) yield* ownExpressions(inner);
  }
}

/** Columns that a table lost: the texts that may name them, or the list of those that it kept. */
interface Removed {
  readonly texts: readonly string[];
  readonly list?: string;
}

interface Way {
  readonly to: Expr;
  readonly from: string;
  readonly at: number;
  readonly until: number;
}

/** What a table lost on the way to what is divided; nothing where that is not made from it. */
function removedSince(module: Module, { to, from, at, until }: Way): readonly Removed[] {
  const removed: Removed[] = [];
  let [current, before] = [to, until];
  for (let step = 0; step < MAX_STEPS; step += 1) {
    if (current.type === 'name') {
      removed.push(...removedInPlace(module, current.id, at, before));
      const value = lastAssigned(module, current.id, at, before);
      if (value === undefined) return current.id === from ? removed : [];
      [current, before] = [value, value.start];
    } else if (current.type === 'call') {
      if (calleeName(current) === 'drop') removed.push(...dropped(module, current, before));
      const isMethod =
        current.callee.type === 'attribute' && !/^(np|numpy|pd|pandas)$/.test(rootName(current) ?? '');
      const next: Expr | undefined =
        isMethod && current.callee.type === 'attribute' ? current.callee.object : current.args[0]?.value;
      if (next === undefined) return [];
      current = next;
    } else if (current.type === 'subscript') {
      removed.push(...notPicked(module, current, before));
      current = current.object;
    } else if (current.type === 'attribute') current = current.object;
    else return [];
  }
  return [];
}

/** `df.drop(columns=["label"])`, `df.drop("label", axis=1)` */
function dropped(module: Module, { args }: Call, before: number): Removed[] {
  const isOfColumns = args.some(
    ({ name, value }, position) =>
      (name === 'axis' || (name === undefined && position === 1)) &&
      value.type === 'constant' &&
      (value.value === 1 || value.value === 'columns'),
  );
  return args.flatMap(({ name, value }, position) => {
    const isLabels = isOfColumns && (name === 'labels' || (name === undefined && position === 0));
    return name === 'columns' || isLabels ? namedIn(module, value, before) : [];
  });
}

/** `del df["label"]`, `df.pop("label")`, `df.drop(columns="label", inplace=True)` */
function* removedInPlace(module: Module, table: string, from: number, to: number): Generator<Removed> {
  for (const call of callsBetween(module, from, to)) {
    const { callee, args } = call;
    if (callee.type !== 'attribute' || callee.object.type !== 'name' || callee.object.id !== table) continue;
    const [first] = args;
    if (callee.name === 'pop' && first !== undefined) yield* namedIn(module, first.value, call.start);
    if (callee.name === 'drop' && args.some(({ name }) => name === 'inplace'))
      yield* dropped(module, call, call.start);
  }
  for (const outer of module.body.statements) {
    if (outer.type !== 'delete' || outer.start < from || outer.start >= to) continue;
    for (const target of outer.targets)
      if (target.type === 'subscript' && rootName(target) === table)
        for (const index of target.indices) yield* namedIn(module, index, outer.start);
  }
}

/** `df[features]`, `df.loc[:, df.columns != "label"]`, `df.iloc[:, :-1]`: columns that a table keeps, not rows. */
function notPicked(
  module: Module,
  { object, indices }: Extract<Expr, { type: 'subscript' }>,
  before: number,
): Removed[] {
  const isByPosition = object.type === 'attribute' && /^i?loc$/.test(object.name);
  const index = isByPosition ? indices[1] : indices[0];
  if (index === undefined) return [];
  const text = plainText(module, index).replaceAll("'", '"');
  if (index.type === 'slice') return isByPosition && text !== ':' ? [{ texts: [text] }] : [];
  if (index.type === 'sequence') return [{ texts: [text] }];
  if (index.type !== 'name') return /\.columns\b/.test(text) ? constantsIn(index) : [];
  const list = lastAssigned(module, index.id, 0, before);
  if (list === undefined) return [];
  const isOfNames =
    /^(sequence|comprehension)$/.test(list.type) ||
    /\.(columns|select_dtypes)\b|^list\(/.test(plainText(module, list));
  if (!isOfNames) return [];
  const left = list.type === 'sequence' ? [] : constantsIn(list);
  return (left.length === 0 ? [{ texts: [index.id] }] : left).map((one) => ({ ...one, list: index.id }));
}

function constantsIn(expression: Expr): Removed[] {
  return [...expressionsIn(expression)].flatMap((part) =>
    part.type === 'constant' && typeof part.value === 'string' ? [{ texts: [`"${part.value}"`] }] : [],
  );
}

/** The columns that are named by a text, a variable, or a list of them. */
function namedIn(module: Module, value: Expr, before: number): Removed[] {
  if (value.type === 'sequence') return value.items.flatMap((item) => namedIn(module, item, before));
  const text = plainText(module, value).replaceAll("'", '"');
  if (value.type !== 'name') return [{ texts: [text] }];
  const known = lastAssigned(module, value.id, 0, before);
  if (known?.type === 'sequence')
    return known.items.flatMap((item) =>
      namedIn(module, item, known.start).map(({ texts }) => ({ texts: [...texts, text] })),
    );
  return [
    { texts: known?.type === 'constant' ? [text, plainText(module, known).replaceAll("'", '"')] : [text] },
  ];
}
