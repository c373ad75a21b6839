import { randomUUID } from 'node:crypto';
import { type Job, UnrecoverableError } from 'bullmq';
import type { Logger } from 'pino';
import { JobError, messageOf, UncheckedSolutionError } from '../../errors.js';
import { findJob } from '../../producers/find-job.js';
import type { FleetClient } from '../../producers/fleet-client.js';
import { type BoundedOutcome, boundedOutcomes } from '../../producers/flows/batch-outcomes.js';
import { checkPipelineData } from '../../producers/flows/check-evaluation.js';
import { type CheckedSolution, checkedSolution } from '../../producers/flows/checked-solution.js';
import { GUARD_FIELD } from '../../producers/flows/evaluation-guard.js';
import type { FleetJobOptions } from '../../producers/job-options.js';
import { encodeFailure } from '../../queues/failure.js';
import { readJobFlags } from '../../queues/job-flags.js';
import { wellFormed } from '../../queues/names.js';
import { NewBlockRequestSchema } from '../../queues/refinement-requests.js';
import { noteClaim } from '../../queues/served-queues.js';
import type { PipelineQueues } from './pipeline-queues.js';
import { QueueWorkers } from './queue-workers.js';

/** What a claim has of the check of an evaluation's script. */
type Checked = Pick<CheckedSolution, 'solution' | 'status' | 'findings' | 'contamination'>;

/**
 * A claimed evaluation with its checked script. The job after a batch has the outcomes of its candidates instead, and a job
 * that a processor requested has its data alone.
 */
export interface Claim extends Partial<Checked> {
  readonly id: string;
  readonly queue: string;
  readonly name: string;
  /** Identifies the claim to heartbeat, complete and fail. */
  readonly lease: string;
  readonly leaseMs: number;
  /** The pipeline's own data. */
  readonly data: Readonly<Record<string, unknown>>;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** Of the job after a batch: what became of each candidate. */
  readonly outcomes?: readonly BoundedOutcome[];
}

/** Names one leased evaluation. */
export interface LeaseRef {
  readonly queue: string;
  readonly id: string;
  readonly lease: string;
}

export interface EvaluationFailure {
  readonly message: string;
  /** Whether another attempt may help; then the evaluation uses one of its attempts. */
  readonly retryable: boolean;
}

/** How often claims from one queue are recorded, in milliseconds. */
const NOTE_EVERY_MS = 10_000;
const MAX_NOTED = 1_000;
/** How many unusable jobs one claim skips before it gives up. */
const MAX_REFUSED = 100;
/** Leases as `claim` makes them. With some other tokens, such as "0", BullMQ skips the check of the lock. */
const LEASE = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const LOST = /Missing lock|Lock mismatch|is not in the active state|Missing key/;

/**
 * Hands evaluations to programs without BullMQ (REQ-SF-022): a program claims one with a lease, renews the lease by
 * heartbeats, and reports how the evaluation ended. The script always comes from the completed check. When a lease expires,
 * the next claim gets the evaluation.
 */
export class Evaluations {
  readonly #fleet: FleetClient;
  readonly #queues: PipelineQueues;
  readonly #logger: Logger;
  readonly #workers: QueueWorkers;
  /** When a claim from a queue was last recorded. */
  readonly #notedAt = new Map<string, number>();

  /** @param stalledCheckMs How often to look for expired leases, in milliseconds. */
  constructor(
    fleet: FleetClient,
    queues: PipelineQueues,
    redisUrl: string,
    logger: Logger,
    stalledCheckMs = 5_000,
  ) {
    this.#fleet = fleet;
    this.#queues = queues;
    this.#logger = logger;
    this.#workers = new QueueWorkers({ redisUrl, prefix: fleet.prefix, logger, stalledCheckMs });
  }

  /** The next evaluation of a queue, leased; undefined if none waits. */
  async claim(queue: string, leaseMs: number, owner: string): Promise<Claim | undefined> {
    if (!(await this.#queues.exists(queue, owner))) return undefined;
    this.#noteClaim(queue);
    const worker = await this.#workers.get(queue);
    if (worker === undefined) return undefined;
    for (let refused = 0; refused < MAX_REFUSED; refused += 1) {
      // The worker's own connection waits for Redis; a claim must fail at once if Redis is away.
      await this.#fleet.client.ping();
      const lease = randomUUID();
      const job: Job | undefined = await worker.getNextJob(lease, { block: false });
      if (job === undefined) return undefined;
      const claim = await this.#handOut(job, lease, leaseMs);
      if (claim !== undefined) return claim;
    }
    return undefined;
  }

  /** Extends a lease. @throws JobError `lease-lost`, `job-cancelled`. */
  async heartbeat(ref: LeaseRef, leaseMs: number): Promise<void> {
    const job = await this.#leased(ref);
    if ((await job.extendLock(ref.lease, leaseMs)) !== 1) throw leaseLost(ref);
    await this.#endIfCancelled(job, ref);
  }

  /** Ends an evaluation with its result. @throws JobError `lease-lost`, `job-cancelled`; PayloadError `payload-too-large`. */
  async complete(ref: LeaseRef, result: unknown): Promise<void> {
    checkPipelineData(result, 'result', this.#fleet.limits);
    const job = await this.#leased(ref);
    await this.#endIfCancelled(job, ref);
    await settle(ref, () => job.moveToCompleted(result, ref.lease, false));
  }

  /** Ends an attempt of an evaluation without a result. @throws JobError `lease-lost`, `job-cancelled`. */
  async fail(ref: LeaseRef, { message, retryable }: EvaluationFailure): Promise<void> {
    const job = await this.#leased(ref);
    await this.#endIfCancelled(job, ref);
    // With a code before it, no text of the pipeline looks like a failure of the fleet or like BullMQ's own messages.
    const reason = encodeFailure(new JobError('job-failed', wellFormed(message)));
    const error = retryable ? new Error(reason) : new UnrecoverableError(reason);
    // The stack would be this program's and say nothing about the evaluation; BullMQ does not store an empty one.
    error.stack = '';
    await settle(ref, () => job.moveToFailed(error, ref.lease, false));
  }

  async close(): Promise<void> {
    await this.#workers.close();
  }

  async #handOut(job: Job, lease: string, leaseMs: number): Promise<Claim | undefined> {
    const id = job.id ?? '';
    try {
      if (await this.#isCancelled(job)) {
        throw new JobError('job-cancelled', 'the job was cancelled', { jobId: id });
      }
      const handed = await handedPartOf(this.#fleet, job);
      if ((await job.extendLock(lease, leaseMs)) !== 1) return undefined;
      const { [GUARD_FIELD]: _guard, ...data } = job.data as Record<string, unknown>;
      const attempt = job.attemptsMade + 1;
      return { id, queue: job.queueName, name: job.name, lease, leaseMs, data, attempt, ...handed };
    } catch (thrown) {
      if (!(thrown instanceof UncheckedSolutionError || thrown instanceof JobError)) throw thrown;
      this.#logger.warn(
        { jobId: id, queue: job.queueName, code: thrown.code },
        'an evaluation is not handed out',
      );
      // The message of an unchecked solution has its code already.
      const reason = thrown instanceof UncheckedSolutionError ? thrown.message : encodeFailure(thrown);
      await job.moveToFailed(new UnrecoverableError(reason), lease, false);
      return undefined;
    }
  }

  /**
   * The next report about a cancelled evaluation releases it, so that it can be submitted again at once. Its result does not
   * count: a cancellation is final.
   */
  async #endIfCancelled(job: Job, ref: LeaseRef): Promise<void> {
    if (!(await this.#isCancelled(job))) return;
    const cancelled = new JobError('job-cancelled', `evaluation ${ref.id} was cancelled; drop the work`, {
      jobId: ref.id,
    });
    await settle(ref, () =>
      job.moveToFailed(new UnrecoverableError(encodeFailure(cancelled)), ref.lease, false),
    );
    throw cancelled;
  }

  #noteClaim(queue: string): void {
    const now = Date.now();
    if (now - (this.#notedAt.get(queue) ?? 0) < NOTE_EVERY_MS) return;
    // Queues come and go; a note too many does no harm.
    if (this.#notedAt.size >= MAX_NOTED) this.#notedAt.clear();
    this.#notedAt.set(queue, now);
    noteClaim(this.#fleet.client, this.#fleet.prefix, queue, now);
  }

  async #isCancelled(job: Job): Promise<boolean> {
    const key = this.#fleet.jobKey(job.queueName, job.id ?? '');
    return (await readJobFlags(this.#fleet.client, key)).cancelled;
  }

  async #leased(ref: LeaseRef): Promise<Job> {
    if (!LEASE.test(ref.lease)) throw leaseLost(ref);
    try {
      const { job } = await findJob(this.#fleet, ref.id, ref.queue);
      this.#noteClaim(ref.queue);
      return job;
    } catch (thrown) {
      if (thrown instanceof JobError && thrown.code === 'job-not-found') throw leaseLost(ref);
      throw thrown;
    }
  }
}

/** @throws UncheckedSolutionError, RefusedSolutionError; JobError `broken-record`. */
async function handedPartOf(fleet: FleetClient, job: Job): Promise<Partial<Claim>> {
  const { fleet: { handOut } = {} } = job.opts as FleetJobOptions;
  if (handOut === 'outcomes') return { outcomes: await boundedOutcomes(fleet, job) };
  return handOut === 'data' || asksForBlock(job) ? {} : checkedPartOf(job);
}

/** Whether a refinement loop of an older version asks for a new block: its jobs do not say what to hand out. */
function asksForBlock({ data }: Job): boolean {
  const { success } = NewBlockRequestSchema.safeParse(data);
  return success && !(GUARD_FIELD in (data as object));
}

/** @throws UncheckedSolutionError, RefusedSolutionError. */
async function checkedPartOf(job: Job): Promise<Checked> {
  const { solution, status, findings, contamination } = await checkedSolution(job);
  return { solution, status, findings, ...(contamination === undefined ? {} : { contamination }) };
}

function leaseLost({ id }: LeaseRef): JobError {
  return new JobError('lease-lost', `the lease of evaluation ${id} is not in force`, { jobId: id });
}

async function settle(ref: LeaseRef, move: () => Promise<unknown>): Promise<void> {
  try {
    await move();
  } catch (thrown) {
    if (LOST.test(messageOf(thrown))) throw leaseLost(ref);
    throw thrown;
  }
}
