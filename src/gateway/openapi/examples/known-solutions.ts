import type { OperationExamples } from './example.js';

const solution = 'def two_sum(nums, target):\n    return []\n';
const addedToTraining = '2026-11-29T22:00:00.000Z';
const hash = '2127390bf87632b39792537be248da6566da1e9a953cc9ab12bf5dbff67a8378';

export const KNOWN_SOLUTION_EXAMPLES: OperationExamples = {
  'add-known-solution': {
    parameters: { testCaseId: 'two-sum' },
    body: { solution, language: 'python', addedToTraining },
    status: 200,
    answer: { added: true },
  },
  'get-known-solutions': {
    parameters: { testCaseId: 'two-sum' },
    status: 200,
    answer: { solutions: [{ testCaseId: 'two-sum', solution, hash, language: 'python', addedToTraining }] },
  },
  'remove-known-solutions': {
    parameters: { testCaseId: 'two-sum', hash },
    status: 200,
    answer: { removed: 1 },
  },
};
