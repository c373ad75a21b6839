import type { FunctionDefinition, Lambda, Stmt } from '../syntax/ast.js';
import { union } from '../values/facts.js';
import { covers, type Region } from '../values/region.js';
import type { FunctionOf, Value } from '../values/value.js';

/** Runs of a function within other calls before the late ones are left out. */
const MAX_RUNS = 64;

interface Runs {
  count: number;
  /** Which argument the function has returned in all its runs; -1: none, or not the same one. */
  returned: number | undefined;
}

/**
 * How often each function was run. Functions that call others twice run the last of them as often as two to the power of
 * their number. Once much of the work is done, those that were run often enough are not run again.
 */
export class RepeatedCalls {
  readonly #results = new Map<Stmt, readonly Region[] | 'object'>();
  readonly #runs = new Map<FunctionDefinition | Lambda, Runs>();

  /** Whether what the function does was seen often enough. */
  isSeen({ definition }: FunctionOf): boolean {
    return (this.#runs.get(definition)?.count ?? 0) >= MAX_RUNS;
  }

  noteRun({ definition }: FunctionOf, inputs: readonly Value[], result: Value): void {
    const at = inputs.findIndex((value) => isSame(value, result));
    const runs = this.#runs.get(definition) ?? { count: 0, returned: at };
    runs.count += 1;
    if (runs.returned !== at) runs.returned = -1;
    this.#runs.set(definition, runs);
  }

  /** Records what the functions that a statement calls give back: rows, or an object that keeps what it learned. */
  noteResult(calledBy: Stmt, rows: readonly Region[] | 'object'): void {
    const known = this.#results.get(calledBy) ?? [];
    this.#results.set(calledBy, rows === 'object' || known === 'object' ? 'object' : union(known, rows));
  }

  /** Whether a statement calls functions that give back these rows, and not just what they learned from them. */
  givesBack(calledBy: Stmt, rows: readonly Region[]): boolean {
    const results = this.#results.get(calledBy) ?? [];
    return results === 'object' || covers(results, rows);
  }

  /** What a run that is left out would return, if that is one of its arguments. */
  resultOf({ definition }: FunctionOf, inputs: readonly Value[]): Value | undefined {
    return inputs[this.#runs.get(definition)?.returned ?? -1];
  }
}

function isSame(a: Value, b: Value): boolean {
  return a === b || (a.type === 'table' && b.type === 'table' && a.cell === b.cell);
}
