import { JobError, messageOf } from '../errors.js';
import { readJob } from '../queues/damaged-job.js';
import { parseJobKey } from '../queues/job-key.js';
import { addChild, assertChildDepth, attemptOptions, type ChildHeritage } from './add-child.js';
import type { FleetClient } from './fleet-client.js';
import { runFlowAgain } from './flows/add-flow.js';
import { allOf, type FlowNode, notePipelineQueues, toFlowJob } from './flows/flow-jobs.js';
import { type CheckSettings, guardedEvaluationNode } from './flows/guarded-evaluation.js';
import type { FleetJobOptions } from './job-options.js';
import { lineageTags } from './job-tags.js';
import { indexRuns } from './run-index.js';
import { scheduleSubmitted } from './schedule-submitted.js';
import { storeTerms } from './store-terms.js';

/** A guarded evaluation that a job starts and waits for. */
export interface ChildEvaluationRequest extends Omit<CheckSettings, 'tags'> {
  readonly solution: { readonly content: string };
  /** The pipeline's queue. */
  readonly queue: string;
  /** The pipeline's own data. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** Maximum number of attempts of the evaluation; default 1. */
  readonly attempts?: number;
}

/**
 * The evaluation and its check, validated.
 * @param key What their ids are derived from.
 * @throws PayloadError with the path of the invalid field.
 */
export function prepareChildEvaluation(
  fleet: FleetClient,
  { parentKey, tags: inherited }: ChildHeritage,
  { queue, data, attempts, ...checked }: ChildEvaluationRequest,
  key: string,
): FlowNode {
  const tags = lineageTags({ id: parseJobKey(parentKey).id, tags: inherited ?? {} });
  const evaluation = {
    queue,
    name: queue,
    data: { ...data, tags },
    ...(attempts === undefined ? {} : { opts: attemptOptions(attempts) }),
  };
  return guardedEvaluationNode(fleet, { ...checked, tags, evaluation }, key).root;
}

/**
 * Adds an evaluation that its parent waits for, with the check that the evaluation waits for, atomically. An existing one goes
 * on unchanged, and one that has failed is run again from the failure, under the budget that its parent has now.
 * @throws JobError `lock-lost` if the parent is gone; `child-limit` if jobs are nested too deeply.
 */
export async function addChildEvaluation(
  fleet: FleetClient,
  heritage: ChildHeritage,
  root: FlowNode,
  { isNew = false }: { readonly isNew?: boolean } = {},
): Promise<void> {
  assertChildDepth(heritage, 2);
  const existing = isNew ? undefined : await readJob(fleet.queue(root.queue), root.id);
  if (existing === undefined) return addNew(fleet, heritage, root);
  await addChild(fleet, heritage, root, {
    runAgain: async () => {
      if ((await existing.getState()) !== 'failed') return;
      for (const { queue, id } of allOf(root)) await storeTerms(fleet, queue, id, heritage);
      await runFlowAgain(fleet, root, existing, {});
    },
  });
}

async function addNew(fleet: FleetClient, heritage: ChildHeritage, root: FlowNode): Promise<void> {
  const { parentKey, tags: _tags, bytes: _bytes, depth = 0, ...inherited } = heritage;
  const parent = parseJobKey(parentKey);
  const inherit = ({ children, ...node }: FlowNode, below: number): FlowNode => {
    const { fleet: own } = node.options as FleetJobOptions;
    const options: FlowNode['options'] & FleetJobOptions = {
      ...node.options,
      fleet: { ...own, ...inherited, depth: depth + below },
    };
    return {
      ...node,
      options,
      ...(children && { children: children.map((child) => inherit(child, below + 1)) }),
    };
  };
  await indexRuns(fleet, [allOf(root)]);
  const { opts, ...flow } = await toFlowJob(fleet, inherit(root, 1), {});
  try {
    await fleet.flows.add({
      ...flow,
      opts: {
        ...opts,
        parent: { id: parent.id, queue: `${parent.prefix}:${parent.queue}` },
        // The parent runs again when all its children have ended, successfully or not, and reads the outcome of each.
        ignoreDependencyOnFailure: true,
      },
    });
  } catch (thrown) {
    if (!/Missing key for parent job/.test(messageOf(thrown))) throw thrown;
    throw new JobError('lock-lost', `job ${parent.id} was removed while it ran`, { jobId: parent.id });
  }
  notePipelineQueues(fleet, allOf(root));
  scheduleSubmitted(
    fleet,
    allOf(root).map(({ queue, id, data }) => ({ queue, id, data, ...inherited })),
  );
}
