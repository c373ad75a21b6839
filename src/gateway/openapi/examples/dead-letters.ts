import type { OperationExamples } from './example.js';
import { EVALUATION_ID, FAILED_EVALUATION, RUN } from './values.js';

const HOUR_MS = 3_600_000;
const done = { done: [EVALUATION_ID], refused: [] };

export const DEAD_LETTER_EXAMPLES: OperationExamples = {
  'list-dead-letters': {
    parameters: { kind: 'score', run: RUN, code: 'job-failed', limit: 10 },
    status: 200,
    answer: { jobs: [FAILED_EVALUATION] },
  },
  'get-dead-letter': {
    parameters: { id: EVALUATION_ID },
    status: 200,
    answer: { job: FAILED_EVALUATION, payload: { candidate: 7 }, calls: [] },
  },
  'retry-dead-letters': {
    body: { run: RUN, code: 'job-failed' },
    status: 200,
    answer: done,
  },
  'drop-dead-letters': {
    body: { ids: [EVALUATION_ID], olderThanMs: HOUR_MS },
    status: 200,
    answer: done,
  },
};
