import type { Expr, Span, Stmt } from '../syntax/ast.js';
import { type FitEvent, union } from '../values/facts.js';
import { emptyTable, newTable } from '../values/join.js';
import { covers, type Region } from '../values/region.js';
import type { Value } from '../values/value.js';
import { countWork } from '../values/work.js';
import { ANY_LABEL } from './any-label.js';
import { isStatistic, withoutOwnStatistics } from './collecting.js';
import type { Interpreter } from './interpreter.js';

interface Window {
  readonly subject: string;
  readonly node: Expr;
  /** The rows that the windows are parts of. */
  rows: readonly Region[];
  /** One begins where the one before it ends: they share no values. */
  readonly areBatches?: boolean;
}

/** Windows that a loop moves over rows, most of them overlapping, by the loop or comprehension whose rounds they are taken in. */
export class OverlappingWindows {
  readonly #windows = new Map<Span, Window>();

  note(repeat: Span, window: Window): void {
    const known = this.#windows.get(repeat);
    if (known === undefined) this.#windows.set(repeat, window);
    else if (known.node === window.node) known.rows = window.rows;
  }

  /**
   * What a round puts into a list: numbers that were computed from a window are a row that shares values with the rows of
   * the rounds before. The same value where it has rows itself.
   */
  inLoop(interp: Interpreter, piece: Value): Value {
    const loop = this.#loopAround(interp.statement);
    return loop === undefined ? piece : this.inRepeat(interp, loop, piece);
  }

  inRepeat(interp: Interpreter, repeat: Span, piece: Value): Value {
    const window = this.#windows.get(repeat);
    if (window === undefined || piece.type === 'constant') return piece;
    const facts = interp.dataOf(piece);
    if (facts.predictions.length > 0 || facts.scores.length > 0) return piece;
    // Numbers have no rows, and what is not followed has those of the loop.
    const placed = facts.rows.filter((region) => region.parent !== undefined || region.loop === undefined);
    if (window.rows.length === 0) return piece;
    const rows = { rows: window.rows, certain: window.rows.length === 1 };
    const fits = withoutOwnStatistics(interp, facts.fits, isOfWindow);
    if (placed.length > 0 || window.areBatches === true) {
      // What was computed over the rows of the window is a number of this one.
      const isOfRows = placed.length > 0 && fits.length < facts.fits.length;
      return piece.type === 'table' && isOfRows && covers(window.rows, placed)
        ? newTable({ ...emptyTable({ ...facts, ...rows, fits }, 'row'), single: true })
        : piece;
    }
    if (piece.type !== 'sequence' && piece.type !== 'mapping')
      return newTable({ ...emptyTable({ ...facts, ...rows, fits }, 'row'), single: true });
    const { subject, node } = window;
    const event: FitEvent = interp.fit(
      'shuffled-time',
      subject,
      rows,
      interp.label(node),
      node,
      interp.statement,
      [ANY_LABEL],
    );
    const all = { ...facts, ...rows, fits: union(fits, [event]) };
    return newTable({ ...emptyTable(all, 'row'), single: true });
  }

  /** The innermost loop of the function that takes overlapping windows and is around the statement. */
  #loopAround(statement: Stmt): Stmt | undefined {
    for (let owner = statement.suite.owner; owner !== undefined; owner = owner.suite.owner) {
      countWork(1);
      if (owner.type === 'function' || owner.type === 'class') return undefined;
      if (this.#windows.has(owner)) return owner;
    }
    return undefined;
  }
}

/** How the columns of one window go together is a number of this window, and chooses no columns. */
function isOfWindow(fit: FitEvent): boolean {
  return isStatistic(fit) || fit.kind === 'feature-selection';
}
