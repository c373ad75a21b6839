import type { Redis } from 'ioredis';
import { JobError, PayloadError } from '../../errors.js';
import type { ChildRequest } from '../../processors/processor.js';
import { type FollowUp, nameOfFollowUp } from '../../queues/follow-ups/contract.js';
import {
  FOLLOW_UPS_FIELD,
  type FollowUpOutcome,
  type OwnResult,
  readOwnResult,
  writeOwnResult,
} from '../../queues/follow-ups/own-result.js';
import type { KindRegistry } from '../../queues/registry.js';
import { ChildJobs, type ParentJob } from '../children/child-jobs.js';
import type { ChildProducer } from '../children/child-submission.js';
import { payloadOfFollowUp, refusalOfPayload, unmetCondition } from './build-payload.js';

/** A job whose payload declares follow-ups. */
export interface JobWithFollowUps extends ParentJob {
  readonly payload: Readonly<Record<string, unknown>>;
  readonly then: readonly FollowUp[];
}

export interface FollowUpParts {
  readonly kinds: Pick<KindRegistry, 'has'>;
  readonly client: Redis;
  readonly childProducer: () => Promise<ChildProducer>;
  /** A stored result with its long texts. */
  restore(result: unknown): Promise<unknown>;
  /** Repeats a write until Redis has room for it. */
  persist(write: () => Promise<void>): Promise<void>;
}

/**
 * Completes a job with follow-ups. The first attempt to get a result stores it, together with the decision which follow-ups
 * start, before it adds any: no later attempt can decide otherwise, or process the job again. The follow-ups are children of
 * the job, which frees its slot and completes when all of them have ended, failed ones too.
 * @param process Processes the job and returns its result, in the form in which it is stored.
 * @throws Before anything is paid, PayloadError `newer-contract` if this worker does not know the kind of a follow-up, and
 *   JobError `child-limit` if the job is too deep to have any. WaitForChildren.
 */
export async function runFollowUps<R>(
  job: JobWithFollowUps,
  parts: FollowUpParts,
  process: () => Promise<R>,
): Promise<R> {
  assertKnownKinds(job.then, job.id, parts.kinds);
  if (job.then.length > 0) (await parts.childProducer()).assertChildDepth(job.heritage, 1);
  const earlier = await readOwnResult(parts.client, job.key);
  const own = earlier ?? (await firstResult(job, parts, await process()));
  const starting = own.followUps.flatMap(({ name, kind, id }) =>
    id === undefined ? [] : [{ name: childName(name), queue: kind, id }],
  );
  if (starting.length > 0) {
    const children = new ChildJobs(parts.client, parts.childProducer, job);
    let result: Promise<unknown> | undefined;
    await children.finish(starting, async ({ name }) => {
      result ??= parts.restore(own.result);
      return payloadFor(name, job, await result);
    });
  }
  return own.result as R;
}

/** The payload of a follow-up that is started. */
function payloadFor(name: string, job: JobWithFollowUps, result: unknown): Readonly<Record<string, unknown>> {
  const followUp = job.then.find((candidate) => childName(nameOfFollowUp(candidate)) === name);
  if (followUp === undefined) {
    const message = `the payload of job ${job.id} declares no follow-up for its child "${name}"`;
    throw new JobError('broken-record', message, { jobId: job.id, field: FOLLOW_UPS_FIELD });
  }
  return requestFor(followUp, job, result).payload;
}

/** Name of a follow-up among the children of its job. */
function childName(name: string): string {
  return `then:${name}`;
}

function assertKnownKinds(then: readonly FollowUp[], jobId: string, kinds: Pick<KindRegistry, 'has'>): void {
  for (const { kind, then: next = [] } of then) {
    if (!kinds.has(kind)) {
      const message = `job ${jobId} has a follow-up of the kind "${kind}", which this worker does not have`;
      throw new PayloadError('newer-contract', message, { jobId });
    }
    assertKnownKinds(next, jobId, kinds);
  }
}

/** Decides which follow-ups start, and stores that with the result. */
async function firstResult(
  job: JobWithFollowUps,
  { client, childProducer, restore, persist }: FollowUpParts,
  stored: unknown,
): Promise<OwnResult> {
  const result = await restore(stored);
  const children = new ChildJobs(client, childProducer, job);
  const followUps = await Promise.all(
    job.then.map((followUp) => outcomeOf(followUp, job, result, (request) => children.idOf(request))),
  );
  const own = { result: stored, followUps };
  await persist(() => writeOwnResult(client, job, own));
  return own;
}

async function outcomeOf(
  followUp: FollowUp,
  job: JobWithFollowUps,
  result: unknown,
  idOf: (request: ChildRequest) => Promise<string>,
): Promise<FollowUpOutcome> {
  const { kind } = followUp;
  const name = nameOfFollowUp(followUp);
  const skipped = unmetCondition(followUp, result as Readonly<Record<string, unknown>>);
  if (skipped !== undefined) return { name, kind, skipped };
  try {
    return { name, kind, id: await idOf(requestFor(followUp, job, result)) };
  } catch (thrown) {
    // The result of the job is paid for and stays; its view says why the follow-up was not started.
    if (!(thrown instanceof PayloadError)) throw thrown;
    const sources = { result: result as Readonly<Record<string, unknown>>, payload: job.payload };
    const { code, message, retryable } = refusalOfPayload(followUp, thrown, sources);
    return { name, kind, error: { code, message, retryable } };
  }
}

function requestFor(followUp: FollowUp, { payload }: JobWithFollowUps, result: unknown): ChildRequest {
  const fields = result as Readonly<Record<string, unknown>>;
  return {
    queue: followUp.kind,
    payload: payloadOfFollowUp(followUp, { result: fields, payload }),
    options: { name: childName(nameOfFollowUp(followUp)) },
  };
}
