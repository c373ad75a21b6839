/** What became of one input. */
export type Verdict =
  | { readonly kind: 'passed' | 'refused'; readonly cpuMs: number }
  | {
      readonly kind: 'failed';
      readonly defect: Defect;
      /** One line by which defects of the same origin are told from others. */
      readonly signature: string;
      readonly detail: string;
    };

/**
 * `exception`: an error that is not of the contract. `invariant`: a result that is wrong. `not-deterministic`: another
 * result for the same input. `slow`: more processor time than the bound. `stuck`: no answer. `heap`: out of memory.
 * `crash`: the process ended.
 */
type Defect = 'exception' | 'invariant' | 'not-deterministic' | 'slow' | 'stuck' | 'heap' | 'crash';
