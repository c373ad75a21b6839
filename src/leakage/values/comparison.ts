import type { ConstantValue } from '../syntax/ast.js';

/**
 * Sides of a partition by comparison, as text: `!` negates, then the operator, then the bound. Two sides over
 * the same quantity are distinguished by their bounds.
 */
export function comparisonSide(
  operator: string,
  bound: ConstantValue | { readonly text: string },
): string | undefined {
  const text =
    bound !== null && typeof bound === 'object'
      ? `t:${bound.text}`
      : `${typeof bound === 'number' ? 'n' : 's'}:${bound}`;
  switch (operator) {
    case '<':
      return `<${text}`;
    case '>=':
      return `!<${text}`;
    case '<=':
      return `≤${text}`;
    case '>':
      return `!≤${text}`;
    case '==':
      return `=${text}`;
    case '!=':
      return `!=${text}`;
    default:
      return undefined;
  }
}

interface Side {
  readonly negated: boolean;
  readonly operator: string;
  readonly kind: string;
  readonly bound: string | number;
}

function parse(side: string): Side | undefined {
  const match = /^(!?)([<≤=])([nst]):(.*)$/s.exec(side);
  if (match === null) return undefined;
  const [, bang = '', operator = '', kind = '', text = ''] = match;
  return { negated: bang === '!', operator, kind, bound: kind === 'n' ? Number(text) : text };
}

/** Whether two sides of one partition share no row, as far as their text tells. */
export function sidesDisjoint(a: string, b: string): boolean {
  if (a === b) return false;
  // A condition and its negation.
  if (a === `!${b}` || b === `!${a}`) return true;
  const [left, right] = [parse(a), parse(b)];
  if (left === undefined || right === undefined) return !a.startsWith('!') && !b.startsWith('!');
  if (left.kind === 't' || right.kind === 't') {
    if (left.kind !== right.kind) return false;
    // Of texts nobody knows the order, but each is what it is: `< last` and `== last`.
    if (left.bound === right.bound) return below(left, right) || below(right, left);
    return isGapBetween(left, right) || isGapBetween(right, left) || areTwoValues(left, right);
  }
  if (left.kind !== right.kind) {
    return left.operator === '=' && right.operator === '=' && !left.negated && !right.negated;
  }
  if (left.operator === '=' && right.operator === '=') {
    return !left.negated && !right.negated && left.bound !== right.bound;
  }
  return below(left, right) || below(right, left);
}

/** `< start - gap` and `>= start`, or `< end` and `>= end + gap`: rows are left out between the two sides. */
function isGapBetween(low: Side, high: Side): boolean {
  const [top, bottom] = [upperBound(low)?.at, lowerBound(high)?.at];
  if (typeof top !== 'string' || typeof bottom !== 'string') return false;
  return isFurther(top, bottom, '-') || isFurther(bottom, top, '+');
}

/** Whether `further` is `bound`, an operator and how far: a number, a name or a call, of which none has a sign. */
function isFurther(further: string, bound: string, operator: string): boolean {
  const isPlain = /^[\w.]+$/.test(bound) || /^[\w.]+\([^()]*\)$/.test(bound);
  if (!isPlain || !further.startsWith(bound + operator)) return false;
  const distance = further.slice(bound.length + 1);
  return /^[\w.]/.test(distance) && !/[-+<>?:]/.test(distance);
}

/** Lists of values in which none is there twice. */
const WITHOUT_REPEATS = /(unique\([^()]*\)|classes_?|categories|levels)$/;

/** `== counts.idxmax()` and `== counts.idxmin()`, or `== classes[0]` and `== classes[1]`: two values, and not one. */
function areTwoValues(left: Side, right: Side): boolean {
  if (left.operator !== '=' || right.operator !== '=' || left.negated || right.negated) return false;
  const [one, other] = [elementOf(String(left.bound)), elementOf(String(right.bound))];
  if (one === undefined || one.of !== other?.of || one.isPosition !== other.isPosition) return false;
  return one.at !== other.at && (!one.isPosition || WITHOUT_REPEATS.test(one.of));
}

/** The element that a text takes: of what, and which. */
function elementOf(text: string): { of: string; at: string; isPosition: boolean } | undefined {
  const match = /(?:\.(idxmax|idxmin)\(\)|\[(-?\d+)\])$/.exec(text);
  if (match === null) return undefined;
  const [, extreme, position] = match;
  return {
    of: text.slice(0, match.index),
    at: extreme ?? position ?? '',
    isPosition: position !== undefined,
  };
}

/** Whether everything on side `low` lies below everything on side `high`. */
function below(low: Side, high: Side): boolean {
  const top = upperBound(low);
  const bottom = lowerBound(high);
  if (top === undefined || bottom === undefined) return false;
  if (top.at < bottom.at) return true;
  return top.at === bottom.at && !(top.included && bottom.included);
}

function upperBound(side: Side): { at: string | number; included: boolean } | undefined {
  if (side.operator === '=') return side.negated ? undefined : { at: side.bound, included: true };
  return side.negated ? undefined : { at: side.bound, included: side.operator === '≤' };
}

function lowerBound(side: Side): { at: string | number; included: boolean } | undefined {
  if (side.operator === '=') return side.negated ? undefined : { at: side.bound, included: true };
  return side.negated ? { at: side.bound, included: side.operator === '<' } : undefined;
}
