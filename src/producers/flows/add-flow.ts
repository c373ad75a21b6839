import type { FlowJob, Job, JobsOptions } from 'bullmq';
import { mapInChunks, yieldWhenBusy } from '../../event-loop.js';
import { clearCancelled } from '../../queues/job-flags.js';
import { waitAgain } from '../../queues/wait-again.js';
import { type FleetJobOptions, type KeyOptions, separateBytes, storedData } from '../add-job.js';
import type { FleetClient } from '../fleet-client.js';
import { withTags } from '../job-tags.js';
import { indexRuns } from '../run-index.js';
import { scheduleSubmitted } from '../schedule-submitted.js';
import { existingJob, removeEnded, runAgain, type Submission, type SubmitOutcome } from '../submit-once.js';

/** A job of a flow: what is submitted, how, and the jobs that must end before it starts. */
export interface FlowNode extends Submission {
  readonly name: string;
  readonly options: JobsOptions;
  readonly children?: readonly FlowNode[];
}

/** A flow in BullMQ's form; its long texts are stored. */
export async function toFlowJob(fleet: FleetClient, node: FlowNode, by: FlowSubmission): Promise<FlowJob> {
  await yieldWhenBusy();
  const children: FlowJob[] = [];
  for (const child of node.children ?? []) children.push(await toFlowJob(fleet, child, by));
  const stored = await storedData(fleet, node);
  return {
    name: node.name,
    queueName: node.queue,
    data: stored,
    opts: {
      ...withTags(withFleetOptions(node.options, by, separateBytes(node.data, stored)), node.data),
      jobId: node.id,
    },
    ...(node.children === undefined ? {} : { children }),
  };
}

/** Who submits a flow, and for whom. */
type FlowSubmission = Pick<KeyOptions, 'tenant' | 'submitter'>;

function withFleetOptions(
  options: JobsOptions & FleetJobOptions,
  { tenant, submitter }: FlowSubmission,
  bytes: number | undefined,
): JobsOptions & FleetJobOptions {
  const fleet = {
    ...options.fleet,
    ...(tenant === undefined ? {} : { tenant }),
    ...(submitter === undefined ? {} : { submitter }),
    ...(bytes === undefined ? {} : { bytes }),
  };
  return Object.keys(fleet).length === 0 ? options : { ...options, fleet };
}

/** Adds flows in one transaction and schedules their jobs. */
export async function addFlowJobs(
  fleet: FleetClient,
  roots: readonly FlowNode[],
  by: FlowSubmission,
): Promise<void> {
  const { tenant, submitter } = by;
  await indexRuns(fleet, roots.map(allOf));
  await fleet.flows.addBulk(await Promise.all(roots.map((root) => toFlowJob(fleet, root, by))));
  scheduleSubmitted(
    fleet,
    roots.flatMap(allOf).map(({ queue, id, data }) => ({ queue, id, data, tenant, submitter })),
  );
}

/** A node and everything below it. */
export function allOf(node: FlowNode): FlowNode[] {
  return [node, ...(node.children ?? []).flatMap(allOf)];
}

/**
 * Submits a flow atomically. With a key it is submitted once: an existing flow goes on unchanged, and one that failed is
 * run again from the failure.
 * @throws JobError `key-conflict` if the key names a flow with other payloads.
 */
export async function addFlow(
  fleet: FleetClient,
  root: FlowNode,
  options: KeyOptions,
): Promise<SubmitOutcome> {
  const { key, force } = options;
  const create = () => addFlowJobs(fleet, [root], options);
  const parent = key === undefined ? undefined : await existingJob(fleet, root);
  const data = allOf(root).map((node) => node.data);
  if (parent === undefined || force) await fleet.memory.admitJobs(data);
  if (parent === undefined) {
    await create();
    if (key !== undefined) await verifySubmitted(fleet, [root]);
    return 'created';
  }
  if (force && (await removeEnded(parent))) {
    await create();
    return 'replaced';
  }
  return (await runFlowAgain(fleet, root, parent)) ? 'retried' : 'existing';
}

/**
 * Asserts that the stored jobs of a flow with a key have the submitted payloads: of two concurrent submissions BullMQ
 * keeps the first.
 * @throws JobError `key-conflict` if another submission with another payload was first.
 */
export async function verifySubmitted(fleet: FleetClient, roots: readonly FlowNode[]): Promise<void> {
  await mapInChunks(roots.flatMap(allOf), (node) => existingJob(fleet, node));
}

/**
 * Runs a flow again from its failure: a failed child, after whose success its parent runs; or a parent that failed by
 * itself, with the results of its children. Returns whether there was anything to run.
 * @throws JobError `key-conflict` if a child has another payload than the one submitted now.
 */
export async function runFlowAgain(fleet: FleetClient, root: FlowNode, parent: Job): Promise<boolean> {
  const children = await mapInChunks(root.children ?? [], (child) => existingJob(fleet, child));
  // A child of a cancelled job does not run. The parent runs once its children have completed, even if it has failed with them.
  const beforeRun = async () => {
    const key = fleet.queue(root.queue).toKey(root.id);
    if ((await parent.getState()) !== 'completed') await clearCancelled(fleet.client, key);
  };
  const again = await mapInChunks(children, async (child) =>
    child === undefined ? false : runAgain(fleet, child.queueName, child, beforeRun),
  );
  if (again.some(Boolean)) return true;
  // Another submission has just run a child again: the parent must not run before it.
  if ((await waitAgain(fleet.client, fleet.jobKey(root.queue, root.id))) === 'waits') return false;
  return runAgain(fleet, root.queue, parent);
}
