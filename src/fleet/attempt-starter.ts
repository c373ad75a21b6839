import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { MAX_TAG } from '../queues/fairness/schedule-script.js';
import { CHILDREN_FIELD } from '../queues/job-flags.js';
import { parseJobKey } from '../queues/job-key.js';
import { virtualTimeKey } from '../queues/redis-keys.js';
import { replyList, replyText, runScript, type ScriptReply, script } from '../queues/run-script.js';
import { type StartedChild, startedChildren } from './children/child-script.js';

/** Maximum number of jobs above a job that are looked at. */
const MAX_LEVELS = 16;

/** Number of keys for each job. */
const KEYS_A_JOB = 3;

/**
 * Starts attempts of jobs of one queue. If the stalled count has grown since the last attempt started, that attempt crashed.
 * A job with crashes gets no marker yet: until it is processed (`writeCrashMarker`) it cannot crash the worker. The queue's
 * virtual time follows the jobs.
 * A job below a cancelled one is cancelled too: it may have been added after the cancellation took that job's children along.
 * KEYS: 1 virtual time of the queue, then hash, lock and parent's hash of each job (its own hash if it has no parent).
 * ARGV: lock token and attempt of each job.
 * Returns five values for each: 1 if the lock is owned or 0 if it is lost, 1 cancelled or 0, crashes, 1 if the job has a
 * ledger or 0, its started children (JSON).
 */
const BEGIN = script(`
local function stalled_count(attempt) return tonumber(string.match(attempt, '@(%d+)$') or '-1') end
-- Parents in pipeline queues are not taken by a worker of the fleet, so theirs count too.
local function cancelled_above(parent)
  for _ = 1, ${MAX_LEVELS} do
    local fields = redis.pcall('HMGET', parent, 'fleet:cancelled', 'parentKey')
    -- A key of another type is no job.
    if fields.err or fields[1] then return fields[1] end
    parent = fields[2]
    if not parent or parent == '' then return nil end
  end
end
local reply, latest = {}, 0
local function answer(owned, cancelled, crashes, ledger, children)
  local at = #reply
  reply[at + 1], reply[at + 2], reply[at + 3], reply[at + 4], reply[at + 5] = owned, cancelled, crashes, ledger, children
end
for at = 1, #ARGV, 2 do
  local first = (at - 1) / 2 * ${KEYS_A_JOB} + 2
  local hash, parent, token, attempt = KEYS[first], KEYS[first + 2], ARGV[at], ARGV[at + 1]
  if redis.call('GET', KEYS[first + 1]) ~= token then answer(0, 0, '', 0, '')
  else
    local fields = redis.call('HMGET', hash, 'fleet:attempt', 'fleet:crashes', 'fleet:cancelled', 'fleet:ledger', 'priority', '${CHILDREN_FIELD}')
    local before, crashes, cancelled = fields[1], fields[2] or '', fields[3]
    if not cancelled and parent ~= hash then
      cancelled = cancelled_above(parent)
      if cancelled then redis.call('HSET', hash, 'fleet:cancelled', cancelled) end
    end
    if before and stalled_count(before) < stalled_count(attempt) then
      crashes = crashes == '' and before or crashes .. ' ' .. before
      redis.call('HSET', hash, 'fleet:crashes', crashes)
    end
    if crashes == '' then redis.call('HSET', hash, 'fleet:attempt', attempt)
    elseif before then redis.call('HDEL', hash, 'fleet:attempt') end
    local tag = tonumber(fields[5] or '0') or 0
    if tag > latest and tag <= ${MAX_TAG} then latest = tag end
    answer(1, cancelled and 1 or 0, crashes, fields[4] and 1 or 0, fields[6] or '')
  end
end
local time = tonumber(redis.call('GET', KEYS[1]) or '')
if time and latest > time then redis.call('SET', KEYS[1], latest, 'KEEPTTL') end
return reply`);

/** Number of reply values for each job. */
const VALUES_A_JOB = 5;

/** Maximum number of jobs in one script: the first of many go on while Redis starts the others. */
const MAX_BATCH = 20;

export interface StartedAttempt {
  /** A UUID, `@`, and the stalled count of the job. */
  readonly attempt: string;
  /** Whether this worker still owns the lock. */
  readonly ownsLock: boolean;
  readonly cancelled: boolean;
  /** How many workers crashed in attempts of this job. */
  readonly crashes: number;
  /** Whether the job has calls of earlier attempts in its ledger. */
  readonly hasLedger: boolean;
  /** The children that earlier attempts started. */
  readonly startedChildren: readonly StartedChild[];
}

/** An attempt that is about to start. */
interface Start {
  readonly jobKey: string;
  readonly parentKey: string | undefined;
  readonly token: string;
  readonly attempt: string;
  resolve(begun: StartedAttempt): void;
  reject(reason: unknown): void;
}

/**
 * Records that attempts have started. All jobs of a queue that start in the same tick of the event loop share one round
 * trip: a busy worker gets many replies at once, and a round trip for each would cost more than the rest of a small job.
 */
export class AttemptStarter {
  /** By the key of their queue's virtual time. */
  readonly #waiting = new Map<string, Start[]>();

  constructor(private readonly client: Redis) {}

  /**
   * @param stalledCount how often the job stalled: another worker took it after its lock had run out
   * @param parentKey key of the hash of the job that waits for it
   */
  begin(jobKey: string, token: string, stalledCount: number, parentKey?: string): Promise<StartedAttempt> {
    const { prefix, queue } = parseJobKey(jobKey);
    const clock = virtualTimeKey(prefix, queue);
    const attempt = `${randomUUID()}@${stalledCount}`;
    return new Promise((resolve, reject) => {
      const start: Start = { jobKey, parentKey, token, attempt, resolve, reject };
      const others = this.#waiting.get(clock);
      if (others !== undefined) others.push(start);
      else {
        if (this.#waiting.size === 0) setImmediate(() => this.#beginAll());
        this.#waiting.set(clock, [start]);
      }
    });
  }

  #beginAll(): void {
    for (const [clock, starts] of this.#waiting) {
      for (let first = 0; first < starts.length; first += MAX_BATCH) {
        const together = starts.slice(first, first + MAX_BATCH);
        this.#beginTogether(clock, together).catch((thrown: unknown) => {
          for (const { reject } of together) reject(thrown);
        });
      }
    }
    this.#waiting.clear();
  }

  async #beginTogether(clock: string, starts: readonly Start[]): Promise<void> {
    const keys = [clock];
    const args: string[] = [];
    for (const { jobKey, parentKey = jobKey, token, attempt } of starts) {
      keys.push(jobKey, `${jobKey}:lock`, parentKey);
      args.push(token, attempt);
    }
    const reply = replyList(await runScript(this.client, BEGIN, keys, args));
    for (const [at, { attempt, resolve }] of starts.entries())
      resolve(startedAttempt(attempt, reply, at * VALUES_A_JOB));
  }
}

function startedAttempt(attempt: string, reply: readonly ScriptReply[], at: number): StartedAttempt {
  const crashes = replyText(reply[at + 2]) ?? '';
  return {
    attempt,
    ownsLock: reply[at] === 1,
    cancelled: reply[at + 1] === 1,
    crashes: crashes === '' ? 0 : crashes.split(' ').length,
    hasLedger: reply[at + 3] === 1,
    startedChildren: startedChildren(replyText(reply[at + 4])),
  };
}
