import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { virtualTimeKey } from '../queues/fairness/take-turns.js';
import { MAX_TAG } from '../queues/fairness/turn-script.js';
import { parseJobKey } from '../queues/job-key.js';
import { replyList, replyText, runScript, type ScriptReply, script } from '../queues/run-script.js';

/**
 * Begins runs of jobs of one queue. A run before it from which the job was taken over has died. A job with deaths behind
 * it is not marked yet: until it is its turn to be processed (`markRun`) it can kill nobody. The queue's virtual time
 * follows the jobs.
 * KEYS: 1 virtual time of the queue, then hash and lock of each job. ARGV: lock token and run of each job.
 * Returns four values for each: 1 held or 0 lost, 1 cancelled or 0, deaths, 1 where the job has a ledger or 0.
 */
const BEGIN = script(`
local function takeovers(run) return tonumber(string.match(run, '@(%d+)$') or '-1') end
local reply, latest = {}, 0
local function answer(held, cancelled, deaths, ledger)
  local at = #reply
  reply[at + 1], reply[at + 2], reply[at + 3], reply[at + 4] = held, cancelled, deaths, ledger
end
for at = 1, #ARGV, 2 do
  local hash, token, run = KEYS[at + 1], ARGV[at], ARGV[at + 1]
  if redis.call('GET', KEYS[at + 2]) ~= token then answer(0, 0, '', 0)
  else
    local marks = redis.call('HMGET', hash, 'fleet:run', 'fleet:deaths', 'fleet:cancelled', 'fleet:ledger', 'priority')
    local before, deaths = marks[1], marks[2] or ''
    if before and takeovers(before) < takeovers(run) then
      deaths = deaths == '' and before or deaths .. ' ' .. before
      redis.call('HSET', hash, 'fleet:deaths', deaths)
    end
    if deaths == '' then redis.call('HSET', hash, 'fleet:run', run)
    elseif before then redis.call('HDEL', hash, 'fleet:run') end
    local tag = tonumber(marks[5] or '0') or 0
    if tag > latest and tag <= ${MAX_TAG} then latest = tag end
    answer(1, marks[3] and 1 or 0, deaths, marks[4] and 1 or 0)
  end
end
local time = tonumber(redis.call('GET', KEYS[1]) or '')
if time and latest > time then redis.call('SET', KEYS[1], latest, 'KEEPTTL') end
return reply`);

/** Values of a reply for each job. */
const VALUES_A_JOB = 4;

/** Jobs of one script run: the first of many go on while Redis marks the others. */
const MAX_BATCH = 20;

export interface BegunRun {
  /** Name of the run: an id, `@`, and how often the job had been taken over. */
  readonly run: string;
  /** Whether this worker still holds the job. */
  readonly held: boolean;
  readonly cancelled: boolean;
  /** How many workers died in runs of this job. */
  readonly deaths: number;
  /** Whether agent calls of earlier runs are written on the job. */
  readonly hasLedger: boolean;
}

/** A run that is about to begin. */
interface Start {
  readonly jobKey: string;
  readonly token: string;
  readonly run: string;
  resolve(begun: BegunRun): void;
  reject(reason: unknown): void;
}

/**
 * Marks jobs as running. Those of a queue that begin in the same turn of the event loop are marked in one round trip: a
 * busy worker gets many replies at once, and a round trip each would cost more than the rest of a small job.
 */
export class RunStarter {
  /** By the key of their queue's virtual time. */
  readonly #waiting = new Map<string, Start[]>();

  constructor(private readonly client: Redis) {}

  /** @param takeovers how often the job was taken over from a worker that no longer held it */
  begin(jobKey: string, token: string, takeovers: number): Promise<BegunRun> {
    const { prefix, queue } = parseJobKey(jobKey);
    const clock = virtualTimeKey(prefix, queue);
    const run = `${randomUUID()}@${takeovers}`;
    return new Promise((resolve, reject) => {
      const start: Start = { jobKey, token, run, resolve, reject };
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
    for (const { jobKey, token, run } of starts) {
      keys.push(jobKey, `${jobKey}:lock`);
      args.push(token, run);
    }
    const reply = replyList(await runScript(this.client, BEGIN, keys, args));
    for (const [at, { run, resolve }] of starts.entries()) resolve(begunRun(run, reply, at * VALUES_A_JOB));
  }
}

function begunRun(run: string, reply: readonly ScriptReply[], at: number): BegunRun {
  const deaths = replyText(reply[at + 2]) ?? '';
  return {
    run,
    held: reply[at] === 1,
    cancelled: reply[at + 1] === 1,
    deaths: deaths === '' ? 0 : deaths.split(' ').length,
    hasLedger: reply[at + 3] === 1,
  };
}
