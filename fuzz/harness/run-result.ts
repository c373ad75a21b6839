/** The result of one input. */
export type RunResult =
  | { readonly kind: 'passed' | 'refused'; readonly cpuMs: number }
  | {
      readonly kind: 'failed';
      readonly defect: Defect;
      /** One line that identifies defects of the same origin. */
      readonly signature: string;
      readonly detail: string;
    };

/**
 * `exception`: an error outside of the contract. `invariant`: a wrong result. `not-deterministic`: different results for the
 * same input. `slow`: more processor time than the bound. `stuck`: no answer. `heap`: out of memory. `crash`: the process
 * ended.
 */
type Defect = 'exception' | 'invariant' | 'not-deterministic' | 'slow' | 'stuck' | 'heap' | 'crash';
