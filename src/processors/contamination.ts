import { PayloadError } from '../errors.js';
import type { ContaminationJobResult } from '../queues/contamination.js';
import { abortable } from './abortable.js';
import type { Processor } from './processor.js';

/**
 * Tells whether an output is a copy of a known solution of the fleet's set (SPEC-SIL-009). No agent is asked.
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
  // Fields that are undefined are none in JSON, which is how the result is kept.
  return result as ContaminationJobResult;
};
