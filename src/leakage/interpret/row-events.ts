import type { LeakKind } from '../kinds.js';
import type { Call } from '../syntax/ast.js';
import { union } from '../values/facts.js';
import { newTable } from '../values/join.js';
import type { TableState, Value } from '../values/value.js';
import type { Interpreter } from './interpreter.js';

/** The same rows, made with something that was computed over all of them by this method. */
export function withRowEvent(interp: Interpreter, state: TableState, kind: LeakKind, call: Call): Value {
  if (state.shape === 'row') return newTable(state);
  const rowsText = call.callee.type === 'attribute' ? interp.label(call.callee.object) : '';
  const event = interp.fit(kind, `\`${interp.label(call)}\``, state, rowsText, call);
  return newTable({ ...state, fits: union(state.fits, [event]) });
}
