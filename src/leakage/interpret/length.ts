import { NO_FACTS } from '../values/facts.js';
import { constant, isElement, UNKNOWN, type Value } from '../values/value.js';
import type { Interpreter } from './interpreter.js';

/** What `len` gives: a number, or the number of rows of a table. */
export function lengthOf(interp: Interpreter, value: Value): Value {
  if (value.type === 'sequence' && value.cell.value.rest === undefined) {
    return constant(value.cell.value.items.length);
  }
  const facts = interp.dataOf(value);
  return facts.rows.length === 0 || !facts.certain || isElement(value)
    ? UNKNOWN
    : { type: 'opaque', facts: NO_FACTS, countOf: facts.rows };
}
