import { type CutAt, sameRows } from '../values/region.js';
import type { Opaque, Value } from '../values/value.js';

/** The position that a number is, where it is known: a constant, the number of rows, or a fraction of it. */
export function positionOf(value: Value): CutAt | undefined {
  if (value.type === 'constant' && typeof value.value === 'number')
    return { fraction: value.value < 0 ? 1 : 0, offset: value.value };
  if (value.type !== 'opaque') return undefined;
  return value.countOf === undefined ? value.cut : { fraction: 1, offset: 0 };
}

/** `0.8 * len(rows)`, `n - 60`, `len(known) + len(later)`: what is known of the result. */
export function arithmeticOnPositions(
  operator: string,
  left: Value,
  right: Value,
): Pick<Opaque, 'cut' | 'countOf'> {
  const [counted, more] = [left, right].map((value) => (value.type === 'opaque' ? value.countOf : undefined));
  if (counted !== undefined && more !== undefined && operator === '+' && !sameRows(counted, more))
    return { countOf: [...counted, ...more] };
  const [a, b] = [positionOf(left), positionOf(right)];
  if (a === undefined || b === undefined) return {};
  const factor = right.type === 'constant' ? b.offset : left.type === 'constant' ? a.offset : undefined;
  const scaled = right.type === 'constant' ? a : b;
  switch (operator) {
    case '*':
      return factor === undefined ? {} : { cut: times(scaled, factor) };
    case '/':
    case '//':
      return right.type === 'constant' && b.offset !== 0 ? { cut: times(a, 1 / b.offset) } : {};
    case '+':
    case '-': {
      const sign = operator === '+' ? 1 : -1;
      const fraction = right.type === 'constant' ? 0 : b.fraction;
      const own = left.type === 'constant' ? 0 : a.fraction;
      return { cut: { fraction: own + sign * fraction, offset: a.offset + sign * b.offset } };
    }
    default:
      return {};
  }
}

function times({ fraction, offset }: CutAt, factor: number): CutAt {
  return { fraction: fraction * factor, offset: offset * factor };
}
