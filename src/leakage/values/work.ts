/** Thrown where an analysis has done all the work that a script of its size may cause. */
export class WorkLimitError extends Error {}

/**
 * The work of the analysis being run: elements built and elements visited. One counter serves all, since an analysis runs
 * from its first statement to its verdict without a pause. Outside of an analysis nothing is counted.
 */
const meter = { spent: 0, most: Number.POSITIVE_INFINITY };

/**
 * Counts work that grows with a value, not with the code: each place that builds or walks one says how long it is.
 * @throws WorkLimitError where it is too much, inside `withinWorkLimit` only.
 */
export function countWork(units: number): void {
  meter.spent += units;
  if (meter.spent > meter.most) throw new WorkLimitError('the analysis has done all the work that it may do');
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
