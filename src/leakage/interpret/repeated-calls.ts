import type { FunctionDefinition, Lambda } from '../syntax/ast.js';
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

  /** What a run that is left out would return, if that is one of its arguments. */
  resultOf({ definition }: FunctionOf, inputs: readonly Value[]): Value | undefined {
    return inputs[this.#runs.get(definition)?.returned ?? -1];
  }
}

function isSame(a: Value, b: Value): boolean {
  return a === b || (a.type === 'table' && b.type === 'table' && a.cell === b.cell);
}
