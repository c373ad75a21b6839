import { AgentError, type ErrorCode } from '../errors.js';

const UNUSABLE_ANSWERS: ReadonlySet<ErrorCode> = new Set([
  'answer-truncated',
  'answer-refused',
  'answer-invalid',
  'tool-loop',
]);

/**
 * Whether an agent did answer, and the answer cannot be used. Where a second question only refines what a first answer
 * said, that costs the refinement, not the job.
 */
export function isUnusableAnswer(thrown: unknown): thrown is AgentError {
  return thrown instanceof AgentError && UNUSABLE_ANSWERS.has(thrown.code);
}
