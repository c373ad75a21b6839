import type { Comprehension, Expr, For, Stmt } from '../syntax/ast.js';
import { expressionsIn, namesInExpression, statementsIn } from '../syntax/walk.js';
import type { SequenceOf, Value } from '../values/value.js';
import { countWork } from '../values/work.js';
import type { Interpreter } from './interpreter.js';
import { boundIn } from './loop-names.js';

/**
 * Functions that alter a copy of an image, a text or a signal.
 * Source: numpy (`fliplr`, `rot90`, `roll`), OpenCV (`flip`, `warpAffine`, `GaussianBlur`), Pillow (`ImageOps.mirror`,
 * `ImageEnhance`), scikit-image and SciPy (`rotate`, `random_noise`).
 */
const ALTERING =
  /^(flip\w*|mirror|rot90|rotate\w*|roll|warp\w*|\w*blur|random_\w+|add_noise|jitter\w*|augment\w*|brightness|contrast|sharpness|adjust_\w+|shear\w*|invert|solarize|posterize|equalize|enhance)$/i;

/**
 * Functions that draw random numbers.
 * Source: numpy random generators; torch random sampling.
 */
const DRAWING =
  /^(normal|randn|randn_like|rand|rand_like|standard_normal|uniform|laplace|random|random_sample)$/;

/** Expressions that a variable of the loop was made of, at most. */
const MAX_MADE_OF = 8;

/** The last name of what is called or named: `rot90` of `np.rot90`. */
function lastName(expression: Expr): string {
  if (expression.type === 'name') return expression.id;
  return expression.type === 'attribute' ? expression.name : '';
}

/** Whether a copy that is altered, as by a flip or by noise, is in the expression. */
export function isAltering(expression: Expr): boolean {
  for (const part of expressionsIn(expression))
    if (part.type === 'call' && ALTERING.test(lastName(part.callee))) return true;
  return false;
}

/** A loop within a loop over rows, whose rounds have the same row: what is run again and again for it. */
interface Repetition {
  readonly target: Expr;
  readonly iterable: Expr;
  /** Names that hold the row, or are made of it before the repetition. */
  readonly row: ReadonlySet<string>;
  /** Names that the repetition binds. */
  readonly bound: ReadonlySet<string>;
  /** What the repetition assigns to a name. */
  readonly made: ReadonlyMap<string, Expr>;
}

/** The innermost loop around a loop, in the same function. */
function loopAround(loop: Stmt): For | undefined {
  for (let owner = loop.suite.owner; owner !== undefined; owner = owner.suite.owner) {
    countWork(1);
    if (owner.type === 'function' || owner.type === 'class' || owner.type === 'while') return undefined;
    if (owner.type === 'for') return owner;
  }
  return undefined;
}

/** The loop over rows around a loop that does something several times for each of them. */
export function repeatedLoop(interp: Interpreter, inner: Stmt): For | undefined {
  if (inner.type !== 'for') return undefined;
  const outer = loopAround(inner);
  return outer !== undefined && isRepeating(interp, inner.iterable, boundIn(outer).all) ? outer : undefined;
}

/** Whether a loop goes through numbers, through functions or versions that are written out, or through random copies. */
function isRepeating(interp: Interpreter, iterable: Expr, varying: ReadonlySet<string>): boolean {
  if (iterable.type === 'sequence') return true;
  if (iterable.type === 'name' && !varying.has(iterable.id)) {
    const value = interp.scope.lookup(iterable.id)?.value;
    return value?.type === 'sequence' && areChoices(value);
  }
  if (iterable.type !== 'call') return false;
  if (iterable.callee.type === 'attribute' && iterable.callee.name === 'flow') return true;
  return (
    iterable.callee.type === 'name' &&
    iterable.callee.id === 'range' &&
    iterable.args.every(({ value }) =>
      [...expressionsIn(value)].every((part) =>
        part.type === 'name' ? !varying.has(part.id) : part.type === 'constant' || part.type === 'binary',
      ),
    )
  );
}

function areChoices({ cell }: SequenceOf): boolean {
  const { items, rest } = cell.value;
  countWork(items.length);
  return (
    rest === undefined &&
    items.every(({ type }) => type === 'constant' || type === 'function' || type === 'library')
  );
}

function repetitionOf(outer: For, inner: For): Repetition {
  const bound = boundIn(inner).all;
  const made = new Map<string, Expr>();
  for (const statement of statementsIn(inner)) {
    const [target] = statement.type === 'assign' ? statement.targets : [];
    if (statement.type === 'assign' && target?.type === 'name') made.set(target.id, statement.value);
  }
  const row = new Set([...boundIn(outer).varying].filter((name) => !bound.has(name)));
  return { target: inner.target, iterable: inner.iterable, row, bound, made };
}

/** Whether each round of the inner one of two loops puts another altered copy of one row into a list. */
export function repeatsRow(interp: Interpreter, inner: Stmt, expression: Expr): For | undefined {
  const outer = repeatedLoop(interp, inner);
  if (outer === undefined || inner.type !== 'for') return undefined;
  return isAlteredCopy(interp, repetitionOf(outer, inner), expression) ? outer : undefined;
}

/** Whether a comprehension has several altered copies of each row: `[rotate(im, a) for im in images for a in angles]`. */
export function comprehensionRepeatsRow(interp: Interpreter, { clauses, element }: Comprehension): boolean {
  const [outer, inner, ...others] = clauses;
  if (outer === undefined || inner === undefined || others.length > 0) return false;
  const row = new Set([...namesInExpression(outer.target)].map(({ id }) => id));
  const bound = new Set([...namesInExpression(inner.target)].map(({ id }) => id));
  if (!isRepeating(interp, inner.iterable, row)) return false;
  const { target, iterable } = inner;
  return isAlteredCopy(interp, { target, iterable, row, bound, made: new Map() }, element);
}

function isAlteredCopy(interp: Interpreter, repetition: Repetition, expression: Expr): boolean {
  const all = madeOf(repetition, expression);
  if (all.some((part) => takesPiece(repetition, part))) return false;
  const { iterable, target } = repetition;
  const takesTarget = all.some((part) => namesAny(part, new Set([lastName(target)])));
  if (takesTarget && isFlowOf(repetition)) return true;
  if (takesTarget && iterable.type === 'sequence' && areVersions(repetition, iterable.items)) return true;
  return all.some((part) => isAlteredRow(interp, repetition, part));
}

/** An expression, and what its variables were made of in the repetition. */
function madeOf({ made }: Repetition, expression: Expr): readonly Expr[] {
  const all = [expression];
  for (const part of all) {
    for (const { id } of namesInExpression(part)) {
      const value = made.get(id);
      if (value !== undefined && !all.includes(value) && all.length < MAX_MADE_OF) all.push(value);
    }
  }
  return all;
}

function namesAny(expression: Expr, names: ReadonlySet<string>): boolean {
  for (const { id } of namesInExpression(expression)) if (names.has(id)) return true;
  return false;
}

/** `signal[i:i + n]`: another piece of the row in each round, not the row again. */
function takesPiece({ bound }: Repetition, expression: Expr): boolean {
  for (const part of expressionsIn(expression))
    if (part.type === 'subscript' && part.indices.some((index) => namesAny(index, bound))) return true;
  return false;
}

/** `for batch in generator.flow(image, …)`: random copies of what is passed. */
function isFlowOf({ iterable, row }: Repetition): boolean {
  return iterable.type === 'call' && iterable.args.some(({ value }) => namesAny(value, row));
}

/** `for version in (image, flip(image))`: the row and an altered copy of it, or two copies. */
function areVersions({ row }: Repetition, items: readonly Expr[]): boolean {
  const plain = items.some((item) => item.type === 'name' && row.has(item.id));
  const altered = items.filter(
    (item) =>
      namesAny(item, row) &&
      (isAltering(item) || (plain && /^(call|binary|subscript)$/.test(item.type) && !isLookup(item))),
  );
  return altered.length + (plain ? 1 : 0) > 1;
}

/** `row["text"]`: a value of the row under a name. */
function isLookup(item: Expr): boolean {
  return item.type === 'subscript' && item.indices.every(({ type }) => type === 'constant');
}

/** A call that alters the row, a function of several that do, or noise that is added to it. */
function isAlteredRow(interp: Interpreter, repetition: Repetition, expression: Expr): boolean {
  const { row, target } = repetition;
  for (const part of expressionsIn(expression)) {
    if (part.type === 'binary') {
      const drawn = [...expressionsIn(part)].some(
        (inner) => inner.type === 'call' && DRAWING.test(lastName(inner.callee)),
      );
      if (drawn && namesAny(part, row)) return true;
    }
    if (part.type !== 'call' || !part.args.some(({ value }) => namesAny(value, row))) continue;
    const isOneOfMany = part.callee.type === 'name' && part.callee.id === lastName(target);
    if (isOneOfMany ? haveAltering(interp, repetition) : isAltering(part)) return true;
  }
  return false;
}

/** Whether one of the functions that the loop goes through alters what it is called with. */
function haveAltering(interp: Interpreter, { iterable }: Repetition): boolean {
  if (iterable.type === 'sequence')
    return iterable.items.some((item) => ALTERING.test(lastName(item)) || isAltering(item));
  const value = iterable.type === 'name' ? interp.scope.lookup(iterable.id)?.value : undefined;
  return value?.type === 'sequence' && value.cell.value.items.some(isAlteringFunction);
}

function isAlteringFunction(value: Value): boolean {
  if (value.type === 'library') return ALTERING.test(value.path.replace(/^.*\./, ''));
  if (value.type !== 'function') return false;
  const { definition } = value;
  return definition.type === 'lambda' ? isAltering(definition.body) : ALTERING.test(definition.name);
}
