import { failureError } from '../queues/failure.js';
import { readResult } from '../queues/read-result.js';
import { type KindRef, kindNameOf, type ResultOf } from '../queues/registry.js';
import { cancelJob } from './cancel-job.js';
import { locationOf } from './find-job.js';
import type { FleetClient } from './fleet-client.js';
import { jobIdForKey } from './job-id.js';
import { summarizeJob } from './job-summaries.js';
import { type JobState, type JobView, viewJob } from './job-view.js';
import type { SubmitOutcome } from './submit-once.js';
import { type JobReturn, type WaitOptions, waitForJob, waitForReturn } from './wait-for-job.js';

/** A submitted job in any queue, with methods to follow it. */
export class QueuedJob {
  protected readonly fleet: FleetClient;
  readonly queue: string;
  readonly id: string;
  /** Whether the submission created the job, or found one by its key. */
  readonly outcome: SubmitOutcome;

  constructor(fleet: FleetClient, queue: string, id: string, outcome: SubmitOutcome) {
    this.fleet = fleet;
    this.queue = queue;
    this.id = id;
    this.outcome = outcome;
  }

  /** The current view of the job. */
  async view(): Promise<JobView> {
    return viewJob(this.fleet, locationOf(this.fleet, this.id, this.queue));
  }

  /** Its current state; its data and its result are not read. */
  async state(): Promise<JobState> {
    return (await summarizeJob(this.fleet, locationOf(this.fleet, this.id, this.queue))).state;
  }

  /** Waits until the job has ended in any way. */
  wait(options?: WaitOptions): Promise<JobView> {
    return waitForJob(this.fleet, this.id, options, this.queue);
  }

  /**
   * Waits for what the job returns.
   * @throws FleetError with the job's code if it failed or was cancelled; JobError `wait-timeout`.
   */
  async returned(options?: WaitOptions): Promise<unknown> {
    const end = await (this.outcome === 'created' ? this.#returnOfNew(options) : this.#returnByView(options));
    if ('error' in end) throw failureError(end.error, this.id);
    return end.returned;
  }

  #returnOfNew(options?: WaitOptions): Promise<JobReturn> {
    return waitForReturn(this.fleet, this.id, options, this.queue);
  }

  async #returnByView(options?: WaitOptions): Promise<JobReturn> {
    const { error, result } = await this.wait(options);
    return error === undefined ? { returned: result } : { error };
  }

  /** How a child of this job ended, whether it is still stored or not; undefined if it has not ended, or is none. */
  async endOfChild(child: QueuedJob): Promise<'completed' | 'failed' | undefined> {
    const key = this.fleet.jobKey(this.queue, this.id);
    const childKey = this.fleet.jobKey(child.queue, child.id);
    const { client } = this.fleet;
    if ((await client.hexists(`${key}:processed`, childKey)) === 1) return 'completed';
    const [ignored, needed] = await Promise.all([
      client.hexists(`${key}:failed`, childKey),
      client.zscore(`${key}:unsuccessful`, childKey),
    ]);
    return ignored === 1 || needed !== null ? 'failed' : undefined;
  }

  /** Cancels the job, and the children that it still waits for. */
  cancel(): Promise<void> {
    return cancelJob(this.fleet, this.id, this.queue);
  }
}

/** The job that a key names, whether or not it exists; of a flow, its root. */
export function jobOfKey(fleet: FleetClient, queue: string, key: string): QueuedJob {
  return new QueuedJob(fleet, queue, jobIdForKey(queue, key), 'existing');
}

/** A submitted job of one of the fleet's kinds. */
export class JobHandle<K extends KindRef = KindRef> extends QueuedJob {
  /** Name of the kind. */
  readonly kind: string;

  constructor(fleet: FleetClient, kind: K, id: string, outcome: SubmitOutcome = 'existing') {
    super(fleet, kindNameOf(kind), id, outcome);
    this.kind = this.queue;
  }

  /**
   * Waits for the result and validates it. Fields that only a newer worker knows are left out.
   * @throws FleetError with the job's code if it failed or was cancelled; JobError `wait-timeout`.
   */
  async result(options?: WaitOptions): Promise<ResultOf<K>> {
    const { data, error } = readResult(this.fleet.kinds.get(this.kind).result, await this.returned(options));
    if (error !== undefined) throw error;
    return data as ResultOf<K>;
  }
}
