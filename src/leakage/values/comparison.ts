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
    // Of texts nobody knows the order, but each is what it is: `< last` and `== last`.
    const isOneBound = left.kind === right.kind && left.bound === right.bound;
    return isOneBound && (below(left, right) || below(right, left));
  }
  if (left.kind !== right.kind) {
    return left.operator === '=' && right.operator === '=' && !left.negated && !right.negated;
  }
  if (left.operator === '=' && right.operator === '=') {
    return !left.negated && !right.negated && left.bound !== right.bound;
  }
  return below(left, right) || below(right, left);
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
