import { KNOWN_STARS } from '../library-models/star-imports.js';
import type { Expr } from '../syntax/ast.js';
import { NO_FACTS } from '../values/facts.js';
import { emptyTable, newCell, newTable } from '../values/join.js';
import type { Interpreter } from './interpreter.js';

/** Attributes and methods that only a frame has. */
const OF_FRAMES =
  /^(i?loc|ix|columns|dtypes|groupby|drop|dropna|fillna|merge|sort_values|set_index|reset_index|select_dtypes|iterrows|drop_duplicates|get_dummies)$/;

/**
 * A name that nothing binds, in a notebook whose first cells were removed: a frame if it is used like one. `use` is what
 * is taken from it.
 */
export function bindRemovedFrame(interp: Interpreter, object: Expr, use: string | readonly Expr[]): void {
  if (object.type !== 'name' || interp.scope.lookup(object.id) !== undefined) return;
  const isFrame = typeof use === 'string' ? OF_FRAMES.test(use) : picksColumns(use);
  if (!isFrame || [...interp.stars].some((module) => !KNOWN_STARS.test(module))) return;
  const source = interp.source(`name:${object.id}`, object.id);
  const frame = newTable({ ...emptyTable({ ...NO_FACTS, rows: [source] }, 'frame'), partial: false });
  interp.unresolved.add(object.id);
  interp.global.names.set(object.id, newCell(frame));
}

/** `table['u']`, `table[['u', 'v']]` */
function picksColumns([index, ...others]: readonly Expr[]): boolean {
  if (index === undefined || others.length > 0) return false;
  const names = index.type === 'sequence' ? index.items : [index];
  return (
    names.length > 0 && names.every((name) => name.type === 'constant' && typeof name.value === 'string')
  );
}
