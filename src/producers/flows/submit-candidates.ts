import { JobError } from '../../errors.js';
import { mapInChunks } from '../../event-loop.js';
import type { KeyOptions } from '../add-job.js';
import type { FleetClient } from '../fleet-client.js';
import { existingJob, removeEnded, runAgain, type SubmitOutcome } from '../submit-once.js';
import { addFlowJobs, allOf, type FlowNode, runFlowAgain, verifySubmitted } from './add-flow.js';
import type { CandidateNode } from './candidate-nodes.js';

/** Independent candidates that one transaction adds; Redis serves other clients between two transactions. */
const MAX_CANDIDATES_A_TRANSACTION = 250;

/**
 * Submits independent evaluations, each atomically with its check. All are looked up and admitted before any is stored.
 * @throws JobError `key-conflict`; RedisError `redis-full`.
 */
export async function addEach(
  fleet: FleetClient,
  nodes: readonly CandidateNode[],
  options: KeyOptions,
): Promise<SubmitOutcome[]> {
  const { force } = options;
  const isThere = await mapInChunks(nodes, (node) => exists(fleet, node));
  await admit(
    fleet,
    nodes.filter((_, index) => force || !isThere[index]).map(({ root }) => root),
  );
  const outcomes = await mapInChunks(nodes, async ({ root }, index): Promise<SubmitOutcome> => {
    const job = isThere[index] ? await existingJob(fleet, root) : undefined;
    if (job === undefined) return 'created';
    if (force && (await removeEnded(job))) return 'replaced';
    return (await runFlowAgain(fleet, root, job)) ? 'retried' : 'existing';
  });
  const missing = nodes.filter((_, index) => outcomes[index] === 'created' || outcomes[index] === 'replaced');
  for (let start = 0; start < missing.length; start += MAX_CANDIDATES_A_TRANSACTION) {
    await addNew(fleet, missing.slice(start, start + MAX_CANDIDATES_A_TRANSACTION), options);
  }
  return outcomes;
}

async function addNew(
  fleet: FleetClient,
  nodes: readonly CandidateNode[],
  options: KeyOptions,
): Promise<void> {
  const roots = nodes.map(({ root }) => root);
  await addFlowJobs(fleet, roots, options);
  const keyed = nodes.filter(({ hasKey }) => hasKey);
  await verifySubmitted(
    fleet,
    keyed.map(({ root }) => root),
  );
}

/** @throws JobError `key-conflict` if the key names another payload. */
async function exists(fleet: FleetClient, { root, hasKey }: CandidateNode): Promise<boolean> {
  return hasKey && (await existingJob(fleet, root)) !== undefined;
}

/**
 * Asserts that there is room for flows before anything is removed or stored.
 * @throws RedisError `redis-full`.
 */
async function admit(fleet: FleetClient, roots: readonly FlowNode[]): Promise<void> {
  await fleet.memory.admitJobs(roots.flatMap(allOf).map(({ data }) => data));
}

/**
 * Submits a batch and the job after it atomically.
 * @throws JobError `key-conflict`; RedisError `redis-full`.
 */
export async function addUnderOneParent(
  fleet: FleetClient,
  root: FlowNode,
  nodes: readonly CandidateNode[],
  options: KeyOptions,
): Promise<SubmitOutcome> {
  const { force } = options;
  const parent = await existingJob(fleet, root);
  if (parent === undefined || force) await admit(fleet, [root]);
  if (parent !== undefined && !(force && (await removeEnded(parent)))) {
    return (await runAgain(fleet, root.queue, parent)) ? 'retried' : 'existing';
  }
  const keyed = nodes.filter(({ hasKey }) => hasKey).map((node) => node.root);
  const hasFailed = await mapInChunks(keyed, (child) => checkAttachable(fleet, root, child));
  const failed = keyed.filter((_, index) => hasFailed[index]);
  await mapInChunks(failed, async (child) =>
    (await existingJob(fleet, child))?.remove({ removeChildren: true }),
  );
  await addFlowJobs(fleet, [root], options);
  return parent === undefined ? 'created' : 'replaced';
}

/**
 * Checks that a candidate's evaluation can become a child of the batch: it is new, or completed and has no other parent,
 * or it has failed.
 * @returns whether it has failed and must be removed before it is added again.
 */
async function checkAttachable(fleet: FleetClient, root: FlowNode, child: FlowNode): Promise<boolean> {
  const job = await existingJob(fleet, child);
  if (job === undefined) return false;
  const state = await job.getState();
  if (state === 'failed') return true;
  const elsewhere = job.parentKey !== undefined && (await fleet.client.exists(job.parentKey)) === 1;
  if (state === 'completed' && !elsewhere) return false;
  const why = elsewhere ? 'which another batch waits for' : `which is still ${state}`;
  throw new JobError('key-conflict', `a candidate of ${root.name} names evaluation ${child.id}, ${why}`, {
    jobId: child.id,
    field: 'candidates.key',
  });
}
