import { type OptionNames, rejectUnknownOptions } from '../known-options.js';
import type { HttpKnownSolution } from './answers.js';
import type { GatewayConnection } from './connection.js';

/** A solution to be known. */
export interface HttpNewKnownSolution {
  readonly solution: string;
  /** Language of the solution, as in `python`. */
  readonly language?: string;
  /** When it came into the training data, as ISO 8601; default: now. */
  readonly addedToTraining?: string;
}

const NEW_SOLUTION: OptionNames<HttpNewKnownSolution> = {
  solution: true,
  language: true,
  addedToTraining: true,
};
const REMOVED: OptionNames<{ readonly hash?: string }> = { hash: true };

/** The known solutions that contamination checks compare answers with. Changes need a token of the role `admin`. */
export class HttpKnownSolutions {
  readonly #gateway: GatewayConnection;

  constructor(gateway: GatewayConnection) {
    this.#gateway = gateway;
  }

  /** The known solutions of a test case; none is an empty list. */
  async of(testCaseId: string): Promise<readonly HttpKnownSolution[]> {
    const { solutions } = await this.#gateway.send((api) =>
      api.GET('/v1/known/{testCaseId}', { params: { path: { testCaseId } } }),
    );
    return solutions;
  }

  /** Makes a solution known; false: it was known already. */
  async add(testCaseId: string, solution: HttpNewKnownSolution): Promise<boolean> {
    rejectUnknownOptions(solution, NEW_SOLUTION);
    const { added } = await this.#gateway.send((api) =>
      api.PUT('/v1/known/{testCaseId}', { params: { path: { testCaseId } }, body: solution }),
    );
    return added;
  }

  /** Forgets the solution with a hash, or all of a test case; returns how many these were. */
  async remove(testCaseId: string, options: { readonly hash?: string } = {}): Promise<number> {
    rejectUnknownOptions(options, REMOVED);
    const { removed } = await this.#gateway.send((api) =>
      api.DELETE('/v1/known/{testCaseId}', { params: { path: { testCaseId }, query: options } }),
    );
    return removed;
  }
}
