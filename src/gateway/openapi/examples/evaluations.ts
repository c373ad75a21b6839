import type { OperationExamples } from './example.js';
import { CORRECTED, EVALUATION_ID, FINDINGS, LEASE } from './values.js';

const lease = { queue: 'score', id: EVALUATION_ID, lease: LEASE };

export const EVALUATION_EXAMPLES: OperationExamples = {
  'claim-evaluation': {
    parameters: { wait: '30s' },
    body: { queue: 'score', leaseMs: 60_000 },
    status: 200,
    answer: {
      ...lease,
      name: 'score',
      leaseMs: 60_000,
      data: { candidate: 7 },
      attempt: 1,
      solution: { content: CORRECTED },
      status: 'corrected',
      findings: FINDINGS,
    },
  },
  'heartbeat-evaluation': {
    body: { ...lease, leaseMs: 60_000 },
    status: 200,
    answer: { leaseMs: 60_000 },
  },
  'complete-evaluation': { body: { ...lease, result: { score: 0.868 } }, status: 204 },
  'fail-evaluation': {
    body: { ...lease, message: 'the script was killed: out of memory', retryable: false },
    status: 204,
  },
};
