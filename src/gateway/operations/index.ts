import type { OpenOperation, Operation } from '../http/operation.js';
import type { FleetLink } from '../link.js';
import { evaluationOperations } from './evaluations.js';
import { flowOperations } from './flows.js';
import { healthOperations } from './health.js';
import { cancelOperation, getJob, getRun, listOperation, retryOperation } from './jobs.js';
import { submitBatch } from './submit-batch.js';
import { submitOperations } from './submit-job.js';

/** Every route of the API, in the order in which it is documented. */
export function allOperations(link: FleetLink, version: string): readonly (Operation | OpenOperation)[] {
  return [
    ...submitOperations,
    submitBatch,
    listOperation,
    getJob,
    cancelOperation,
    retryOperation,
    ...flowOperations,
    getRun,
    ...evaluationOperations,
    ...healthOperations(link, version),
  ];
}
