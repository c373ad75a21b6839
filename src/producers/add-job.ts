import { PayloadError } from '../errors.js';
import { contractVersionOf } from '../queues/contract-version.js';
import { namedQueues } from '../queues/queue-fields.js';
import { type KindRef, kindNameOf, type PayloadInputOf } from '../queues/registry.js';
import { checkFollowUps, checkTextSizes, completePayload, parsePayload } from '../queues/validate.js';
import type { AddOptions } from './add-options.js';
import type { FleetClient } from './fleet-client.js';
import { addFlow } from './flows/add-flow.js';
import { JobHandle } from './job-handle.js';
import { chooseJobId } from './job-id.js';
import { jobOptions } from './job-options.js';
import { checkSubmission } from './submission-fields.js';

/**
 * Validates a payload and adds the contract version that it needs.
 * @throws PayloadError with the path of the invalid field.
 */
export function preparePayload(
  fleet: FleetClient,
  kindName: string,
  payload: unknown,
): Record<string, unknown> {
  const kind = fleet.kinds.get(kindName);
  const parsed = parsePayload(kind, payload);
  checkFollowUps(fleet.kinds, kind, parsed);
  checkTextSizes(kind, parsed, fleet.limits);
  for (const { field, queue } of namedQueues(fleet.kinds, kind, parsed)) {
    if (!fleet.kinds.has(queue)) continue;
    const problem = `"${queue}" is a queue of the fleet; name a pipeline queue`;
    throw new PayloadError('invalid-payload', `${kind.name}: ${field}: ${problem}`, { field });
  }
  return { ...parsed, v: contractVersionOf(kind, parsed) };
}

/**
 * The stored data of a job without children.
 * @throws PayloadError naming the invalid or missing field; UsageError `unknown-kind`.
 */
export function prepareData(fleet: FleetClient, kindName: string, payload: unknown): Record<string, unknown> {
  return completePayload(fleet.kinds.get(kindName), preparePayload(fleet, kindName, payload), []);
}

/**
 * Submits one job of a kind, named or by its definition.
 * @throws UsageError `unknown-kind` if the client does not know the kind; PayloadError if the payload breaks the contract or a size limit; JobError `key-conflict` if the key names a job
 *   with another payload.
 */
export async function addJob<K extends KindRef>(
  fleet: FleetClient,
  kind: K,
  payload: PayloadInputOf<K>,
  options: AddOptions = {},
): Promise<JobHandle<K>> {
  checkSubmission(options);
  const queue = kindNameOf(kind);
  const data = prepareData(fleet, queue, payload);
  const id = chooseJobId(queue, options.key);
  const isNamed = options.key !== undefined;
  const node = { queue, name: queue, id, data, isNamed, options: jobOptions(fleet, queue, id) };
  return new JobHandle(fleet, kind, id, await addFlow(fleet, node, options));
}
