import type { Span } from '../syntax/ast.js';
import { list, newCell, newTable } from '../values/join.js';
import { constant, opaque, UNKNOWN, type Value } from '../values/value.js';
import { countWork } from '../values/work.js';
import type { Interpreter } from './interpreter.js';

export interface Elements {
  /** All elements, where they are known one by one. */
  readonly known?: readonly Value[];
  /** What each element looks like, where their number is not known. */
  readonly common?: Value;
}

/** What iterating over a value gives. */
export function elementsOf(interp: Interpreter, value: Value, span: Span): Elements {
  switch (value.type) {
    case 'sequence': {
      const { items, rest } = value.cell.value;
      if (rest === undefined) return { known: items };
      countWork(items.length);
      return { common: items.reduce((a, b) => newCell(a).join(a, b), rest) };
    }
    case 'mapping': {
      const { entries, rest } = value.cell.value;
      countWork(8 * entries.size);
      if (rest === undefined) return { known: [...entries.keys()].map(constant) };
      return { common: UNKNOWN };
    }
    case 'constant':
    case 'estimator':
    case 'library':
    case 'function':
    case 'class':
      return { common: UNKNOWN };
    case 'table': {
      // A loader gives batches of its rows: pairs of features and labels of the same rows.
      const state = value.cell.value;
      return { common: state.shape === 'frame' ? value : newTable({ ...state, shape: 'row', single: true }) };
    }
    case 'view':
      return { common: list([UNKNOWN, value.table], true) };
    case 'positions':
      return { common: { ...opaque(interp.dataOf(value)), oneOf: value } };
    case 'instance':
    case 'method':
      return { common: opaque(interp.dataOf(value)) };
    case 'opaque':
      return { common: value.source === undefined ? value : { ...value, element: true } };
    default:
      interp.skip(span, 'iteration over an unknown object');
      return { common: UNKNOWN };
  }
}

/** The parts of a value that is unpacked into `count` targets. */
export function unpack(
  interp: Interpreter,
  value: Value,
  count: number,
  nested: readonly boolean[],
): Value[] {
  if (value.type === 'sequence') {
    const { items, rest } = value.cell.value;
    return Array.from({ length: count }, (_, at) => items[at] ?? rest ?? UNKNOWN);
  }
  if (value.type === 'opaque' && value.source !== undefined) {
    const { source } = value;
    // `(x_train, y_train), (x_test, y_test) = load_data()`: each pair has rows of its own.
    return Array.from({ length: count }, (_, at) =>
      nested[at] === true
        ? { ...value, source: interp.source(`${interp.idOf(source)}#${at}`, source.label) }
        : value,
    );
  }
  return Array.from({ length: count }, () => value);
}
