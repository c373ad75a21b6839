import type { Redis } from 'ioredis';
import { messageOf } from '../errors.js';
import { readJobFlags } from '../queues/job-flags.js';
import { parseJobKey } from '../queues/job-key.js';
import { reclaimLock } from '../queues/reclaim-lock.js';
import { ABORT_REASONS, type AbortReason } from './abort-reasons.js';
import { clearCrashMarker } from './crash-markers.js';
import type { JobDeadline } from './job-deadline.js';
import type { Logger } from './logger.js';

/** A job that runs in this process. */
export interface RunningJob {
  /** Key of the job's hash. */
  readonly key: string;
  readonly token: string;
  /** The attempt, as the crash marker names it. */
  readonly attempt: string;
  /** Whether workers crashed in earlier attempts of it. */
  readonly hasCrashed: boolean;
}

/** Maximum number of remembered attempts: more than can end at the same time. */
const MAX_ENDED = 1_000;

/** Bounds of how long a job that must run isolated is delayed, and what each other such job adds, in milliseconds. */
const MIN_PUT_OFF_MS = 500;
const MAX_PUT_OFF_MS = 120_000;
const PUT_OFF_SPREAD_MS = 100;

/** The jobs that run in this process: they can be aborted, counted and cleared of crash markers. */
export class RunningJobs {
  readonly #jobs = new Map<string, RunningJob>();
  /** The last attempts that ended here, by job. */
  readonly #ended = new Map<string, string>();
  /** Jobs with crashes that were delayed because another one runs here. */
  readonly #putOff = new Set<string>();
  /**
   * Deadlines by job key, the earliest first; also of jobs that have not begun yet. A job has two if its lock ran out and
   * this process took it again.
   */
  readonly #deadlines = new Map<string, readonly JobDeadline[]>();
  #draining = false;

  constructor(private readonly client: Redis) {}

  /** Registers a job, which can then be aborted until `release`. */
  register(key: string, deadline: JobDeadline): void {
    this.#deadlines.set(key, [...this.#deadlinesOf(key), deadline]);
  }

  release(key: string, deadline: JobDeadline): void {
    deadline.release();
    const others = this.#deadlinesOf(key).filter((other) => other !== deadline);
    if (others.length > 0) this.#deadlines.set(key, others);
    else this.#deadlines.delete(key);
  }

  #deadlinesOf(key: string): readonly JobDeadline[] {
    return this.#deadlines.get(key) ?? [];
  }

  /** Aborts a job, if it is here. */
  stop(key: string, reason: AbortReason): void {
    for (const deadline of this.#deadlinesOf(key)) deadline.stop(reason);
  }

  /**
   * Aborts a job whose lock is lost to another worker.
   * @returns false if this process has taken the job again itself. Its earlier attempt goes on: the next one waits for it
   *   and reads the answer of its call.
   */
  stopLost(key: string): boolean {
    if (this.#deadlinesOf(key).length > 1) return false;
    this.stop(key, ABORT_REASONS.lockLost);
    return true;
  }

  stopAll(reason: AbortReason): void {
    for (const key of this.#deadlines.keys()) this.stop(key, reason);
  }

  /**
   * Adds a job that starts. False for a job with crashes while another such job runs here: if this worker also crashed, it
   * would be unknown which of the two was the cause.
   */
  add(job: RunningJob): boolean {
    if (job.hasCrashed && [...this.#jobs.values()].some(({ hasCrashed }) => hasCrashed)) {
      this.#putOff.add(job.key);
      return false;
    }
    if (job.hasCrashed) {
      const [oldest] = this.#putOff;
      this.#putOff.delete(job.key);
      // Another worker may have taken it meanwhile.
      if (oldest !== undefined) this.#putOff.delete(oldest);
    }
    this.#jobs.set(job.key, job);
    return true;
  }

  /** False if it was already removed. */
  remove({ key, attempt }: RunningJob): boolean {
    if (this.#jobs.get(key)?.attempt !== attempt) return false;
    this.#ended.set(key, attempt);
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > MAX_ENDED && oldest !== undefined) this.#ended.delete(oldest);
    return this.#jobs.delete(key);
  }

  /** The worker that took the job over counts the attempt as a crash, but this worker is alive. */
  clearMarker({ key, attempt }: Pick<RunningJob, 'key' | 'attempt'>, logger: Logger): void {
    clearCrashMarker(this.client, key, attempt).catch((thrown: unknown) => {
      logger.warn(
        { reason: messageOf(thrown) },
        'the crash marker of an attempt that lost its job could not be cleared',
      );
    });
  }

  /** The same for an attempt that had ended when its result was rejected because another worker had taken the job. */
  clearMarkerOfEnded(key: string, logger: Logger): void {
    const attempt = this.#ended.get(key);
    if (attempt !== undefined) this.clearMarker({ key, attempt }, logger);
  }

  /** The attempt of a job that runs here; undefined if none does. */
  attemptOf(key: string): string | undefined {
    return this.#jobs.get(key)?.attempt;
  }

  /**
   * How long to delay a job with crashes, in milliseconds: longer the more there are. Otherwise thousands that return at
   * short intervals would be taken before every new job.
   */
  putOffMs(random: () => number = Math.random): number {
    const spread = Math.min(this.#putOff.size * PUT_OFF_SPREAD_MS, MAX_PUT_OFF_MS);
    return Math.round(MIN_PUT_OFF_MS + random() * spread);
  }

  get size(): number {
    return this.#jobs.size;
  }

  /** How many jobs of one queue run here; `queueKey` is what their keys begin with, as in `fleet:extract:`. */
  countOf(queueKey: string): number {
    return [...this.#jobs.keys()].filter((key) => key.startsWith(queueKey)).length;
  }

  /** Ids of the jobs that were cancelled: the message may have been sent while this worker was not subscribed. */
  async cancelledIds(): Promise<string[]> {
    const jobs = [...this.#jobs.values()];
    const flags = await Promise.all(jobs.map(({ key }) => readJobFlags(this.client, key)));
    return jobs.filter((_, at) => flags[at]?.cancelled).map(({ key }) => parseJobKey(key).id);
  }

  /** Whether the worker stops. */
  get draining(): boolean {
    return this.#draining;
  }

  /** A worker that stops may be killed before its jobs have ended: that does not count as a crash. */
  async clearAllCrashMarkers(): Promise<void> {
    if (this.#draining) return;
    this.#draining = true;
    await Promise.all(
      [...this.#jobs.values()].map(({ key, attempt }) => clearCrashMarker(this.client, key, attempt)),
    );
  }

  /**
   * Takes back a lock that could not be renewed, if no worker has taken the job; otherwise clears the crash marker.
   * @param queueKey the queue's key prefix, as in `fleet:extract`
   * @returns whether this worker still owns the job
   */
  async reclaimLock(queueKey: string, jobId: string, lockMs: number): Promise<boolean> {
    const job = this.#jobs.get(`${queueKey}:${jobId}`);
    if (job === undefined) return false;
    if (await reclaimLock(this.client, job.key, job.token, lockMs)) return true;
    await clearCrashMarker(this.client, job.key, job.attempt);
    return false;
  }
}
