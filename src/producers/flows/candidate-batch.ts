import { PayloadError } from '../../errors.js';
import { type OptionNames, rejectUnknownOptions } from '../../known-options.js';
import type { AddOptions } from '../add-options.js';
import type { FleetClient } from '../fleet-client.js';
import { JobHandle, QueuedJob } from '../job-handle.js';
import { chooseJobId, jobIdForKey } from '../job-id.js';
import { retention } from '../job-options.js';
import { checkSubmission } from '../submission-fields.js';
import { addFlow, addFlows } from './add-flow.js';
import { buildNodes, type CandidateNode } from './candidate-nodes.js';
import { checkEvaluation } from './check-evaluation.js';
import { checkKnownSolutions } from './check-required.js';
import { combinedContent, contentOf } from './flow-content.js';
import type { FlowNode } from './flow-jobs.js';
import {
  CHECK_SETTINGS,
  type CheckSettings,
  type Evaluation,
  type GuardedEvaluationHandles,
} from './guarded-evaluation.js';
import { whileReserved } from './reserve-content.js';

export interface Candidate {
  readonly solution: { readonly content: string };
  /** Added to the evaluation's data. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** The pipeline's name for the evaluation of this candidate. */
  readonly key?: string;
}

export interface CandidateBatch extends CheckSettings {
  readonly candidates: readonly Candidate[];
  readonly evaluation: Evaluation;
  /** A pipeline job that starts when every candidate has ended, successfully or not. */
  readonly afterAll?: Evaluation;
}

const BATCH_FIELDS: OptionNames<CandidateBatch> = {
  ...CHECK_SETTINGS,
  candidates: true,
  evaluation: true,
  afterAll: true,
};

export interface CandidateBatchHandles {
  /** In the order of the candidates. */
  readonly evaluations: readonly GuardedEvaluationHandles[];
  readonly afterAll?: QueuedJob;
}

/**
 * Guarded evaluations of many candidates. A failed one does not affect the others: the job after them reads the outcome of
 * each with `batchOutcomes`. A batch has a key if the options name one, or if all its candidates have keys. A candidate
 * without a key then has one from the key of the batch and its position. A candidate whose key names a completed evaluation has
 * that evaluation's result.
 *
 * @throws PayloadError with the invalid field; JobError `key-conflict` if a key names another payload or batch, or an
 *   evaluation that another batch waits for.
 */
export async function addCandidateBatch(
  fleet: FleetClient,
  batch: CandidateBatch,
  options: AddOptions = {},
): Promise<CandidateBatchHandles> {
  checkSubmission(options);
  rejectUnknownOptions(batch, BATCH_FIELDS);
  const { candidates, afterAll } = batch;
  if (!Array.isArray(candidates) || candidates.length === 0) {
    const problem = Array.isArray(candidates) ? 'is empty' : 'must be a list';
    throw new PayloadError('invalid-payload', `candidates: ${problem}`, { field: 'candidates' });
  }
  const nodes = await buildNodes(fleet, batch, options.key);
  await checkKnownSolutions(fleet, batch);
  if (afterAll !== undefined) checkEvaluation(afterAll, fleet, 'afterAll');
  const key = options.key ?? commonKey(candidates);
  const queue = afterAll?.queue ?? batch.evaluation.queue;
  const parent = { queue, id: chooseJobId(queue, key), data: { ...afterAll?.data } };
  const own = afterAll === undefined ? '' : await contentOf(fleet, parent);
  const { roots, content } = await withContents(fleet, nodes, own);
  const submit = async () => {
    if (afterAll === undefined) return addFlows(fleet, roots, { ...options, payer: payerOf(roots) });
    const root = parentNode(
      fleet,
      batch,
      afterAll,
      { ...parent, content, isNamed: key !== undefined },
      roots,
    );
    return [await addFlow(fleet, root, options)];
  };
  const outcomes =
    key === undefined ? await submit() : await whileReserved(fleet, jobIdForKey(queue, key), content, submit);
  // The job after a batch and its candidates are one flow.
  const outcomeAt = (position: number) => outcomes[afterAll === undefined ? position : 0] ?? 'created';
  return {
    evaluations: nodes.map(({ root, checkId }, position) => ({
      evaluation: new QueuedJob(fleet, root.queue, root.id, outcomeAt(position)),
      check: new JobHandle(fleet, 'solution-check', checkId, outcomeAt(position)),
    })),
    ...(afterAll !== undefined && { afterAll: new QueuedJob(fleet, queue, parent.id, outcomeAt(0)) }),
  };
}

/** The job whose account pays for a batch without a job after it. */
function payerOf([first]: readonly FlowNode[]): string {
  return first?.id ?? '';
}

/**
 * The evaluations of a batch with the content that their keys name: of a key that is derived from the batch, all of it.
 * @param own Content of the job after the batch.
 * @returns them, and the content of the batch.
 */
async function withContents(
  fleet: FleetClient,
  nodes: readonly CandidateNode[],
  own: string,
): Promise<{ readonly roots: readonly FlowNode[]; readonly content: string }> {
  const contents: string[] = [];
  for (const { root } of nodes) contents.push(await contentOf(fleet, root));
  const content = combinedContent([...contents, own]);
  const roots = nodes.map(({ root, isOfBatch }, position) => {
    if (!root.isNamed) return root;
    return { ...root, content: isOfBatch ? content : (contents[position] ?? '') };
  });
  return { roots, content };
}

/** The key of a batch without one in the options: derived from the keys of its candidates, if all have one. */
function commonKey(candidates: readonly Candidate[]): string | undefined {
  const keys = candidates.map(({ key }) => key);
  return keys.includes(undefined) ? undefined : JSON.stringify(keys);
}

function parentNode(
  fleet: FleetClient,
  { tags }: CandidateBatch,
  afterAll: Evaluation,
  parent: Pick<FlowNode, 'queue' | 'id' | 'data'> & { readonly content: string; readonly isNamed: boolean },
  roots: readonly FlowNode[],
): FlowNode {
  return {
    ...parent,
    name: afterAll.name,
    // It has no script of its own.
    options: { ...retention(fleet), ...afterAll.opts, fleet: { handOut: 'outcomes', ...(tags && { tags }) } },
    children: roots.map((root) => ({
      ...root,
      options: { ...root.options, ignoreDependencyOnFailure: true },
    })),
  };
}
