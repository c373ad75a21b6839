import type { Expr, Span, Stmt } from '../syntax/ast.js';
import { type FitEvent, withFits } from '../values/facts.js';
import { emptyTable, newTable } from '../values/join.js';
import type { Value } from '../values/value.js';
import { countWork } from '../values/work.js';
import type { Interpreter } from './interpreter.js';

/** A column name of events that holds whatever the labels are called. */
export const ANY_LABEL = '*';

interface Window {
  readonly subject: string;
  readonly node: Expr;
}

/** Windows that overlap, by the loop or comprehension whose rounds they are taken in. */
export class OverlappingWindows {
  readonly #windows = new Map<Span, Window>();

  note(repeat: Span, window: Window): void {
    if (!this.#windows.has(repeat)) this.#windows.set(repeat, window);
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
    const isPrediction = facts.predictions.length > 0 || facts.scores.length > 0;
    if (isPrediction || facts.rows.length > 0) return piece;
    // A list or a dictionary of numbers has no rows: it is one of those that the loop makes.
    if (piece.type !== 'sequence' && piece.type !== 'mapping') return piece;
    const rows = [interp.source(`loop:${repeat.start}`, interp.label(repeat))];
    const event: FitEvent = interp.fit(
      'shuffled-time',
      window.subject,
      { rows, certain: true },
      interp.label(window.node),
      window.node,
      interp.statement,
      [ANY_LABEL],
    );
    return newTable({
      ...emptyTable(withFits({ ...facts, rows, certain: true }, [event]), 'row'),
      single: true,
    });
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
