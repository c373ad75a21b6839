import type { Expr, Module, Span, Stmt } from '../syntax/ast.js';
import { expressionsIn, namesInExpression, ownExpressions, statementsIn } from '../syntax/walk.js';
import { countText, countWork } from '../values/work.js';
import type { Difference } from './compare-tables.js';

/** Where the leaks of a script are: what computes them, and what divides the rows. */
export interface LeakSites {
  readonly computations: readonly Span[];
  readonly splits: readonly Span[];
}

/** Calls that divide rows, learn, predict or score: what they are called with is compared by the way to the score. */
const COMPARED =
  /^([A-Z]\w*(Classifier|Regressor|Regression|CV|Pipeline|Transformer|Scaler|Encoder|Imputer|Vectorizer)|SVC|SVR|Lasso|Ridge|PCA|Pipeline|make_pipeline|train_test_split|split|\w*KFold|\w*ShuffleSplit|TimeSeriesSplit|random_split|fit\w*|transform|predict\w*|cross_val\w*|\w+_(score|error|loss)|score|evaluate|SMOTE\w*|ADASYN|Random(Over|Under)Sampler)$/;

/** Statements of one script that another one does not have, or not as often. */
class Changed {
  readonly statements: readonly Line[];

  constructor(own: readonly Line[], others: readonly Line[]) {
    const left = new Map<string, number>();
    for (const { text } of others) left.set(text, (left.get(text) ?? 0) + 1);
    this.statements = own.filter(({ text }) => {
      const count = left.get(text) ?? 0;
      left.set(text, count - 1);
      return count <= 0;
    });
  }
}

/**
 * Statements that a correction changes or leaves out, of which nothing shows that they belong to the leak. They do if they compute
 * it, divide the rows, are compared by the way to the score, give values that nothing reads any more, or are the same with new
 * names.
 */
export function changedStatements(was: Module, is: Module, sites: LeakSites): Difference[] {
  if (sites.computations.length === 0) return [];
  const [before, after] = [linesOf(was), linesOf(is)];
  const { statements: removed } = new Changed(before, after);
  const { statements: added } = new Changed(after, before);
  const names: Names = {
    before: boundIn(was, before),
    after: boundIn(is, after),
    parts: partsIn(before, after, sites),
  };
  const read = readIn(after);
  const functions = functionsAround(before, sites);
  const made = madeByLeaks(before, sites, functions);
  return removed
    .filter(
      (line) =>
        !isPartOfLeak(line, sites, functions) &&
        !isUnread(line, read) &&
        !isExplained(line, added, names, made),
    )
    .map(({ text }) => ({
      what: `\`${text.slice(0, 60)}\` is changed, and nothing shows that it is a part of the leak`,
      isCertain: false,
    }));
}

interface Names {
  readonly before: ReadonlySet<string>;
  readonly after: ReadonlySet<string>;
  /** The parts that the rows are divided into. */
  readonly parts: ReadonlySet<string>;
}

/**
 * Whether a new statement is the same with new names, or calls what the way to the score compares. Else whether it uses what
 * the leak computes, or only shows something.
 */
function isExplained(line: Line, added: readonly Line[], names: Names, made: ReadonlySet<string>): boolean {
  const own = skeletonOf(line);
  const alike = added.filter((other) => skeletonOf(other).text === own.text);
  if (alike.length > 0) return alike.some((other) => isRenamed(own, skeletonOf(other), names));
  if (isShown(line) || own.names.some((name) => made.has(name))) return true;
  const calls = callsOf(line).filter((name) => COMPARED.test(name));
  return added.some((other) => callsOf(other).some((name) => calls.includes(name)));
}

const SHOWING =
  /^(print|display|head|tail|describe|info|value_counts|sum|mean|isnull|isna|nunique|shape|show|hist|plot|summary|collect)$/;

/** Whether a statement shows something about data, but no score. */
function isShown(line: Line): boolean {
  if (line.statement.type !== 'expression') return false;
  const { value } = line.statement;
  const calls = callsOf(line);
  return value.type === 'call'
    ? calls.every((name) => !COMPARED.test(name)) && calls.some((name) => SHOWING.test(name))
    : value.type === 'attribute' || value.type === 'name' || value.type === 'sequence';
}

/** What the statements bind that divide the rows, before the correction and after it. */
function partsIn(
  before: readonly Line[],
  after: readonly Line[],
  { splits }: LeakSites,
): ReadonlySet<string> {
  const dividing = [
    ...before.filter(({ statement }) => holds(statement, splits)),
    ...after.filter((line) => callsOf(line).some((name) => /^(train_test_split|split)$/.test(name))),
  ];
  return new Set(
    dividing.flatMap(({ statement }) =>
      targetsOf(statement).flatMap((target) => [...namesInExpression(target)].map(({ id }) => id)),
    ),
  );
}

/** Names that the leaks bind, what follows from them before the rows are divided, what they fit, and the functions of the script that compute them. */
function madeByLeaks(
  lines: readonly Line[],
  { computations, splits }: LeakSites,
  functions: readonly Stmt[],
): ReadonlySet<string> {
  const made = new Set<string>();
  const firstSplit = Math.min(...splits.map(({ start }) => start));
  for (const outer of functions) if (outer.type === 'function') made.add(outer.name);
  for (const line of lines) {
    const { statement, own } = line;
    const follows = statement.end < firstSplit && skeletonOf(line).names.some((name) => made.has(name));
    if (!follows && !holds(statement, computations)) continue;
    for (const target of targetsOf(statement))
      if (target.type !== 'subscript' && target.type !== 'attribute')
        for (const { id } of namesInExpression(target)) made.add(id);
    for (const expression of own)
      for (const part of expressionsIn(expression)) {
        const isFit =
          part.type === 'call' && part.callee.type === 'attribute' && /^fit/.test(part.callee.name);
        if (isFit && part.callee.type === 'attribute' && part.callee.object.type === 'name')
          made.add(part.callee.object.id);
      }
  }
  return made;
}

interface Line {
  readonly statement: Stmt;
  readonly own: readonly Expr[];
  readonly text: string;
  readonly source: string;
}

function linesOf({ body, source }: Module): Line[] {
  const all = body.statements.flatMap((statement) => [...statementsIn(statement)]);
  return all.flatMap((statement) => {
    // Which names are imported follows from the code that uses them.
    const own = statement.type === 'import' ? [] : ownExpressions(statement);
    if (own.length === 0) return [];
    return [{ statement, own, text: own.map((part) => textOf(part, source)).join(';'), source }];
  });
}

function textOf({ start, end }: Span, source: string): string {
  countText(end - start);
  return source.slice(start, end).replaceAll(/\s+/g, '').replaceAll("'", '"');
}

function holds({ start, end }: Span, spans: readonly Span[]): boolean {
  return spans.some((span) => span.start >= start && span.end <= end);
}

function isPartOfLeak({ statement }: Line, sites: LeakSites, functions: readonly Stmt[]): boolean {
  if (holds(statement, sites.computations) || holds(statement, sites.splits)) return true;
  // A function that computes the leak gives back something else.
  return statement.type === 'return' && functions.some((outer) => holds(outer, [statement]));
}

function functionsAround(lines: readonly Line[], { computations }: LeakSites): Stmt[] {
  const found = new Set<Stmt>();
  for (const { statement } of lines) {
    if (!holds(statement, computations)) continue;
    for (let owner = statement.suite.owner; owner !== undefined; owner = owner.suite.owner)
      if (owner.type === 'function') found.add(owner);
  }
  return [...found];
}

function targetsOf(statement: Stmt): readonly Expr[] {
  if (statement.type === 'assign') return statement.targets;
  return statement.type === 'for' || statement.type === 'augmented' ? [statement.target] : [];
}

/** Names that a script binds, imports among them. */
function boundIn({ body }: Module, lines: readonly Line[]): ReadonlySet<string> {
  const bound = new Set<string>();
  for (const { statement } of lines)
    for (const target of targetsOf(statement)) for (const { id } of namesInExpression(target)) bound.add(id);
  for (const outer of body.statements)
    for (const statement of statementsIn(outer)) {
      if (statement.type === 'import') for (const { name } of statement.bindings) bound.add(name);
      if (statement.type === 'class') bound.add(statement.name);
      if (statement.type !== 'function') continue;
      bound.add(statement.name);
      for (const { name } of statement.params) bound.add(name);
    }
  return bound;
}

function readIn(lines: readonly Line[]): ReadonlySet<string> {
  const read = new Set<string>();
  for (const { statement, own } of lines) {
    const targets = new Set(
      targetsOf(statement).filter(({ type }) => type === 'name' || type === 'sequence'),
    );
    for (const part of own)
      if (!targets.has(part)) for (const { id } of namesInExpression(part)) read.add(id);
  }
  return read;
}

/** Whether a statement only binds names that nothing reads after the correction. */
function isUnread({ statement }: Line, read: ReadonlySet<string>): boolean {
  const targets = statement.type === 'assign' ? statement.targets : [];
  return (
    targets.length > 0 &&
    targets.every(
      (target) =>
        (target.type === 'name' || target.type === 'sequence') &&
        [...namesInExpression(target)].every(({ id }) => !read.has(id)),
    )
  );
}

function callsOf({ own }: Line): string[] {
  return own.flatMap((expression) =>
    [...expressionsIn(expression)].flatMap((part) => {
      if (part.type !== 'call') return [];
      const { callee } = part;
      return callee.type === 'name' ? [callee.id] : callee.type === 'attribute' ? [callee.name] : [];
    }),
  );
}

interface Skeleton {
  /** The text of the statement without its names. */
  readonly text: string;
  readonly names: readonly string[];
}

const skeletons = new WeakMap<Line, Skeleton>();

function skeletonOf(line: Line): Skeleton {
  const known = skeletons.get(line);
  if (known !== undefined) return known;
  const { own, source } = line;
  const names = own.flatMap((part) => [...namesInExpression(part)]).sort((a, b) => a.start - b.start);
  let from = Math.min(...own.map((part) => part.start));
  const end = Math.max(...own.map((part) => part.end));
  countText(end - from);
  let text = '';
  for (const name of names) {
    text += `${source.slice(from, name.start)}\u0000`;
    from = name.end;
  }
  const made = {
    text: (text + source.slice(from, end)).replaceAll(/\s+/g, '').replaceAll("'", '"'),
    names: names.map(({ id }) => id),
  };
  skeletons.set(line, made);
  return made;
}

/** Whether each other name is new, is that of a part, or stands for one that is gone. */
function isRenamed(old: Skeleton, now: Skeleton, { before, after, parts }: Names): boolean {
  countWork(old.names.length);
  return old.names.every((id, at) => {
    const name = now.names[at] ?? '';
    // What was done to the whole is done to a part of it.
    if (parts.has(name) && !parts.has(id)) return true;
    return name === id || (after.has(name) && (!before.has(name) || !after.has(id)));
  });
}
