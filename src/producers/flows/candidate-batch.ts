import { isDeepStrictEqual } from 'node:util';
import type { Job } from 'bullmq';
import { JobError, PayloadError } from '../../errors.js';
import { failureOf } from '../../queues/child-failure.js';
import { childValues } from '../../queues/child-values.js';
import type { JobFailure } from '../../queues/failure.js';
import { parseJobKey } from '../../queues/job-key.js';
import { type KeyOptions, retention } from '../add-job.js';
import type { FleetConnection } from '../fleet-connection.js';
import { JobHandle, QueuedJob } from '../job-handle.js';
import { chooseJobId } from '../job-id.js';
import { indexRuns } from '../run-index.js';
import { checkSubmission } from '../submission-fields.js';
import { existingJob, removeEnded, runAgain, type SubmitOutcome } from '../submit-once.js';
import { allOf, type FlowNode, runFlowAgain, toFlowJobs, verifySubmitted } from './add-flow.js';
import { checkEvaluation } from './check-evaluation.js';
import {
  type CheckSettings,
  type Evaluation,
  type GuardedEvaluationHandles,
  guardedEvaluationNode,
} from './guarded-evaluation.js';

/** Most bytes of data and tags of all candidates of a batch together. */
const MAX_BATCH_DATA_BYTES = 32 * 2 ** 20;

export interface Candidate {
  readonly solution: { readonly content: string };
  /** Added to the evaluation's data. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** The pipeline's own name for the evaluation of this candidate. */
  readonly key?: string;
}

export interface CandidateBatch extends CheckSettings {
  readonly candidates: readonly Candidate[];
  readonly evaluation: Evaluation;
  /** A job of the pipeline's that starts when every candidate has ended, well or not. */
  readonly afterAll?: Evaluation;
}

export interface CandidateBatchHandles {
  /** In the order of the candidates. */
  readonly evaluations: readonly GuardedEvaluationHandles[];
  readonly afterAll?: QueuedJob;
}

/**
 * Guarded evaluations of many candidates. One that fails does not sink the others: the job behind them sees what
 * became of each by `batchOutcomes`. A batch has a key where it is given one, or where all its candidates have keys;
 * a candidate whose key names an evaluation that is completed brings that one's result along.
 *
 * @throws PayloadError with the field at fault; JobError `key-conflict` where a key names another payload, or an
 *   evaluation that another batch waits for.
 */
export async function addCandidateBatch(
  fleet: FleetConnection,
  batch: CandidateBatch,
  options: KeyOptions = {},
): Promise<CandidateBatchHandles> {
  const { candidates, evaluation, afterAll, ...settings } = batch;
  if (candidates.length === 0) {
    throw new PayloadError('invalid-payload', 'candidates: is empty', { field: 'candidates' });
  }
  checkSubmission(options);
  for (const { key } of candidates) checkSubmission({ key });
  const nodes = candidates.map(({ solution, data, key }) =>
    guardedEvaluationNode(
      fleet,
      { ...settings, solution, evaluation: { ...evaluation, data: { ...evaluation.data, ...data } } },
      key,
    ),
  );
  refuseKeyTwice(nodes);
  refuseLargeBatch(nodes);
  if (afterAll !== undefined) checkEvaluation(afterAll, fleet.limits, 'afterAll');
  const handles = (outcomes: readonly SubmitOutcome[]) =>
    nodes.map(({ root, checkId }, index) => ({
      evaluation: new QueuedJob(fleet, root.queue, root.id, outcomes[index] ?? 'created'),
      check: new JobHandle(fleet, 'solution-check', checkId, outcomes[index] ?? 'created'),
    }));
  if (afterAll === undefined) return { evaluations: handles(await addEach(fleet, nodes, options)) };

  const root = parentNode(fleet, afterAll, nodes, options.key ?? commonKey(candidates));
  const outcome = await addBehindOneParent(fleet, root, options);
  return {
    evaluations: handles(nodes.map(() => outcome)),
    afterAll: new QueuedJob(fleet, root.queue, root.id, outcome),
  };
}

/**
 * What a batch gives each of its candidates is written once for each of them.
 * @throws PayloadError `payload-too-large` where that is too much together.
 */
function refuseLargeBatch(nodes: readonly GuardedNode[]): void {
  let bytes = 0;
  for (const { root } of nodes) {
    bytes += Buffer.byteLength(JSON.stringify(root.data), 'utf8');
    for (const { data } of root.children ?? []) {
      const { solution: _, ...shared } = data;
      bytes += Buffer.byteLength(JSON.stringify(shared), 'utf8');
    }
  }
  if (bytes <= MAX_BATCH_DATA_BYTES) return;
  throw new PayloadError(
    'payload-too-large',
    `the data and tags of all candidates have ${bytes} bytes together, the limit is ${MAX_BATCH_DATA_BYTES} bytes`,
    { field: 'evaluation.data' },
  );
}

/** @throws JobError `key-conflict` where two candidates have the same key and different scripts or data. */
function refuseKeyTwice(nodes: readonly GuardedNode[]): void {
  const first = new Map<string, FlowNode>();
  for (const { root } of nodes) {
    const other = first.get(root.id);
    if (other !== undefined && !isDeepStrictEqual(other.data, root.data)) {
      throw new JobError('key-conflict', 'two candidates have the same key and different scripts or data', {
        jobId: root.id,
        field: 'candidates.key',
      });
    }
    first.set(root.id, root);
  }
}

type GuardedNode = ReturnType<typeof guardedEvaluationNode>;

/** Without a parent every evaluation stands for itself; the new ones go to Redis in one transaction. */
async function addEach(
  fleet: FleetConnection,
  nodes: readonly GuardedNode[],
  options: KeyOptions,
): Promise<SubmitOutcome[]> {
  const { force } = options;
  await admitNew(
    fleet,
    nodes.map(({ root }) => root),
    force,
  );
  const outcomes = await Promise.all(
    nodes.map(async ({ root }): Promise<SubmitOutcome> => {
      const job = await existingJob(fleet, root);
      if (job === undefined) return 'created';
      if (force && (await removeEnded(job))) return 'replaced';
      return (await runFlowAgain(fleet, root, job)) ? 'retried' : 'existing';
    }),
  );
  const missing = nodes.filter((_, index) => outcomes[index] === 'created' || outcomes[index] === 'replaced');
  if (missing.length > 0) {
    await indexRuns(
      fleet,
      missing.map(({ root }) => allOf(root)),
    );
    const roots = missing.map(({ root }) => root);
    await fleet.flows.addBulk(await toFlowJobs(fleet, roots, options));
    await verifySubmitted(fleet, roots);
  }
  return outcomes;
}

/**
 * Makes sure that there is room for the flows that are new, or replace ended ones, before anything is removed or stored.
 * @throws RedisError `redis-full`.
 */
async function admitNew(fleet: FleetConnection, roots: readonly FlowNode[], force = false): Promise<void> {
  const there = force ? [] : await Promise.all(roots.map((root) => existingJob(fleet, root)));
  const fresh = roots.filter((_, index) => there[index] === undefined);
  await fleet.memory.admitJobs(fresh.flatMap(allOf).map(({ data }) => data));
}

/** The key of a batch that was given none: that of all its candidates together, where all have one. */
function commonKey(candidates: readonly Candidate[]): string | undefined {
  const keys = candidates.map(({ key }) => key);
  return keys.includes(undefined) ? undefined : JSON.stringify(keys);
}

function parentNode(
  fleet: FleetConnection,
  afterAll: Evaluation,
  nodes: readonly GuardedNode[],
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

async function addBehindOneParent(
  fleet: FleetConnection,
  root: FlowNode,
  options: KeyOptions,
): Promise<SubmitOutcome> {
  const { force } = options;
  const parent = await existingJob(fleet, root);
  if (parent === undefined || force) await admitNew(fleet, [root], true);
  if (parent !== undefined && !(force && (await removeEnded(parent)))) {
    return (await runAgain(fleet, root.queue, parent)) ? 'retried' : 'existing';
  }
  await Promise.all((root.children ?? []).map((child) => makeAttachable(fleet, root, child)));
  await indexRuns(fleet, [allOf(root)]);
  await fleet.flows.addBulk(await toFlowJobs(fleet, [root], options));
  return parent === undefined ? 'created' : 'replaced';
}

/**
 * Makes sure that a candidate's evaluation can become a child of the batch: it is new, or completed and nobody
 * else's; one that failed makes room for a new try.
 */
async function makeAttachable(fleet: FleetConnection, root: FlowNode, child: FlowNode): Promise<void> {
  const job = await existingJob(fleet, child);
  if (job === undefined) return;
  const state = await job.getState();
  if (state === 'failed') {
    await job.remove({ removeChildren: true });
    return;
  }
  const elsewhere = job.parentKey !== undefined && (await fleet.client.exists(job.parentKey)) === 1;
  if (state === 'completed' && !elsewhere) return;
  const why = elsewhere ? 'which another batch waits for' : `which is still ${state}`;
  throw new JobError('key-conflict', `a candidate of ${root.name} names evaluation ${child.id}, ${why}`, {
    jobId: child.id,
    field: 'candidates.key',
  });
}

/** What became of one candidate, as the job behind the batch sees it. */
export type BatchOutcome =
  | { readonly evaluation: string; readonly state: 'evaluated'; readonly result: unknown }
  | { readonly evaluation: string; readonly state: 'failed'; readonly error: JobFailure };

/**
 * For the job behind a batch: what became of every candidate, in no particular order. A candidate whose check failed
 * says why that failed.
 */
export async function batchOutcomes(fleet: FleetConnection, job: Job): Promise<BatchOutcome[]> {
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
