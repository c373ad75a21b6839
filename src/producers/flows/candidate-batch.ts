import type { Job } from 'bullmq';
import { PayloadError } from '../../errors.js';
import { failureOf } from '../../queues/child-failure.js';
import { childValues } from '../../queues/child-values.js';
import type { JobFailure } from '../../queues/failure.js';
import { parseJobKey } from '../../queues/job-key.js';
import { type KeyOptions, retention } from '../add-job.js';
import type { FleetClient } from '../fleet-client.js';
import { JobHandle, QueuedJob } from '../job-handle.js';
import { chooseJobId } from '../job-id.js';
import { type OptionNames, rejectUnknownOptions } from '../known-options.js';
import { checkSubmission, KEY_OPTIONS } from '../submission-fields.js';
import type { SubmitOutcome } from '../submit-once.js';
import type { FlowNode } from './add-flow.js';
import { buildNodes, type CandidateNode } from './candidate-nodes.js';
import { checkEvaluation } from './check-evaluation.js';
import { checkKnownSolutions } from './check-required.js';
import {
  CHECK_SETTINGS,
  type CheckSettings,
  type Evaluation,
  type GuardedEvaluationHandles,
} from './guarded-evaluation.js';
import { addEach, addUnderOneParent } from './submit-candidates.js';

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
 * whose key names a completed evaluation has that evaluation's result.
 *
 * @throws PayloadError with the invalid field; JobError `key-conflict` if a key names another payload, or an evaluation
 *   that another batch waits for.
 */
export async function addCandidateBatch(
  fleet: FleetClient,
  batch: CandidateBatch,
  options: KeyOptions = {},
): Promise<CandidateBatchHandles> {
  const { candidates, afterAll } = batch;
  if (candidates.length === 0) {
    throw new PayloadError('invalid-payload', 'candidates: is empty', { field: 'candidates' });
  }
  checkSubmission(options, KEY_OPTIONS);
  rejectUnknownOptions(batch, BATCH_FIELDS);
  const nodes = await buildNodes(fleet, batch);
  await checkKnownSolutions(fleet, batch);
  if (afterAll !== undefined) checkEvaluation(afterAll, fleet, 'afterAll');
  const handles = (outcomes: readonly SubmitOutcome[]) =>
    nodes.map(({ root, checkId }, index) => ({
      evaluation: new QueuedJob(fleet, root.queue, root.id, outcomes[index] ?? 'created'),
      check: new JobHandle(fleet, 'solution-check', checkId, outcomes[index] ?? 'created'),
    }));
  if (afterAll === undefined) return { evaluations: handles(await addEach(fleet, nodes, options)) };

  const root = parentNode(fleet, afterAll, nodes, options.key ?? commonKey(candidates));
  const outcome = await addUnderOneParent(fleet, root, nodes, options);
  return {
    evaluations: handles(nodes.map(() => outcome)),
    afterAll: new QueuedJob(fleet, root.queue, root.id, outcome),
  };
}

/** The key of a batch without one in the options: derived from the keys of its candidates, if all have one. */
function commonKey(candidates: readonly Candidate[]): string | undefined {
  const keys = candidates.map(({ key }) => key);
  return keys.includes(undefined) ? undefined : JSON.stringify(keys);
}

function parentNode(
  fleet: FleetClient,
  afterAll: Evaluation,
  nodes: readonly CandidateNode[],
  key: string | undefined,
): FlowNode {
  return {
    queue: afterAll.queue,
    name: afterAll.name,
    id: chooseJobId(afterAll.queue, key),
    data: { ...afterAll.data },
    options: { ...retention(fleet), ...afterAll.opts },
    children: nodes.map(({ root }) => ({
      ...root,
      options: { ...root.options, ignoreDependencyOnFailure: true },
    })),
  };
}

/** The outcome of one candidate, for the job after the batch. */
export type BatchOutcome =
  | { readonly evaluation: string; readonly state: 'evaluated'; readonly result: unknown }
  | { readonly evaluation: string; readonly state: 'failed'; readonly error: JobFailure };

/**
 * For the job after a batch: the outcome of every candidate, in no particular order. A candidate whose check failed
 * has that check's failure.
 */
export async function batchOutcomes(fleet: FleetClient, job: Job): Promise<BatchOutcome[]> {
  const [results, failures] = await Promise.all([childValues(job), job.getIgnoredChildrenFailures()]);
  const evaluated = Object.entries(results).map(
    ([key, result]): BatchOutcome => ({ evaluation: parseJobKey(key).id, state: 'evaluated', result }),
  );
  const failed = Object.entries(failures).map(async ([key, reason]): Promise<BatchOutcome> => {
    const error = await failureOf(fleet.client, key, reason);
    return { evaluation: parseJobKey(key).id, state: 'failed', error };
  });
  return [...evaluated, ...(await Promise.all(failed))];
}
