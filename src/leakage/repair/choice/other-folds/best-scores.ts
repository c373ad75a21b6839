import type { Assign, Comprehension, Expr, For, If, Stmt } from '../../../syntax/ast.js';
import {
  calleeName,
  expressionsIn,
  namesInExpression,
  ownExpressions,
  partsOf,
  statementsIn,
} from '../../../syntax/walk.js';
import { isByPosition } from '../by-position.js';
import { copyOf } from '../candidate-statements.js';
import { isNamed } from './assigned-values.js';
import { isMadeOfRows, statementsFor } from './choice-slice.js';
import { freeNamesOf } from './free-names.js';
import { NotCrossFitted } from './not-cross-fitted.js';
import type { OutOfFold } from './out-of-fold.js';
import type { BestScore, Site } from './sites.js';
import type { Tail } from './tail.js';

/** How the score of a candidate is computed, and which reads of the script give the best of them. */
interface Candidates {
  readonly computed: Expr;
  /** The part of it that is predicted by the candidate, for all rows. */
  readonly predicted: Expr;
  readonly turns: ReadonlyMap<string, string>;
  readonly isBest: (expression: Expr) => boolean;
}

/** Where the score of the best candidate is read after the choice: `best_f1`, `max(scores)`. */
export function bestScoreSites(oof: OutOfFold, tail: Tail, anchor: Stmt, leaky: Stmt): Site[] {
  const candidates =
    anchor.type === 'for' && leaky.type === 'if' ? ofLoop(tail, anchor, leaky) : ofList(tail, anchor);
  if (candidates === undefined) return [];
  const { computed, predicted, turns, isBest } = candidates;
  const kind = tail.kindOfValue(predicted, turns);
  if (kind.is !== 'rows') return [];
  return tail.statements
    .filter(({ start, type }) => start > anchor.start && type !== 'function' && type !== 'class')
    .flatMap((statement) =>
      readsIn(statement, isBest).map((read): Site => {
        const names = [...freeNamesOf(predicted)].map(({ name }) => turns.get(name.id) ?? name.id);
        const slice = statementsFor(
          oof,
          tail,
          names.filter((name) => isMadeOfRows(tail, name)),
          statement,
        );
        if (!slice.includes(anchor)) throw new NotCrossFitted('how the best score comes about is not clear');
        const score: BestScore = { read, computed, turns };
        return { statement, expression: predicted, kind, slice, score };
      }),
    );
}

function readsIn(statement: Stmt, isBest: (expression: Expr) => boolean): Expr[] {
  return [...statementsIn(statement)].flatMap((inner) => {
    const own = inner.type === 'assign' ? [inner.value] : ownExpressions(inner);
    return own.flatMap((expression) => outermost(expression, isBest));
  });
}

function outermost(expression: Expr, isMeant: (expression: Expr) => boolean): Expr[] {
  if (isMeant(expression)) return [expression];
  return partsOf(expression).flatMap((part) => outermost(part, isMeant));
}

/** `for t in grid: f1 = f1_score(y, oof > t)` and `if f1 > best: best, best_t = f1, t` */
function ofLoop(tail: Tail, loop: For, choice: If): Candidates | undefined {
  const [branch, ...others] = choice.branches;
  const test = branch?.test;
  if (branch === undefined || others.length > 0 || test?.type !== 'compare') return undefined;
  const stored = branch.body.statements;
  const names = test.operands.flatMap((operand) => (operand.type === 'name' ? [operand.id] : []));
  const score = names.find((name) => stored.some((statement) => copyOf(statement, name) !== undefined));
  const best = stored
    .map((statement) => (score === undefined ? undefined : copyOf(statement, score)))
    .find((name) => name !== undefined);
  if (score === undefined || best === undefined || !names.includes(best)) return undefined;
  const [computed, ...more] = madeIn(loop, score);
  if (computed === undefined || more.length > 0) return undefined;
  const turns = new Map<string, string>();
  for (const { id } of turnsOf(loop)) {
    const copy = stored.map((statement) => copyOf(statement, id)).find((name) => name !== undefined);
    if (copy !== undefined) turns.set(id, copy);
  }
  const predicted = predictedIn(tail, loop, computed, turns);
  return predicted === undefined
    ? undefined
    : { computed, predicted, turns, isBest: (expression) => isNamed(expression, best) };
}

function* turnsOf(loop: For): Generator<{ readonly id: string }> {
  for (const inner of statementsIn(loop)) if (inner.type === 'for') yield* namesInExpression(inner.target);
}

/** What a variable is assigned in a loop. */
function madeIn(loop: For, name: string): Expr[] {
  return [...statementsIn(loop)].flatMap((statement) =>
    statement.type === 'assign' && statement.targets.some((target) => isNamed(target, name))
      ? [statement.value]
      : [],
  );
}

/** The only part of a candidate's score that its predictions for all rows are. */
function predictedIn(
  tail: Tail,
  loop: For | undefined,
  computed: Expr,
  turns: ReadonlyMap<string, string>,
): Expr | undefined {
  const parts = [...expressionsIn(computed)];
  const whole = parts.filter((part) => isPredicted(tail, part, turns));
  const largest = whole.filter(
    (part) => !parts.some((other) => partsOf(other).includes(part) && whole.includes(other)),
  );
  const [only, ...others] = largest;
  const read = [...namesInExpression(computed)].filter(
    ({ start, end }) => only === undefined || start < only.start || end > only.end,
  );
  const isOther = read.some(({ id }) => turns.has(id) || (loop !== undefined && madeIn(loop, id).length > 0));
  return others.length > 0 || isOther ? undefined : only;
}

function isPredicted(tail: Tail, part: Expr, turns: ReadonlyMap<string, string>): boolean {
  const kind = tail.kindOfValue(part, turns);
  const isOfTurn = [...freeNamesOf(part)].some(({ name }) => turns.has(name.id));
  return kind.is === 'rows' && kind.isApplied && isOfTurn;
}

/** `scores = [f1_score(y, oof > t) for t in grid]` and `best_t = grid[np.argmax(scores)]` */
function ofList(tail: Tail, anchor: Stmt): Candidates | undefined {
  const positions = tail.statements.filter(
    (statement) => statement.type === 'assign' && isByPosition(statement.value),
  );
  const found = positions.flatMap((statement) => {
    const candidates = statement.type === 'assign' ? ofPosition(tail, statement) : undefined;
    return candidates === undefined ? [] : [{ statement, candidates }];
  });
  const [only, ...others] = found.filter(
    ({ statement, candidates }) => statement === anchor || candidates.listedBy === anchor,
  );
  return others.length > 0 ? undefined : only?.candidates;
}

function ofPosition(
  tail: Tail,
  { start, targets, value }: Assign,
): (Candidates & { readonly listedBy: Stmt }) | undefined {
  const [target, ...more] = targets;
  if (target?.type !== 'name' || more.length > 0 || value.type !== 'subscript') return undefined;
  const { object, indices } = value;
  const listed = indices.flatMap((index) => [...namesInExpression(index)]);
  const lists = tail.statements.flatMap((statement) => {
    if (statement.type !== 'assign' || statement.start >= start || statement.value.type !== 'comprehension')
      return [];
    const [name, ...others] = statement.targets;
    const isListed = name?.type === 'name' && others.length === 0 && listed.some(({ id }) => id === name.id);
    return isListed ? [{ name: name.id, comprehension: statement.value, statement }] : [];
  });
  const [list, ...others] = lists;
  if (list === undefined || others.length > 0 || object.type !== 'name') return undefined;
  const turn = turnOf(list.comprehension, object.id);
  if (turn === undefined) return undefined;
  const turns = new Map([[turn, target.id]]);
  const computed = list.comprehension.element;
  const predicted = predictedIn(tail, undefined, computed, turns);
  return predicted === undefined
    ? undefined
    : { computed, predicted, turns, isBest: (read) => isBestOf(read, list.name), listedBy: list.statement };
}

/** The variable of a list of candidates that goes through a variable. */
function turnOf({ clauses, form }: Comprehension, candidates: string): string | undefined {
  const [clause, ...others] = clauses;
  const isOnly =
    form === 'list' && clause !== undefined && others.length === 0 && clause.conditions.length === 0;
  return isOnly && clause.target.type === 'name' && isNamed(clause.iterable, candidates)
    ? clause.target.id
    : undefined;
}

/** `max(scores)`, `np.min(scores)` */
function isBestOf(expression: Expr, scores: string): boolean {
  if (expression.type !== 'call' || expression.args.length !== 1) return false;
  const [argument] = expression.args;
  return (
    /^(max|min)$/.test(calleeName(expression)) && argument !== undefined && isNamed(argument.value, scores)
  );
}
