import type { Module, Stmt } from '../../../syntax/ast.js';
import { calleeName, namesInExpression, statementsIn } from '../../../syntax/walk.js';
import { helpersOf } from '../../helper-calls.js';
import { isShown } from '../candidate-statements.js';
import { assignedNames, expressionsOf } from './assigned-values.js';
import { freeNamesIn, freeNamesOf } from './free-names.js';
import { NotCrossFitted } from './not-cross-fitted.js';
import type { OutOfFold } from './out-of-fold.js';
import { changedBy, type Tail } from './tail.js';

/** What the names of a statement get, or have changed, by it. */
export function namesMadeBy(statement: Stmt): string[] {
  const changed = [...statementsIn(statement)].flatMap((inner) => changedBy(inner) ?? []);
  return [...assignedNames(statement), ...changed];
}

/**
 * The statements that make some names out of the values of all rows, in order: with what they learn, and with the lines that
 * these begin with.
 */
export function statementsFor(
  { outer }: OutOfFold,
  tail: Tail,
  names: Iterable<string>,
  before: Stmt,
): Stmt[] {
  const needed = new Set(names);
  const included: Stmt[] = [];
  for (const statement of tail.statements.filter(({ start }) => start < before.start).toReversed()) {
    const made = namesMadeBy(statement).filter((name) => needed.has(name));
    if (made.length === 0) continue;
    if (statement === outer) throw new NotCrossFitted(`\`${made[0]}\` is made in the loop over the folds`);
    included.unshift(statement);
    const read = namesReadBy(statement);
    for (const name of made) needed.delete(name);
    const isOpen = (name: string): boolean => isMadeOfRows(tail, name) && !isSetInEachTurn(statement, name);
    for (const name of read) if (isOpen(name)) needed.add(name);
    for (const name of made)
      if (!replacesItsNames(statement) && !isSetInEachTurn(statement, name)) needed.add(name);
  }
  const [missing] = needed;
  if (missing !== undefined) throw new NotCrossFitted(`where \`${missing}\` is made is not clear`);
  return included;
}

/** What a statement reads; a variable that only gets a value is not read. */
function namesReadBy(statement: Stmt): ReadonlySet<string> {
  const names =
    statement.type === 'assign' && replacesItsNames(statement)
      ? freeNamesOf(statement.value)
      : freeNamesIn(statement);
  return new Set([...names].map(({ name }) => name.id));
}

/** Whether a value has to be computed for the rows of each fold: it was learned from the rows, or applied to them. */
export function isMadeOfRows(tail: Tail, name: string): boolean {
  const kind = tail.kindOf(name);
  return (
    kind.is === 'learned' ||
    (kind.is === 'rows' && kind.isApplied) ||
    (kind.is === 'list' && kind.of.isApplied) ||
    tail.readsRows(name)
  );
}

/** Whether a statement gives its names new values, whatever they were. */
function replacesItsNames(statement: Stmt): boolean {
  if (statement.type === 'function') return true;
  if (statement.type !== 'assign') return false;
  return statement.targets.every((target) =>
    target.type === 'sequence' ? target.items.every(({ type }) => type === 'name') : target.type === 'name',
  );
}

/** Whether each turn of a loop gives a variable a value before anything reads it. */
function isSetInEachTurn(statement: Stmt, name: string): boolean {
  if (statement.type !== 'for') return false;
  if ([...namesInExpression(statement.target)].some(({ id }) => id === name)) return true;
  for (const inner of statement.body.statements) {
    if (isSetInEachTurn(inner, name)) return true;
    const isRead = [...namesReadBy(inner)].includes(name);
    if (!isRead && inner.type === 'assign' && replacesItsNames(inner) && assignedNames(inner).includes(name))
      return true;
    if (isRead || namesMadeBy(inner).includes(name)) return false;
  }
  return false;
}

const BY_CHANCE =
  /^(study|optimize|differential_evolution|dual_annealing|basinhopping|shuffle|sample|choice|permutation|rand\w*|normal|uniform|suggest_\w+|default_rng|RandomState)$/;

/** Throws where statements cannot be said once more for each fold. */
export function rejectOtherEffects(module: Module, statements: readonly Stmt[]): void {
  for (const statement of statements) {
    if (!/^(assign|augmented|for|function|expression)$/.test(statement.type))
      throw new NotCrossFitted('the choice is made in several branches');
    for (const inner of statementsIn(statement)) rejectStatement(module, inner, statement, 0);
  }
}

function rejectStatement(module: Module, inner: Stmt, outer: Stmt, depth: number): void {
  const isNested = inner !== outer;
  if (/^(class|global|with|try|while|import|delete|other)$/.test(inner.type))
    throw new NotCrossFitted('the choice does more than to compute');
  if (isNested && inner.type === 'function') throw new NotCrossFitted('the choice defines a function');
  if (isShown(inner) && depth > 0) throw new NotCrossFitted('a function of the choice prints');
  for (const part of expressionsOf(inner)) {
    if (part.type === 'walrus') throw new NotCrossFitted('the choice assigns within an expression');
    if (part.type !== 'call') continue;
    if (BY_CHANCE.test(calleeName(part))) throw new NotCrossFitted('the choice is made by chance');
    if (/^(fit|fit_transform|train|to_csv|dump|save)$/.test(calleeName(part)))
      throw new NotCrossFitted('the choice trains a model');
    if (depth > 3) throw new NotCrossFitted('the functions of the choice are too deep');
    for (const helper of helpersOf(module, part))
      for (const own of helper.body.statements.flatMap((one) => [...statementsIn(one)]))
        rejectStatement(module, own, own, depth + 1);
  }
}
