import type { Job } from 'bullmq';
import { JobError } from '../../errors.js';
import { mapInChunks } from '../../event-loop.js';
import { readJob } from '../../queues/damaged-job.js';
import { clearCancelled } from '../../queues/job-flags.js';
import { waitAgain } from '../../queues/wait-again.js';
import type { FleetClient } from '../fleet-client.js';
import { storeTerms } from '../store-terms.js';
import { existingJob, removeEnded, runAgain, type SubmitOutcome } from '../submit-once.js';
import { addFlowJobs, allOf, type FlowNode, type FlowOptions, termsOf } from './flow-jobs.js';

/** Flows that one transaction adds; Redis serves other clients between two transactions. */
const MAX_FLOWS_A_TRANSACTION = 250;

/**
 * Submits a job, or a flow atomically. With a key it is submitted once: what exists goes on unchanged, and what failed is run
 * again from the failure. A child of it may have been removed meanwhile.
 * @throws JobError `key-conflict` if the key names other content; RedisError `redis-full`.
 */
export async function addFlow(
  fleet: FleetClient,
  root: FlowNode,
  options: FlowOptions,
): Promise<SubmitOutcome> {
  const [outcome] = await addFlows(fleet, [root], options);
  return outcome ?? 'created';
}

/**
 * Submits independent flows, each atomically. All are looked up and admitted before any is stored, so what is refused stores
 * nothing.
 * @throws as `addFlow`.
 */
export async function addFlows(
  fleet: FleetClient,
  roots: readonly FlowNode[],
  options: FlowOptions,
): Promise<SubmitOutcome[]> {
  const jobs = await mapInChunks(roots, async (root) =>
    root.isNamed ? await existingJob(fleet, root) : undefined,
  );
  const additions = await mapInChunks(roots, async (root, at) =>
    jobs[at] === undefined ? prepare(fleet, root) : undefined,
  );
  const added = roots.filter((_, at) => options.force || jobs[at] === undefined);
  await fleet.memory.admitJobs(added.flatMap(allOf).map(({ data }) => data));
  const outcomes = await mapInChunks(roots, async (root, at): Promise<SubmitOutcome> => {
    const job = jobs[at];
    return job === undefined ? 'created' : submitAgain(fleet, root, job, options);
  });
  await addPrepared(
    fleet,
    additions.filter((addition) => addition !== undefined),
    options,
  );
  return outcomes;
}

/** A flow without those of its jobs that exist below it, and the failed jobs that it replaces. */
interface Addition {
  readonly root: FlowNode;
  readonly obsolete: readonly Job[];
}

async function addPrepared(
  fleet: FleetClient,
  additions: readonly Addition[],
  options: FlowOptions,
): Promise<void> {
  for (let start = 0; start < additions.length; start += MAX_FLOWS_A_TRANSACTION) {
    const part = additions.slice(start, start + MAX_FLOWS_A_TRANSACTION);
    await mapInChunks(
      part.flatMap(({ obsolete }) => obsolete),
      (job) => removeEnded(job),
    );
    const roots = part.map(({ root }) => root);
    await addFlowJobs(fleet, roots, options);
    await verifySubmitted(fleet, roots);
  }
}

/**
 * Asserts that the stored jobs with a key have the submitted content: of two concurrent submissions BullMQ keeps the first.
 * @throws JobError `key-conflict` if another submission with other content was first.
 */
async function verifySubmitted(fleet: FleetClient, roots: readonly FlowNode[]): Promise<void> {
  const named = roots.flatMap(allOf).filter(({ isNamed }) => isNamed);
  await mapInChunks(named, (node) => existingJob(fleet, node));
}

/**
 * What is to be added of a flow whose root does not exist. Jobs below it may exist: an earlier flow left them, or they have
 * a key of their own.
 * @throws JobError `key-conflict` if one of them has another payload, or cannot become a child of this flow.
 */
async function prepare(fleet: FleetClient, root: FlowNode): Promise<Addition> {
  if (root.children === undefined) return { root, obsolete: [] };
  const obsolete: Job[] = [];
  const children = await mapInChunks(root.children, async (child) => {
    const job = child.isNamed ? await existingJob(fleet, child) : undefined;
    if (job !== undefined && (await job.getState()) !== 'failed') {
      await assertAttachable(fleet, root, child, job);
      // It has its own children, or had them.
      const { children: _, ...alone } = child;
      return alone;
    }
    if (job !== undefined) obsolete.push(job);
    const below = await prepare(fleet, child);
    // They are removed with the failed job.
    if (job === undefined) obsolete.push(...below.obsolete);
    return job === undefined ? below.root : child;
  });
  return { root: { ...root, children }, obsolete };
}

/**
 * A completed job can be a child if no other job waits for it. One that has not ended can be one only if it was submitted as
 * such: the failure of any other would not reach its parent.
 * @throws JobError `key-conflict`.
 */
async function assertAttachable(
  fleet: FleetClient,
  parent: FlowNode,
  child: FlowNode,
  { parentKey }: Job,
): Promise<void> {
  if (parentKey === fleet.jobKey(parent.queue, parent.id)) return;
  const isElsewhere = parentKey !== undefined && (await fleet.client.exists(parentKey)) === 1;
  const state = await fleet.queue(child.queue).getJobState(child.id);
  if (state === 'completed' && !isElsewhere) return;
  const why = isElsewhere ? 'which another job waits for' : `which is still ${state}`;
  throw new JobError('key-conflict', `a key of this submission names job ${child.id}, ${why}`, {
    jobId: child.id,
    field: 'key',
  });
}

/** Submits the work of a key that names a job already. */
async function submitAgain(
  fleet: FleetClient,
  root: FlowNode,
  job: Job,
  options: FlowOptions,
): Promise<SubmitOutcome> {
  const replace = async () => {
    if (!(await removeEnded(job))) return false;
    await addPrepared(fleet, [await prepare(fleet, root)], options);
    return true;
  };
  if (options.force && (await replace())) return 'replaced';
  if (await lacksChild(fleet, root)) {
    await fleet.memory.admitJobs(allOf(root).map(({ data }) => data));
    if (await replace()) return 'retried';
  }
  return (await runFlowAgain(fleet, root, job, options)) ? 'retried' : 'existing';
}

/** Whether a job has failed and cannot run again, because a child that it needs is neither stored nor was successful. */
async function lacksChild(fleet: FleetClient, root: FlowNode): Promise<boolean> {
  const needed = neededChildren(root);
  if (needed.length === 0 || (await fleet.queue(root.queue).getJobState(root.id)) !== 'failed') return false;
  const processed = `${fleet.jobKey(root.queue, root.id)}:processed`;
  const lacks = await mapInChunks(needed, async ({ queue, id }) => {
    const key = fleet.jobKey(queue, id);
    if ((await readJob(fleet.queue(queue), id)) !== undefined) return false;
    return (await fleet.client.hexists(processed, key)) === 0;
  });
  return lacks.includes(true);
}

/** The children without which a job does not run; the job after a batch runs without any of its candidates. */
function neededChildren({ children = [] }: FlowNode): readonly FlowNode[] {
  return children.filter(({ options }) => options.failParentOnFailure === true);
}

/**
 * Runs a flow again from its failure: a failed child, after whose success its parent runs; or a parent that failed by
 * itself, with the results of its children. Returns whether there was anything to run.
 * @throws JobError `key-conflict` if a child has another payload than the one submitted now.
 */
export async function runFlowAgain(
  fleet: FleetClient,
  root: FlowNode,
  parent: Job,
  options: FlowOptions,
): Promise<boolean> {
  const by = { ...options, payer: options.payer ?? root.id };
  const needed = neededChildren(root);
  const children = await mapInChunks(needed, (child) => existingJob(fleet, child));
  const keepTerms = async (nodes: readonly FlowNode[]) => {
    for (const node of nodes) await storeTerms(fleet, node.queue, node.id, termsOf(fleet, node, by));
  };
  // A child of a cancelled job does not run. The parent runs once its children have completed, even if it has failed with them.
  const beforeRun = async () => {
    await keepTerms([root, ...needed]);
    const key = fleet.queue(root.queue).toKey(root.id);
    if ((await parent.getState()) !== 'completed') await clearCancelled(fleet.client, key);
  };
  const again = await mapInChunks(children, async (child) =>
    child === undefined ? false : runAgain(fleet, child.queueName, child, beforeRun),
  );
  if (again.some(Boolean)) return true;
  // Another submission has just run a child again: the parent must not run before it.
  if ((await waitAgain(fleet.client, fleet.jobKey(root.queue, root.id))) === 'waits') return false;
  return runAgain(fleet, root.queue, parent, () => keepTerms([root]));
}
