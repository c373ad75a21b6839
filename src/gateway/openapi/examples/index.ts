import { DEAD_LETTER_EXAMPLES } from './dead-letters.js';
import { EVALUATION_EXAMPLES } from './evaluations.js';
import type { OperationExamples } from './example.js';
import { FLOW_EXAMPLES } from './flows.js';
import { JOB_EXAMPLES } from './jobs.js';
import { KNOWN_SOLUTION_EXAMPLES } from './known-solutions.js';
import { SERVICE_EXAMPLES } from './service.js';

/** An example for each operation of a gateway with the built-in kinds, by its id. A kind of a user's own has none. */
export const EXAMPLES: OperationExamples = {
  ...JOB_EXAMPLES,
  ...FLOW_EXAMPLES,
  ...DEAD_LETTER_EXAMPLES,
  ...EVALUATION_EXAMPLES,
  ...KNOWN_SOLUTION_EXAMPLES,
  ...SERVICE_EXAMPLES,
};
