/** Thrown where an analysis or a repair has done all the work that a script of its size may cause. */
export class WorkLimitError extends Error {}

/**
 * The work of the analysis being run: elements built and elements visited. One counter serves all, since an analysis runs
 * from its first statement to its result without a pause; a repair waits in between, and counts what it does before and
 * after as one (`WorkAllowance`). Outside of both nothing is counted.
 */
const meter = { spent: 0, most: Number.POSITIVE_INFINITY };

/**
 * Counts work that grows with a value, not with the code: code that builds or walks one says how long it is.
 * @throws WorkLimitError where it is too much, inside of `withinWorkLimit` or a `WorkAllowance` only.
 */
export function countWork(units: number): void {
  meter.spent += units;
  if (meter.spent > meter.most)
    throw new WorkLimitError('all the work that a script of this size may cause is done');
}

/** Reading text costs less than visiting elements: so many code units count as one. */
const TEXT_UNITS = 16;

/** Counts the reading of so many code units, as `countWork` does. */
export function countText(length: number): void {
  countWork(Math.ceil(length / TEXT_UNITS));
}

/** What was done within a limit: `result` is undefined where the limit ended it. */
export interface WorkDone<T> {
  readonly result: T | undefined;
  readonly work: number;
}

/** Runs a computation that counts its work, and ends it where it has done too much. */
export function withinWorkLimit<T>(most: number, run: () => T): WorkDone<T> {
  const outer = { ...meter };
  meter.spent = 0;
  meter.most = most;
  try {
    return { result: run(), work: meter.spent };
  } catch (thrown) {
    if (thrown instanceof WorkLimitError) return { result: undefined, work: meter.spent };
    throw thrown;
  } finally {
    Object.assign(meter, outer);
  }
}

/** Work that a task may do in several computations with waits between them. */
export class WorkAllowance {
  readonly #most: number;
  #spent = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get spent(): number {
    return this.#spent;
  }

  /**
   * Runs a computation on this allowance. What it does after it has waited for something is not counted here.
   * @throws WorkLimitError where the allowance is used up.
   */
  run<T>(compute: () => T): T {
    const outer = { ...meter };
    meter.spent = this.#spent;
    meter.most = this.#most;
    try {
      return compute();
    } finally {
      this.#spent = meter.spent;
      Object.assign(meter, outer);
    }
  }
}
