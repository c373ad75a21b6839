import type { Assign, Comprehension, Expr, For, If, Name, Stmt } from '../../../syntax/ast.js';
import {
  calleeName,
  expressionsIn,
  namesInExpression,
  ownExpressions,
  partsOf,
  statementsIn,
} from '../../../syntax/walk.js';
import { isByPosition } from '../by-position.js';
import { bestKeyOf, copyOf } from '../candidate-statements.js';
import { assignedNames, isNamed } from './assigned-values.js';
import { isMadeOfRows, statementsFor } from './choice-slice.js';
import { freeNamesOf } from './free-names.js';
import { NotCrossFitted } from './not-cross-fitted.js';
import type { OutOfFold } from './out-of-fold.js';
import type { BestScore, Site } from './sites.js';
import type { Tail } from './tail.js';

/** How the score of a candidate is computed, and which reads of the script give the best of them. */
interface Candidates {
  readonly computed: Expr;
  /** The part of it that is predicted by the candidate for all rows, and the code that this is. */
  readonly slot: Expr;
  readonly predicted: Expr;
  readonly turns: ReadonlyMap<string, string>;
  readonly isBest: (expression: Expr) => boolean;
}

/** Where the score of the best candidate is read after the choice: `best_f1`, `max(scores)`. */
export function bestScoreSites(oof: OutOfFold, tail: Tail, anchor: Stmt, leaky: Stmt): Site[] {
  const candidates =
    anchor.type === 'for' && leaky.type === 'if'
      ? ofLoop(tail, anchor, leaky)
      : (ofTable(tail, anchor) ?? ofList(tail, anchor));
  if (candidates === undefined) return [];
  const { computed, slot, predicted, turns, isBest } = candidates;
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
        const score: BestScore = { read, computed, slot, turns };
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
    : { computed, ...predicted, turns, isBest: (expression) => isNamed(expression, best) };
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

/** The only part of a candidate's score that its predictions for all rows are, or a variable of the loop that they are in. */
function predictedIn(
  tail: Tail,
  loop: For | undefined,
  computed: Expr,
  turns: ReadonlyMap<string, string>,
): Pick<Candidates, 'slot' | 'predicted'> | undefined {
  const parts = [...expressionsIn(computed)];
  const found = parts.flatMap((slot) => {
    const made = slot.type === 'name' && loop !== undefined ? madeIn(loop, slot.id) : [];
    const predicted = made.length === 1 ? (made[0] ?? slot) : slot;
    return isPredicted(tail, predicted, turns) ? [{ slot, predicted }] : [];
  });
  const within = (inner: Expr, outer: Expr): boolean => outer.start <= inner.start && inner.end <= outer.end;
  const [only, ...others] = found.filter(
    ({ slot }) => !found.some((other) => other.slot !== slot && within(slot, other.slot)),
  );
  if (only === undefined || others.length > 0) return undefined;
  const isOther = [...namesInExpression(computed), ...freeNames(only.predicted)].some(
    (name) =>
      (!within(name, only.slot) && !within(name, only.predicted) && turns.has(name.id)) ||
      (!within(name, only.slot) && loop !== undefined && madeIn(loop, name.id).length > 0),
  );
  return isOther ? undefined : only;
}

function* freeNames(expression: Expr): Generator<Name> {
  for (const { name } of freeNamesOf(expression)) yield name;
}

function isPredicted(tail: Tail, part: Expr, turns: ReadonlyMap<string, string>): boolean {
  const kind = tail.kindOfValue(part, turns);
  const isOfTurn = [...freeNamesOf(part)].some(({ name }) => turns.has(name.id));
  return kind.is === 'rows' && kind.isApplied && isOfTurn;
}

/** `for t in grid: scores[t] = f1_score(y, oof > t)` and `best = max(scores, key=scores.get)` */
function ofTable(tail: Tail, anchor: Stmt): Candidates | undefined {
  if (anchor.type !== 'assign' || anchor.value.type !== 'call') return undefined;
  const scores = bestKeyOf(anchor.value);
  const [best] = anchor.targets;
  const loops = tail.statements.filter(
    (statement): statement is For =>
      statement.type === 'for' &&
      statement.start < anchor.start &&
      assignedNames(statement).includes(scores ?? ''),
  );
  const [loop, ...others] = loops;
  if (scores === undefined || best?.type !== 'name' || loop === undefined || others.length > 0)
    return undefined;
  const stored = [...statementsIn(loop)].flatMap((statement) =>
    statement.type === 'assign'
      ? statement.targets.flatMap((target) =>
          target.type === 'subscript' && isNamed(target.object, scores)
            ? [{ target, value: statement.value }]
            : [],
        )
      : [],
  );
  const [only, ...more] = stored;
  const key = only?.target.indices[0];
  if (only === undefined || more.length > 0 || key?.type !== 'name' || !isNamed(loop.target, key.id))
    return undefined;
  const turns = new Map([[key.id, best.id]]);
  const predicted = predictedIn(tail, loop, only.value, turns);
  const isBest = (read: Expr): boolean =>
    isBestOf(read, scores) ||
    (read.type === 'subscript' &&
      isNamed(read.object, scores) &&
      read.indices.every((index) => isNamed(index, best.id)));
  return predicted === undefined ? undefined : { computed: only.value, ...predicted, turns, isBest };
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
    : {
        computed,
        ...predicted,
        turns,
        isBest: (read) => isBestOf(read, list.name),
        listedBy: list.statement,
      };
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
