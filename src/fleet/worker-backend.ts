import { type BackendFactory, createRedisBackend, ErrorCode, type RedisQueueBackend } from 'bullmq';
import type { Redis } from 'ioredis';
import { brokenJob, repairFields } from '../queues/damaged-job.js';
import { encodeFailure } from '../queues/failure.js';
import { reclaimLock } from '../queues/reclaim-lock.js';
import { runScript, script } from '../queues/run-script.js';
import type { StalledChecks } from './stalled-checks.js';
import type { WriteRefusals } from './write-refusals.js';

/** The reply of taking a job if there is none. */
type NextJob = Awaited<ReturnType<RedisQueueBackend['moveToActive']>>;
const NO_JOB: NextJob = [null as never, '', 0, 0];

/**
 * Renews locks. BullMQ's script sets the keys again, which a full Redis rejects: every running job would be lost to another
 * worker. Extending the expiry of an existing key needs no memory.
 * KEYS: 1 stalled set. ARGV: 1 ms, 2 prefix of the queue's keys, then job id and token of each. Returns the ids of lost
 * jobs.
 */
const RENEW_LOCKS = script(`
local lost = {}
for at = 3, #ARGV, 2 do
  local lock = ARGV[2] .. ARGV[at] .. ':lock'
  if redis.call('GET', lock) == ARGV[at + 1] then
    redis.call('PEXPIRE', lock, ARGV[1])
    redis.call('SREM', KEYS[1], ARGV[at])
  else lost[#lost + 1] = ARGV[at] end
end
return lost`);

/** Commands whose reply may contain the next job for the worker. */
const TAKING = new Set(['moveToActive', 'moveToFinished', 'moveToDelayed']);

/** Commands that are not waited with: what they do may wait for the next time. */
const SKIPPED = new Set(['moveToActive', 'moveStalledJobsToWait']);

/** A script that Redis refuses has done nothing. It is sent again until Redis accepts it, unless its memory is full. */
function persistWrites(backend: RedisQueueBackend, refusals: WriteRefusals): void {
  const { execCommand } = backend;
  backend.execCommand = (client, name, args) => {
    const run = (): Promise<unknown> => execCommand.call(backend, client, name, args);
    return SKIPPED.has(name) ? run() : refusals.outlast(run);
  };
}

/**
 * Takes a job with damaged fields as if they were empty; it then fails at once with an error that names it. BullMQ would
 * throw instead, at the end of the previous job, and leave the damaged one active.
 */
function failDamagedJobs(backend: RedisQueueBackend, redis: Redis): void {
  const { execCommand } = backend;
  backend.execCommand = async (client, name, args) => {
    const answer: unknown = await execCommand.call(backend, client, name, args);
    if (!TAKING.has(name) || !Array.isArray(answer) || !Array.isArray(answer[0])) return answer;
    const damage = repairFields(answer[0]);
    if (damage === undefined) return answer;
    const id = String(answer[1]);
    // At these fields BullMQ's script for the end of a job would stop halfway, and the job would be in no state.
    if (damage.preventsEnd.length > 0) await redis.hdel(backend.toKey(id), ...damage.preventsEnd);
    answer[0].push('defa', encodeFailure(brokenJob(id, damage.reason)));
    return answer;
  };
}

/** Whether a job could not be ended because its lock ran out; BullMQ renews no lock of a job that is about to end. */
function isWithoutLock(thrown: unknown): boolean {
  return thrown instanceof Error && (thrown as { code?: unknown }).code === ErrorCode.JobLockNotExist;
}

/** What a worker's backend needs to outlast an outage of Redis. */
export interface OutageParts {
  /** Waits while Redis is away or refuses. */
  readonly client: Redis;
  readonly refusals: WriteRefusals;
  readonly stalledChecks: StalledChecks;
  readonly lockMs: number;
}

/**
 * BullMQ's backend for a worker whose Redis may refuse writes. It then takes no jobs; what its jobs write waits. The locks of
 * running jobs are kept, and taken back if they ran out in an outage.
 */
export function workerBackend({
  client,
  refusals,
  stalledChecks,
  lockMs,
}: OutageParts): BackendFactory<RedisQueueBackend> {
  return (name, options, connections) => {
    const backend = createRedisBackend(name, options, connections) as RedisQueueBackend;
    persistWrites(backend, refusals);
    failDamagedJobs(backend, client);
    const { moveToActive, moveToCompleted, moveToFailed, moveStalledJobsToWait } = backend;
    const mayFetch = () => refusals.reason === undefined;
    const asOwner = async <T>(
      jobId: string | undefined,
      token: string,
      end: () => Promise<T>,
    ): Promise<T> => {
      try {
        return await end();
      } catch (thrown) {
        const key = backend.toKey(jobId ?? '');
        if (!isWithoutLock(thrown) || !(await reclaimLock(client, key, token, lockMs))) throw thrown;
        return await end();
      }
    };
    backend.moveToActive = async (...args) => {
      if (!(await refusals.mayTake())) return NO_JOB;
      try {
        return await moveToActive.apply(backend, args);
      } catch (thrown) {
        if (!refusals.noted(thrown)) throw thrown;
        // Without this pause BullMQ would ask again at once, thousands of times a second.
        await refusals.mayTake();
        return NO_JOB;
      }
    };
    backend.moveToCompleted = (job, value, keep, token, fetchNext) =>
      asOwner(job.id, token, () =>
        moveToCompleted.call(backend, job, value, keep, token, fetchNext && mayFetch()),
      );
    backend.moveToFailed = (job, reason, keep, token, fetchNext, fields) =>
      asOwner(job.id, token, () =>
        moveToFailed.call(backend, job, reason, keep, token, fetchNext && mayFetch(), fields),
      );
    backend.moveStalledJobsToWait = async () => {
      if (!stalledChecks.mayCheck()) return [];
      try {
        return await moveStalledJobsToWait.call(backend);
      } catch (thrown) {
        if (!refusals.noted(thrown)) throw thrown;
        return [];
      }
    };
    backend.extendLocks = async (jobIds, tokens, duration) => {
      const pairs = jobIds.flatMap((id, at) => [id, tokens[at] ?? '']);
      const prefix = backend.toKey('');
      const lost = await runScript(
        client,
        RENEW_LOCKS,
        [backend.toKey('stalled')],
        [duration, prefix, ...pairs],
      );
      return (lost as readonly Buffer[]).map(String);
    };
    return backend;
  };
}
