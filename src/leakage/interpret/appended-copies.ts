import type { Comprehension, Expr, Stmt } from '../syntax/ast.js';
import { namesInExpression, statementsIn } from '../syntax/walk.js';
import { type Facts, type FitEvent, union, withFits } from '../values/facts.js';
import { emptyTable, newSequence, newTable } from '../values/join.js';
import { type Region, sameRows } from '../values/region.js';
import { isElement, type SequenceOf, type Value } from '../values/value.js';
import { countWork } from '../values/work.js';
import { collected } from './collecting.js';
import type { Interpreter } from './interpreter.js';
import { boundIn } from './loop-names.js';
import { isAltering, repeatsRow } from './repeated-rows.js';

/** What a loop put into a list: by which expression, and rows of what. */
interface Appended {
  readonly expression: Expr;
  readonly statement: Stmt;
  readonly rows: readonly Region[];
  readonly loop: Stmt;
}

/** A list that loops append to. */
interface Filled {
  readonly pieces: Appended[];
  /** The first copy that was found in it stands for all of them. */
  copy?: FitEvent;
}

/** Pieces of one list that later ones are held against. */
const MAX_PIECES = 8;

/** Finds altered copies of a row that a loop appends to the list that has the row itself. */
export class AppendedCopies {
  readonly #lists = new WeakMap<object, Filled>();

  /** The piece as it is put into the list: with an event if the same round appends the same row twice. */
  add(interp: Interpreter, list: SequenceOf, name: Expr, piece: Value, expression: Expr): Value {
    const { statement } = interp;
    const facts = interp.dataOf(piece);
    const loop = loopAround(statement);
    if (loop === undefined || facts.rows.length === 0 || facts.predictions.length > 0) return piece;
    const filled = this.#lists.get(list.cell) ?? { pieces: [] };
    this.#lists.set(list.cell, filled);
    const rows = repeatsRow(interp, loop, expression);
    if (rows !== undefined && !isMadeIn(rows, name)) {
      const subject = `\`${interp.label(expression)}\` appended several times for each row`;
      return this.#copied(interp, filled, subject, facts, name, piece, expression);
    }
    const known = filled.pieces;
    if (known.length === 0 && holdsRows(list, facts) && isMadeOfRow(interp, expression, loop, facts)) {
      const subject = `\`${interp.label(expression)}\` appended to the rows themselves`;
      return this.#copied(interp, filled, subject, facts, name, piece, expression);
    }
    const original = known.find(
      (other) =>
        other.expression !== expression &&
        sameRows(other.rows, facts.rows) &&
        isAltered(expression, other.expression, other.loop) &&
        isSameRound(other.statement, statement),
    );
    if (
      known.length < MAX_PIECES &&
      !known.some((other) => other.expression === expression && sameRows(other.rows, facts.rows))
    )
      known.push({ expression, statement, rows: facts.rows, loop });
    if (original === undefined || isMadeIn(original.loop, name)) return piece;
    const subject = `\`${interp.label(expression)}\` appended beside \`${interp.label(original.expression)}\``;
    return this.#copied(interp, filled, subject, facts, name, piece, expression);
  }

  /** The piece with the event of the first copy in its list, or with one of its own if it is of other rows. */
  #copied(
    interp: Interpreter,
    filled: Filled,
    subject: string,
    facts: Facts,
    name: Expr,
    piece: Value,
    expression: Expr,
  ): Value {
    const eventOf = (): FitEvent =>
      interp.fit('duplicated-rows', subject, facts, interp.label(name), expression);
    const made = filled.copy ?? eventOf();
    filled.copy = made;
    const event = sameRows(made.rows, facts.rows) ? made : eventOf();
    return piece.type === 'table'
      ? newTable({ ...piece.cell.value, fits: union(piece.cell.value.fits, [event]) })
      : newTable(emptyTable(withFits(facts, [event]), 'row'));
  }

  /** `images += [flip(image) for image in images]`: what is in the list already, altered. */
  #copiesOf(
    interp: Interpreter,
    list: SequenceOf,
    name: Expr,
    pieces: SequenceOf,
    { element, clauses }: Comprehension,
  ): Value {
    const [clause, ...others] = clauses;
    const { rest } = pieces.cell.value;
    const facts = interp.dataOf(list);
    const isSame = clause?.iterable.type === 'name' && name.type === 'name' && clause.iterable.id === name.id;
    if (!isSame || others.length > 0 || rest === undefined || facts.rows.length === 0) return pieces;
    const isMade = element.type === 'call' || element.type === 'binary' || element.type === 'subscript';
    if (!isMade || facts.predictions.length > 0) return pieces;
    const subject = `\`${interp.label(element)}\` for each element of \`${interp.label(name)}\``;
    const event = interp.fit('duplicated-rows', subject, facts, interp.label(name), element);
    const copy = newTable(emptyTable({ ...withFits(facts, [event]), single: true }, 'row'));
    return newSequence({ ...pieces.cell.value, rest: copy });
  }

  /** The same for each piece of a list that is written out: `rows += [row, flip(row)]`. */
  addAll(interp: Interpreter, list: SequenceOf, name: Expr, pieces: Value, expression: Expr): Value {
    if (pieces.type !== 'sequence') return pieces;
    if (expression.type === 'comprehension') return this.#copiesOf(interp, list, name, pieces, expression);
    if (expression.type !== 'sequence') return pieces;
    const { items } = pieces.cell.value;
    if (items.length !== expression.items.length || items.length > MAX_PIECES) return pieces;
    const withCopies = (parts: readonly Value[]): Value | undefined => {
      const changed = parts.map((part, at) =>
        this.add(interp, list, name, part, expression.items[at] ?? expression),
      );
      const isChanged = changed.some((part, at) => part !== parts[at]);
      return isChanged ? newSequence({ ...pieces.cell.value, items: changed }) : undefined;
    };
    return withCopies(items) ?? withCopies(items.map((item) => collected(interp, item))) ?? pieces;
  }
}

/** Whether a list was made of rows, as `list(images)` is, before a loop appends to it. */
function holdsRows({ cell }: SequenceOf, { rows }: Facts): boolean {
  const { rest } = cell.value;
  return (
    rest?.type === 'table' && rest.cell.value.predictions.length === 0 && sameRows(rest.cell.value.rows, rows)
  );
}

/** Whether a call or an operation makes a piece of the row that the loop is at; of a position, if it alters what is there. */
function isMadeOfRow(interp: Interpreter, expression: Expr, loop: Stmt, { rows }: Facts): boolean {
  if (loop.type !== 'for' || (expression.type !== 'call' && expression.type !== 'binary')) return false;
  const targets = new Set<string>();
  for (const { id } of namesInExpression(loop.target)) targets.add(id);
  for (const { id } of namesInExpression(expression)) {
    const value = targets.has(id) ? interp.scope.lookup(id)?.value : undefined;
    if (value === undefined) continue;
    if (isAltering(expression) || (isElement(value) && sameRows(interp.dataOf(value).rows, rows)))
      return true;
  }
  return false;
}

/** The innermost loop of the function that a statement is in. */
function loopAround(statement: Stmt): Stmt | undefined {
  for (let owner = statement.suite.owner; owner !== undefined; owner = owner.suite.owner) {
    countWork(1);
    if (owner.type === 'function' || owner.type === 'class') return undefined;
    if (owner.type === 'for' || owner.type === 'while') return owner;
  }
  return undefined;
}

/** Whether one expression is a variable of the loop, and the other one a copy of it that is made otherwise. */
function isAltered(altered: Expr, original: Expr, loop: Stmt): boolean {
  const { all } = boundIn(loop);
  const common = new Set<string>();
  for (const { id } of namesInExpression(original)) if (all.has(id)) common.add(id);
  const isMade = altered.type === 'call' || altered.type === 'binary' || isFlipped(altered);
  if (!isMade || ![...namesInExpression(altered)].some(({ id }) => common.has(id))) return false;
  return original.type === 'name' || (isAltering(altered) && !isAltering(original));
}

/** `image[:, ::-1]`: the same values in another order. */
function isFlipped(expression: Expr): boolean {
  return (
    expression.type === 'subscript' &&
    expression.indices.some((index) => index.type === 'slice' && index.step !== undefined)
  );
}

/** Whether every round that runs the inner one of two statements runs the other one as well. */
function isSameRound(a: Stmt, b: Stmt): boolean {
  return isWithin(a, b) || isWithin(b, a);
}

/** Whether the suite of one statement is around the other one, and the way to it does not end the round. */
function isWithin(outer: Stmt, inner: Stmt): boolean {
  for (let current: Stmt | undefined = inner; current !== undefined; current = current.suite.owner) {
    countWork(1);
    if (current.suite === outer.suite) return true;
    if (current.suite.statements.some(({ type }) => type === 'jump')) return false;
    if (current.type === 'function') return false;
  }
  return false;
}

/** Whether a loop makes the list again in each round: then it holds what belongs to one row. */
function isMadeIn(loop: Stmt, list: Expr): boolean {
  if (list.type !== 'name') return false;
  for (const statement of statementsIn(loop)) {
    if (statement.type !== 'assign') continue;
    if (statement.targets.some((target) => [...namesInExpression(target)].some(({ id }) => id === list.id)))
      return true;
  }
  return false;
}
