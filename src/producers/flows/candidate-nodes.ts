import { isDeepStrictEqual } from 'node:util';
import { JobError, PayloadError } from '../../errors.js';
import { yieldWhenBusy } from '../../event-loop.js';
import { type OptionNames, rejectUnknownOptions } from '../../known-options.js';
import type { FleetClient } from '../fleet-client.js';
import { checkSubmission } from '../submission-fields.js';
import type { Candidate, CandidateBatch } from './candidate-batch.js';
import { type FlowNode, withShownKey } from './flow-jobs.js';
import { guardedEvaluationNode } from './guarded-evaluation.js';

/** Maximum size of the data and tags of all candidates of a batch together, in bytes. */
const MAX_BATCH_DATA_BYTES = 32 * 2 ** 20;

const CANDIDATE_FIELDS: OptionNames<Candidate> = { solution: true, data: true, key: true };

/** A candidate's evaluation as a node of a flow. */
export interface CandidateNode {
  readonly root: FlowNode;
  readonly checkId: string;
  /** Whether its key is derived from that of its batch and its position there, so that it belongs to this batch alone. */
  readonly isOfBatch: boolean;
}

/** The key of a candidate without one. No key of a pipeline has a NUL. */
function derivedKey(batchKey: string | undefined, position: number): string | undefined {
  return batchKey === undefined ? undefined : `${batchKey}\0${position}`;
}

/**
 * Builds the evaluations of a batch; it yields to other work between two candidates.
 * @param batchKey Names the candidates without keys, with their position.
 * @throws PayloadError with the invalid field; JobError `key-conflict` if two candidates have the same key and different
 *   scripts or data.
 */
export async function buildNodes(
  fleet: FleetClient,
  { candidates, evaluation, afterAll: _, ...settings }: CandidateBatch,
  batchKey?: string,
): Promise<CandidateNode[]> {
  const nodes: CandidateNode[] = [];
  const firstOfId = new Map<string, FlowNode>();
  let bytes = 0;
  for (const [at, candidate] of candidates.entries()) {
    await yieldWhenBusy();
    rejectUnknownOptions(candidate, CANDIDATE_FIELDS, `candidates[${at}]`);
    const { solution, data, key } = candidate;
    checkSubmission(key === undefined ? {} : { key });
    const guarded = {
      ...settings,
      solution,
      evaluation: { ...evaluation, data: { ...evaluation.data, ...data } },
    };
    const named = key ?? derivedKey(batchKey, at);
    const { root, checkId } = guardedEvaluationNode(fleet, guarded, named);
    const first = firstOfId.get(root.id);
    if (first !== undefined && !isDeepStrictEqual(first.data, root.data)) throw keyTwice(root);
    firstOfId.set(root.id, root);
    bytes += bytesBesideScript(root);
    // What follows is not looked at: a batch without end would take as long to refuse.
    if (bytes > MAX_BATCH_DATA_BYTES) throw tooMuchData(at + 1, candidates.length, bytes);
    nodes.push({ root: withShownKey(root, named), checkId, isOfBatch: key === undefined });
  }
  return nodes;
}

function tooMuchData(count: number, all: number, bytes: number): PayloadError {
  const which = count === all ? 'all' : `${count} of the ${all}`;
  return new PayloadError(
    'payload-too-large',
    `the data and tags of ${which} candidates have ${bytes} bytes in total, the limit is ${MAX_BATCH_DATA_BYTES} bytes`,
    { field: 'evaluation.data' },
  );
}

/** Data and tags that the batch adds to every candidate are stored once for each of them. */
function bytesBesideScript({ data, children = [] }: FlowNode): number {
  let bytes = Buffer.byteLength(JSON.stringify(data), 'utf8');
  for (const child of children) {
    const { solution: _, ...shared } = child.data;
    bytes += Buffer.byteLength(JSON.stringify(shared), 'utf8');
  }
  return bytes;
}

function keyTwice({ id }: FlowNode): JobError {
  return new JobError('key-conflict', 'two candidates have the same key and different scripts or data', {
    jobId: id,
    field: 'candidates.key',
  });
}
