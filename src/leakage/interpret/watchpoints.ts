import type { Stmt } from '../syntax/ast.js';
import type { Facts } from '../values/facts.js';
import type { Region } from '../values/region.js';
import type { Scope } from '../values/store.js';
import { textsOf, type Value } from '../values/value.js';

/** What variables hold when the watched statement is about to run, for the repair. */
export interface Watched {
  /** Rows of tables by variable. */
  readonly watched: ReadonlyMap<string, readonly Region[]>;
  /** The same at an earlier statement. */
  readonly watchedEarlier: ReadonlyMap<string, readonly Region[]>;
  /** Lists of constant texts by variable. */
  readonly watchedLists: ReadonlyMap<string, readonly string[]>;
  /** Variables of tables that are indexed by position with `iloc`. */
  readonly watchedFrames: ReadonlySet<string>;
}

/** Records what variables hold at one or two statements; what was recorded the first time stays. */
export class Watchpoints {
  readonly #watch: number;
  readonly #earlier: number;
  readonly #rows = new Map<string, readonly Region[]>();
  readonly #earlierRows = new Map<string, readonly Region[]>();
  readonly #lists = new Map<string, readonly string[]>();
  readonly #frames = new Set<string>();

  /** Offsets of the statements; -1 for none. */
  constructor(watch: number, earlier: number) {
    this.#watch = watch;
    this.#earlier = earlier;
  }

  get found(): Watched {
    return {
      watched: this.#rows,
      watchedEarlier: this.#earlierRows,
      watchedLists: this.#lists,
      watchedFrames: this.#frames,
    };
  }

  /** Called before each statement runs. */
  reach({ start }: Stmt, scope: Scope, dataOf: (value: Value) => Facts): void {
    if (start === this.#earlier) recordRows(this.#earlierRows, scope, dataOf);
    if (start !== this.#watch) return;
    recordRows(this.#rows, scope, dataOf);
    for (const [name, value] of variablesIn(scope)) {
      const texts = textsOf(value);
      if (texts !== undefined && !this.#lists.has(name)) this.#lists.set(name, texts);
      if (value.type === 'table' && value.cell.value.shape !== 'array') this.#frames.add(name);
    }
  }
}

function recordRows(
  into: Map<string, readonly Region[]>,
  scope: Scope,
  dataOf: (value: Value) => Facts,
): void {
  for (const [name, value] of variablesIn(scope)) {
    const isRows =
      value.type === 'table' ||
      (value.type === 'opaque' && value.source !== undefined) ||
      (value.type === 'sequence' && value.cell.value.rest !== undefined);
    if (!isRows) continue;
    const { rows } = dataOf(value);
    if (rows.length > 0 && !into.has(name)) into.set(name, rows);
  }
}

/** All variables in sight, innermost scope first. */
function* variablesIn(innermost: Scope): Iterable<[string, Value]> {
  for (let scope: Scope | undefined = innermost; scope !== undefined; scope = scope.parent) {
    for (const [name, { value }] of scope.names) yield [name, value];
  }
}
