import { PayloadError } from '../../errors.js';
import { isKindName } from '../../queues/registry.js';
import { GUARD_FIELD } from './evaluation-guard.js';
import type { Evaluation } from './guarded-evaluation.js';

function refuse(field: string, problem: string): never {
  throw new PayloadError('invalid-payload', `evaluation.${field}: ${problem}`, {
    field: `evaluation.${field}`,
  });
}

/**
 * Checks the pipeline's own job before anything is submitted.
 * @throws PayloadError with the field at fault.
 */
export function checkEvaluation({ queue, name, data }: Evaluation): void {
  if (typeof queue !== 'string' || queue === '') refuse('queue', 'is empty');
  if (queue.includes(':')) refuse('queue', 'must not hold a colon');
  if (isKindName(queue))
    refuse('queue', `"${queue}" is a queue of the fleet's own; name one of the pipeline's`);
  if (typeof name !== 'string' || name === '') refuse('name', 'is empty');
  if (data === undefined) return;
  if (typeof data !== 'object' || data === null || Array.isArray(data)) refuse('data', 'must be an object');
  if (GUARD_FIELD in data) refuse(`data.${GUARD_FIELD}`, "is the fleet's own field");
}
