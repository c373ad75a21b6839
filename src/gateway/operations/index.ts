import type { OpenOperation, Operation } from '../http/operation.js';
import type { FleetLink } from '../link.js';
import type { Metrics } from '../metrics/metrics.js';
import { deadLetterOperations } from './dead-letters.js';
import { listDisagreementsOperation } from './disagreements.js';
import { evaluationOperations } from './evaluations.js';
import { flowOperations } from './flows.js';
import { jobEvents } from './job-events.js';
import { cancelOperation, getJob, getRun, listOperation, retryOperation } from './jobs.js';
import { knownOperations } from './known.js';
import { healthOperations, metricsOperation, openApiOperation } from './service.js';
import { submitBatch } from './submit-batch.js';
import { submitOperations } from './submit-job.js';

/** Every route of the API, in the order of the documentation. */
export function allOperations(
  link: Pick<FleetLink, 'kinds' | 'closing' | 'health'>,
  metrics: Metrics,
): readonly (Operation | OpenOperation)[] {
  const { kinds } = link;
  const operations: (Operation | OpenOperation)[] = [
    ...submitOperations(kinds),
    submitBatch(kinds),
    listOperation,
    getJob,
    jobEvents,
    cancelOperation,
    retryOperation,
    ...flowOperations,
    getRun,
    listDisagreementsOperation,
    ...deadLetterOperations,
    ...evaluationOperations,
    ...knownOperations,
    ...healthOperations(link),
    metricsOperation(metrics),
  ];
  return [...operations, openApiOperation(operations)];
}
