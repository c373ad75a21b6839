import { callCacheKey } from '../../queues/redis-keys.js';
import { runScript, script } from '../../queues/run-script.js';
import type { CallControl } from '../call-control.js';
import type { CallInterceptor, PlannedCall, RecordedAnswer } from '../call-interceptor.js';
import type { CallOutcome } from '../outcome.js';
import { packAnswer, unpackAnswer } from './stored-answer.js';

/** How many answers are cached; the least recently used one is dropped first. */
const MAX_ANSWERS = 10_000;
const MAX_ANSWER_BYTES = 262_144;
const ANSWER_TTL_MS = 7 * 86_400_000;

/**
 * KEYS: 1 answers by use, 2 the answer. ARGV: 1 digest, 2 time in ms. Returns the answer, or false.
 */
const LOOK_UP = script(`
local answer = redis.call('GET', KEYS[2])
if answer then redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1]) end
return answer`);

/**
 * KEYS: 1 answers by use, 2 the answer. ARGV: 1 digest, 2 time in ms, 3 answer, 4 ms it is kept, 5 maximum of answers.
 * Returns how many were dropped for it.
 */
const STORE = script(`
redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[4])
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
local surplus = redis.call('ZCARD', KEYS[1]) - tonumber(ARGV[5])
if surplus <= 0 then return 0 end
for _, digest in ipairs(redis.call('ZRANGE', KEYS[1], 0, surplus - 1)) do
  redis.call('DEL', KEYS[1] .. ':' .. digest)
end
return redis.call('ZREMRANGEBYRANK', KEYS[1], 0, surplus - 1)`);

/**
 * Answers shared by all jobs, by the digest of the whole request: model, texts, token limit, schema. Only usable
 * answers are cached. A job that sends the same request twice needs another answer the second time, from the model.
 */
export class CallCache implements CallInterceptor {
  readonly #control: Pick<CallControl, 'client' | 'prefix' | 'clock'>;
  readonly #maxAnswers: number;
  readonly name = 'cache';
  readonly #seen = new Set<string>();

  constructor(control: Pick<CallControl, 'client' | 'prefix' | 'clock'>, maxAnswers = MAX_ANSWERS) {
    this.#control = control;
    this.#maxAnswers = maxAnswers;
  }

  async admit({ digest }: PlannedCall): Promise<RecordedAnswer | undefined> {
    if (this.#seen.has(digest)) return undefined;
    this.#seen.add(digest);
    const reply = await runScript(this.#control.client, LOOK_UP, this.#keys(digest), [
      digest,
      this.#control.clock.now(),
    ]);
    // If the entry cannot be understood, the call is sent again, and its answer replaces the entry.
    const message = Buffer.isBuffer(reply) ? unpackAnswer(reply).value : undefined;
    return message && { message };
  }

  async settle({ digest }: PlannedCall, outcome: CallOutcome): Promise<void> {
    if (outcome.class !== 'answered' || outcome.message === undefined) return;
    const answer = packAnswer(outcome.message);
    if (answer.length > MAX_ANSWER_BYTES) return;
    await runScript(this.#control.client, STORE, this.#keys(digest), [
      digest,
      this.#control.clock.now(),
      answer,
      ANSWER_TTL_MS,
      this.#maxAnswers,
    ]);
  }

  #keys(digest: string): string[] {
    const all = callCacheKey(this.#control.prefix);
    return [all, `${all}:${digest}`];
  }
}
