import type { FlowJob, JobsOptions } from 'bullmq';
import { yieldWhenBusy } from '../../event-loop.js';
import { DEFAULT_PRIORITY } from '../../queues/fairness/schedule-script.js';
import { noteQueues } from '../../queues/pipeline-queues.js';
import type { AddOptions } from '../add-options.js';
import type { FleetClient } from '../fleet-client.js';
import { type FleetJobOptions, separateBytes, shownKey, storedData, storedDeadline } from '../job-options.js';
import { withTags } from '../job-tags.js';
import { indexRuns } from '../run-index.js';
import { scheduleSubmitted } from '../schedule-submitted.js';
import type { Submission } from '../submit-once.js';

/** A job of a flow: what is submitted, how, and the jobs that must end before it starts. A single job has none of these. */
export interface FlowNode extends Submission {
  readonly name: string;
  readonly options: JobsOptions & FleetJobOptions;
  /** Whether its id is derived from a key, so that the job may already exist. */
  readonly isNamed?: boolean;
  readonly children?: readonly FlowNode[];
}

/** How the jobs of a flow are submitted. */
export type FlowOptions = Pick<
  AddOptions,
  'key' | 'force' | 'tenant' | 'submitter' | 'priority' | 'delayMs' | 'budgetUsd' | 'deadline' | 'reuse'
> & {
  /** The job whose account pays for all of them if their tags name no run; default: the root of each. */
  readonly payer?: string;
};

/** The same flow with a key that is shown for all its jobs. */
export function withShownKey({ children, ...node }: FlowNode, key: string | undefined): FlowNode {
  const options = {
    ...node.options,
    fleet: { ...node.options.fleet, ...(key === undefined ? {} : { key }) },
  };
  const below = children === undefined ? {} : { children: children.map((child) => withShownKey(child, key)) };
  return { ...node, options, ...below };
}

/** Makes the pipeline queues of jobs known to lists. */
export function notePipelineQueues(fleet: FleetClient, jobs: readonly Pick<FlowNode, 'queue'>[]): void {
  const queues = jobs.map(({ queue }) => queue).filter((queue) => !fleet.kinds.has(queue));
  noteQueues(fleet.client, fleet.prefix, queues);
}

/** A node and everything below it. */
export function allOf(node: FlowNode): FlowNode[] {
  return [node, ...(node.children ?? []).flatMap(allOf)];
}

/** The budget, the deadline and the reuse of a job in a flow; pipeline jobs call no agent. */
export function termsOf(
  fleet: FleetClient,
  { queue, id }: FlowNode,
  { budgetUsd, deadline, reuse, payer = id }: FlowOptions,
): Pick<NonNullable<FleetJobOptions['fleet']>, 'budgetUsd' | 'budgetJob' | 'deadline' | 'reuse'> {
  if (!fleet.kinds.has(queue)) return {};
  return {
    ...(budgetUsd === undefined ? {} : { budgetUsd }),
    ...(budgetUsd === undefined || payer === id ? {} : { budgetJob: payer }),
    ...storedDeadline(deadline),
    ...(reuse === undefined ? {} : { reuse }),
  };
}

/**
 * BullMQ's options of a node. A pipeline job has a priority too: BullMQ starts jobs without one before all that have one.
 * Only a node without children is delayed: the others start after it.
 */
function nodeOptions(
  fleet: FleetClient,
  node: FlowNode,
  by: FlowOptions,
  bytes: number | undefined,
): JobsOptions & FleetJobOptions {
  const { tenant, submitter, priority, delayMs } = by;
  const key = node.options.fleet?.key ?? by.key;
  const { options, content, children, queue } = node;
  const isKind = fleet.kinds.has(queue);
  const fleetOptions = {
    ...options.fleet,
    ...(key === undefined ? {} : { key: shownKey(key, tenant) }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(submitter === undefined ? {} : { submitter }),
    ...(priority === undefined ? {} : { priority }),
    ...termsOf(fleet, node, by),
    ...(bytes === undefined ? {} : { bytes }),
    ...(content === undefined ? {} : { content }),
  };
  return {
    ...options,
    ...(isKind ? {} : { priority: options.priority ?? fleetOptions.priority ?? DEFAULT_PRIORITY }),
    ...(delayMs === undefined || children !== undefined ? {} : { delay: delayMs }),
    ...(Object.keys(fleetOptions).length === 0 ? {} : { fleet: fleetOptions }),
  };
}

/** A flow in BullMQ's form; its long texts are stored. */
export async function toFlowJob(fleet: FleetClient, node: FlowNode, by: FlowOptions): Promise<FlowJob> {
  await yieldWhenBusy();
  const children: FlowJob[] = [];
  for (const child of node.children ?? []) children.push(await toFlowJob(fleet, child, by));
  const stored = await storedData(fleet, node);
  const options = nodeOptions(fleet, node, by, separateBytes(node.data, stored));
  return {
    name: node.name,
    queueName: node.queue,
    data: stored,
    opts: { ...withTags(options, node.data), jobId: node.id },
    ...(node.children === undefined ? {} : { children }),
  };
}

/** Adds flows in one transaction, or a single job, and schedules their jobs. */
export async function addFlowJobs(
  fleet: FleetClient,
  roots: readonly FlowNode[],
  options: FlowOptions,
): Promise<void> {
  await indexRuns(fleet, roots.map(allOf));
  const jobs = await Promise.all(
    roots.map((root) => toFlowJob(fleet, root, { ...options, payer: options.payer ?? root.id })),
  );
  const [first, ...others] = jobs;
  if (first !== undefined && others.length === 0 && first.children === undefined) {
    await fleet.queue(first.queueName).add(first.name, first.data, first.opts);
  } else await fleet.flows.addBulk(jobs);
  notePipelineQueues(fleet, roots.flatMap(allOf));
  const { tenant, submitter, priority, delayMs } = options;
  scheduleSubmitted(
    fleet,
    roots.flatMap(allOf).map(({ queue, id, data, children }) => {
      const delay = children === undefined ? { delayMs } : {};
      return { queue, id, data, tenant, submitter, priority, ...delay };
    }),
  );
}
