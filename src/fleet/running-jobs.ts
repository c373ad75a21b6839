import type { Redis } from 'ioredis';
import { messageOf } from '../errors.js';
import { parseJobKey } from '../queues/job-key.js';
import { readMarks } from '../queues/job-marks.js';
import { runScript, script } from '../queues/run-script.js';
import { ABORT_REASONS, type AbortReason } from './abort-reasons.js';
import type { JobDeadline } from './job-deadline.js';
import type { Logger } from './logger.js';
import { forgiveRun } from './run-marks.js';

/** A job that runs in this process. */
export interface RunningJob {
  /** Key of the job's hash. */
  readonly key: string;
  readonly token: string;
  /** The run, as the job's marks name it. */
  readonly run: string;
  /** Workers died in earlier runs of it. */
  readonly suspect: boolean;
}

/**
 * Takes a lock back that ran out before anybody else took the job.
 * KEYS: 1 job lock, 2 active list, 3 stalled set. ARGV: 1 lock token, 2 ms, 3 job id. Returns 1, or 0 where it is too late.
 */
const RECLAIM = script(`
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
if not holder and not redis.call('LPOS', KEYS[2], ARGV[3]) then return 0 end
-- First, since a full Redis takes a script whose first write asks for no memory.
redis.call('SREM', KEYS[3], ARGV[3])
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`);

/** More jobs than can be on their way to their end at once. */
const MAX_ENDED = 1_000;

/** Bounds of how long a job that must run apart stays away, and what each other one adds, in milliseconds. */
const MIN_PUT_OFF_MS = 500;
const MAX_PUT_OFF_MS = 120_000;
const PUT_OFF_SPREAD_MS = 100;

/** The jobs that run in this process, for what has to be done about all of them or one of them from outside. */
export class RunningJobs {
  readonly #jobs = new Map<string, RunningJob>();
  /** The last runs that ended here, by their jobs. */
  readonly #ended = new Map<string, string>();
  /** Jobs that were told to come again, since another one like them runs here. */
  readonly #putOff = new Set<string>();
  /**
   * What tells jobs to stop, by their keys, the earliest first; also of those that have not begun yet. A job has two where
   * its lock ran out and this process took it again.
   */
  readonly #deadlines = new Map<string, readonly JobDeadline[]>();
  #draining = false;

  constructor(private readonly client: Redis) {}

  /** Lets a job be told to stop, until `release`. */
  hear(key: string, deadline: JobDeadline): void {
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

  /** Tells a job to stop, if it is here. */
  stop(key: string, reason: AbortReason): void {
    for (const deadline of this.#deadlinesOf(key)) deadline.stop(reason);
  }

  /**
   * Tells a job to stop whose lock is lost to another worker.
   * @returns false where this process has taken the job again itself. Its earlier attempt goes on: the next one waits for
   *   it, and reads what its call brought.
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
   * Notes a job that begins. False for a job in whose runs workers have died while another such job runs here: two
   * at once could not be told apart if this worker died as well.
   */
  add(job: RunningJob): boolean {
    if (job.suspect && [...this.#jobs.values()].some(({ suspect }) => suspect)) {
      this.#putOff.add(job.key);
      return false;
    }
    if (job.suspect) {
      const [oldest] = this.#putOff;
      this.#putOff.delete(job.key);
      // Another worker may have taken one meanwhile.
      if (oldest !== undefined) this.#putOff.delete(oldest);
    }
    this.#jobs.set(job.key, job);
    return true;
  }

  /** False where it was not there any more. */
  remove({ key, run }: RunningJob): boolean {
    if (this.#jobs.get(key)?.run !== run) return false;
    this.#ended.set(key, run);
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > MAX_ENDED && oldest !== undefined) this.#ended.delete(oldest);
    return this.#jobs.delete(key);
  }

  /** Whoever took the job over counts the run as a death; but its worker lives. */
  forgive({ key, run }: Pick<RunningJob, 'key' | 'run'>, logger: Logger): void {
    forgiveRun(this.client, key, run).catch((thrown: unknown) => {
      logger.warn({ reason: messageOf(thrown) }, 'a run that lost its job could not be forgiven');
    });
  }

  /** The same for a run that had ended when the end of its job was refused, since the job had been taken over. */
  forgiveEnded(key: string, logger: Logger): void {
    const run = this.#ended.get(key);
    if (run !== undefined) this.forgive({ key, run }, logger);
  }

  /** The run of a job that goes on here; undefined where none does. */
  runOf(key: string): string | undefined {
    return this.#jobs.get(key)?.run;
  }

  /**
   * How long a job that was put off should stay away, in milliseconds: the more there are of them, the longer. Thousands
   * that came again every moment would go before every new job, and leave no time for it.
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

  /** Ids of the jobs that somebody cancelled: the announcement may have come while nobody could hear it. */
  async cancelledIds(): Promise<string[]> {
    const jobs = [...this.#jobs.values()];
    const marks = await Promise.all(jobs.map(({ key }) => readMarks(this.client, key)));
    return jobs.filter((_, at) => marks[at]?.cancelled).map(({ key }) => parseJobKey(key).id);
  }

  /** Whether the worker stops. */
  get draining(): boolean {
    return this.#draining;
  }

  /** A worker that stops may be killed before its jobs have ended: that is no death of theirs. */
  async forgiveAll(): Promise<void> {
    if (this.#draining) return;
    this.#draining = true;
    await Promise.all([...this.#jobs.values()].map(({ key, run }) => forgiveRun(this.client, key, run)));
  }

  /**
   * Keeps a job whose lock could not be renewed, if nobody has taken it; else says that its run was no death.
   * @param queueKey the queue's key prefix, as in `fleet:extract`
   * @returns whether the job is still held here
   */
  async keep(queueKey: string, jobId: string, lockMs: number): Promise<boolean> {
    const job = this.#jobs.get(`${queueKey}:${jobId}`);
    if (job === undefined) return false;
    const keys = [`${job.key}:lock`, `${queueKey}:active`, `${queueKey}:stalled`];
    if ((await runScript(this.client, RECLAIM, keys, [job.token, lockMs, jobId])) === 1) return true;
    await forgiveRun(this.client, job.key, job.run);
    return false;
  }
}
