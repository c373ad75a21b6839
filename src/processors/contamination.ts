import { abortable } from '../async.js';
import { PayloadError } from '../errors.js';
import type { ContaminationJobResult } from '../queues/contamination.js';
import type { Processor } from './processor.js';

/**
 * Decides whether an output is a copy of a known solution in the fleet's set (SPEC-SIL-009). It calls no agent.
 * @throws PayloadError without an output, or for a test case that breaks its rules.
 */
export const processContamination: Processor<'contamination'> = async (
  { output, testCase, config },
  work,
) => {
  if (output === undefined) {
    throw new PayloadError('invalid-payload', 'contamination: output: is missing', { field: 'output' });
  }
  work.progress('comparing');
  const result = await abortable(work.contamination.check({ output, testCase, config }), work.signal);
  // The result is stored as JSON, which drops undefined fields.
  return result as ContaminationJobResult;
};
