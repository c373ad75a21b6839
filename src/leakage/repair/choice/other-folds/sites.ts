import type { Expr, Stmt } from '../../../syntax/ast.js';
import { namesInExpression, ownExpressions, partsOf, statementsIn } from '../../../syntax/walk.js';
import { bestScoreSites } from './best-scores.js';
import { isMadeOfRows, statementsFor } from './choice-slice.js';
import { freeNamesIn, freeNamesOf } from './free-names.js';
import { NotCrossFitted } from './not-cross-fitted.js';
import type { OutOfFold } from './out-of-fold.js';
import type { Rows } from './row-kinds.js';
import type { Tail } from './tail.js';

/** Where what was chosen is applied to the rows that it was chosen on. */
export interface Site {
  /** The statement of the suite that it is in. */
  readonly statement: Stmt;
  readonly expression: Expr;
  readonly kind: Rows;
  /** The statements by which what is applied is chosen, in order. */
  readonly slice: readonly Stmt[];
  /** The variable that gets all of it. */
  readonly fills?: string;
  /** Where the score of the best candidate is read: how that is computed, and from which code. */
  readonly score?: BestScore;
}

export interface BestScore {
  /** The expression that reads it. */
  readonly read: Expr;
  /** The score of a candidate. */
  readonly computed: Expr;
  /** The part of it that stands for its predictions. */
  readonly slot: Expr;
  /** By which variable the candidates are tried, with the one that holds the best of them. */
  readonly turns: ReadonlyMap<string, string>;
}

/** Where the suite applies what a statement chooses. */
export function sitesOf(oof: OutOfFold, tail: Tail, anchor: Stmt, leaky: Stmt): Site[] {
  const all = sitesIn(oof, tail, anchor);
  for (const site of all)
    if (site.fills !== undefined && !isChosenOn(site, site.fills, all))
      tail.noteFilled(site.fills, { ...site.kind, isArray: true, isApplied: false });
  // What is filled fold by fold is read as it is.
  const found = [...sitesIn(oof, tail, anchor), ...bestScoreSites(oof, tail, anchor, leaky)];
  const sites = found
    .toSorted(byPosition)
    .filter(({ fills }) => fills === undefined || !isApplied(tail, fills));
  return sites.filter(
    (site) => site.fills !== undefined || !sites.some(({ slice }) => slice.includes(site.statement)),
  );
}

function byPosition(a: Site, b: Site): number {
  return a.statement.start - b.statement.start || a.expression.start - b.expression.start;
}

function isApplied(tail: Tail, name: string): boolean {
  const kind = tail.kindOf(name);
  return kind.is === 'rows' && kind.isApplied;
}

/** Whether something else is chosen on these values: then they have to be there as they were. */
function isChosenOn({ statement }: Site, name: string, all: readonly Site[]): boolean {
  return all.some(
    ({ slice }) =>
      slice.includes(statement) &&
      slice.some(
        (later) =>
          later.start > statement.start && [...freeNamesIn(later)].some((read) => read.name.id === name),
      ),
  );
}

function sitesIn(oof: OutOfFold, tail: Tail, anchor: Stmt): Site[] {
  const sites: Site[] = [];
  for (const statement of tail.statements.filter(({ start }) => start > anchor.start)) {
    if (statement.type === 'function' || statement.type === 'class') continue;
    for (const inner of statementsIn(statement)) {
      if (inner.type === 'function' || inner.type === 'class') continue;
      for (const own of valuesIn(inner))
        for (const expression of appliedIn(tail, own, new Set())) {
          const site = siteOf(oof, tail, anchor, statement, expression);
          if (site !== undefined) sites.push(site);
        }
    }
  }
  return sites;
}

/** The expressions of a statement that are read. */
function valuesIn(statement: Stmt): readonly Expr[] {
  if (statement.type === 'assign' || statement.type === 'augmented') return [statement.value];
  return statement.type === 'for' ? [statement.iterable] : ownExpressions(statement);
}

function siteOf(
  oof: OutOfFold,
  tail: Tail,
  anchor: Stmt,
  statement: Stmt,
  expression: Expr,
): Site | undefined {
  const kind = tail.kindOfValue(expression);
  if (kind.is !== 'rows') return undefined;
  const names = [...freeNamesOf(expression)].map(({ name }) => name.id);
  const slice = statementsFor(
    oof,
    tail,
    names.filter((name) => isMadeOfRows(tail, name)),
    statement,
  );
  if (!slice.includes(anchor)) return undefined;
  const [target, ...others] = statement.type === 'assign' ? statement.targets : [];
  const isWhole = statement.type === 'assign' && statement.value === expression && others.length === 0;
  const site = { statement, expression, kind, slice };
  return isWhole && target?.type === 'name' ? { ...site, fills: target.id } : site;
}

/** The largest parts of an expression that apply something learned to the rows, one by one. */
function* appliedIn(tail: Tail, expression: Expr, turns: ReadonlySet<string>): Generator<Expr> {
  const kind = tail.kindOfValue(expression);
  const readsTurn = [...namesInExpression(expression)].some(({ id }) => turns.has(id));
  if (kind.is === 'rows' && kind.isApplied && !readsTurn) {
    yield expression;
    return;
  }
  if (kind.is === 'list' && kind.of.isApplied)
    throw new NotCrossFitted('what is chosen is applied to several tables at once');
  let inside = turns;
  if (expression.type === 'lambda')
    inside = new Set([...turns, ...expression.params.map(({ name }) => name)]);
  if (expression.type === 'comprehension') {
    const own = expression.clauses.flatMap(({ target }) => [...namesInExpression(target)]);
    inside = new Set([...turns, ...own.map(({ id }) => id)]);
  }
  for (const part of partsOf(expression)) yield* appliedIn(tail, part, inside);
}
