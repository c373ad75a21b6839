import { JobError } from '../../errors.js';
import { mapInChunks } from '../../event-loop.js';
import type { KeyOptions } from '../add-job.js';
import type { FleetClient } from '../fleet-client.js';
import { existingJob, removeEnded, runAgain, type SubmitOutcome } from '../submit-once.js';
import { addFlowJobs, allOf, type FlowNode, runFlowAgain, verifySubmitted } from './add-flow.js';
import type { CandidateNode } from './candidate-nodes.js';

/** Candidates that go to Redis in one transaction where each stands for itself, so that it serves others in between. */
const MAX_CANDIDATES_A_TRANSACTION = 250;

/**
 * Submits evaluations that stand for themselves, each whole with its check. They are looked for and admitted before any of
 * them is stored.
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

/** @throws JobError `key-conflict` where the key names another payload. */
async function exists(fleet: FleetClient, { root, hasKey }: CandidateNode): Promise<boolean> {
  return hasKey && (await existingJob(fleet, root)) !== undefined;
}

/**
 * Makes sure that there is room for flows before anything is removed or stored.
 * @throws RedisError `redis-full`.
 */
async function admit(fleet: FleetClient, roots: readonly FlowNode[]): Promise<void> {
  await fleet.memory.admitJobs(roots.flatMap(allOf).map(({ data }) => data));
}

/**
 * Submits a batch with the job behind it, whole or not at all.
 * @throws JobError `key-conflict`; RedisError `redis-full`.
 */
export async function addBehindOneParent(
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
 * Checks that a candidate's evaluation can become a child of the batch: it is new, or completed and nobody else's, or it
 * has failed.
 * @returns whether it has failed, and must make room for a new try.
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
