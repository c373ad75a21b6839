import { AgentError, type ErrorCode } from '../errors.js';

const UNUSABLE_ANSWERS: ReadonlySet<ErrorCode> = new Set([
  'answer-truncated',
  'answer-refused',
  'answer-invalid',
  'tool-loop',
]);

/**
 * Whether an agent answered, but the answer cannot be used. If a second request only refines a first answer, then only the
 * refinement fails, not the job.
 */
export function isUnusableAnswer(thrown: unknown): thrown is AgentError {
  return thrown instanceof AgentError && UNUSABLE_ANSWERS.has(thrown.code);
}
