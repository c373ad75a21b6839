import type { Value } from './value.js';
import { countWork } from './work.js';

/** A cell that holds a value which can change: a variable, the state of a table or of an estimator. */
export interface Cell<T> {
  value: T;
  /** What the cell holds when two paths through the code meet. */
  readonly join: (a: T, b: T) => T;
}

/** A record of the first value of every cell written since it was opened. */
type Trail = Map<Cell<unknown>, unknown>;

/** Writes to cells, with a record of what they held, so that branches can be tried one after another. */
export class Store {
  readonly #trails: Trail[] = [];

  write<T>(cell: Cell<T>, value: T): void {
    if (cell.value === value) return;
    const trail = this.#trails.at(-1);
    const key = cell as Cell<unknown>;
    if (trail !== undefined && !trail.has(key)) trail.set(key, cell.value);
    cell.value = value;
  }

  /**
   * Runs each branch from the state before all of them, then joins the states after those that fall through.
   * A branch returns false where the code does not go on after it (return, raise, break).
   */
  branches(runs: readonly (() => boolean)[]): boolean {
    const ends: { goesOn: boolean; after: Map<Cell<unknown>, unknown> }[] = [];
    for (const run of runs) {
      const trail: Trail = new Map();
      this.#trails.push(trail);
      let goesOn = true;
      try {
        goesOn = run();
      } finally {
        this.#trails.pop();
      }
      const after = new Map<Cell<unknown>, unknown>();
      for (const [cell, before] of trail) {
        after.set(cell, cell.value);
        cell.value = before;
      }
      ends.push({ goesOn, after });
    }
    const live = ends.filter((end) => end.goesOn);
    const meeting = live.length > 0 ? live : ends.slice(0, 1);
    const touched = new Set(meeting.flatMap((end) => [...end.after.keys()]));
    for (const cell of touched) {
      countWork(meeting.length);
      const [first, ...others] = meeting.map((end) =>
        end.after.has(cell) ? end.after.get(cell) : cell.value,
      );
      this.write(
        cell,
        others.reduce((a, b) => (a === b ? a : cell.join(a, b)), first),
      );
    }
    return live.length > 0;
  }
}

/** Variables of a function, class or module, and the scope around it. */
export class Scope {
  readonly names = new Map<string, Cell<Value>>();
  readonly globals = new Set<string>();

  constructor(
    readonly parent: Scope | undefined,
    readonly isClass = false,
    readonly isComprehension = false,
  ) {}

  lookup(name: string): Cell<Value> | undefined {
    let scope: Scope | undefined = this;
    while (scope !== undefined) {
      const cell = scope === this || !scope.isClass ? scope.names.get(name) : undefined;
      if (cell !== undefined) return cell;
      scope = scope.parent;
    }
    return undefined;
  }
}
