import type { Redis } from 'ioredis';
import { z } from 'zod';
import { readRecord } from './read-record.js';
import { replyList, replyText, runScript, script } from './run-script.js';
import { addUsage, NO_USAGE, type Usage } from './usage.js';

/**
 * The ledger of a job's agent calls stands in the job's own hash, so that it lives and dies with the job, whoever
 * removes it. Call number N (from 1) has up to four fields:
 * - `fleet:ledger:N` what was asked, written before the call leaves (`SentCallSchema`);
 * - `fleet:ledger:N:by` the run of the job that waits for its answer; gone once the end is known;
 * - `fleet:ledger:N:end` how it ended (`EndedCallSchema`), written before the answer is used;
 * - `fleet:ledger:N:answer` the whole answer, compressed.
 * `fleet:ledger` is the highest number.
 */
export const LEDGER_FIELD = 'fleet:ledger';
/** Most calls that are read of one job; a damaged number must not keep Redis busy for ever. */
export const MAX_RECORDED_CALLS = 10_000;

const usd = z.number().nonnegative().nullable();

export const SentCallSchema = z.object({
  /** Name of its conversation within the job, as in `correct-2-1`. */
  step: z.string(),
  /** Number of the call within the conversation, from 1. */
  turn: z.int().positive(),
  /** SHA-256 of the request. */
  digest: z.string(),
  model: z.string(),
  /** How often it was sent in all: a call that was turned away unbilled is sent again under its number. */
  sends: z.int().positive(),
  /** What it will probably cost; null where the model has no known price. */
  likelyUsd: usd,
});
export type SentCall = z.infer<typeof SentCallSchema>;

const count = z.int().nonnegative();

export const EndedCallSchema = z.object({
  /**
   * `answered`: a usable answer; `unusable`: one that is never taken for an answer; `failed`: none, or a part of one;
   * `in-doubt`: nobody knows whether it was answered and billed.
   */
  state: z.enum(['answered', 'unusable', 'failed', 'in-doubt']),
  /** Milliseconds since 1970. */
  at: z.number(),
  /** Outcome class of the call; absent if its worker crashed. */
  outcome: z.string().optional(),
  /** What it cost; null where the model has no known price; absent where nothing is known to be billed. */
  costUsd: usd.optional(),
  tokens: z
    .object({
      inputTokens: count,
      outputTokens: count,
      cacheReadTokens: count,
      cacheWriteTokens: count,
      cacheWrite1hTokens: count,
    })
    .optional(),
});
export type EndedCall = z.infer<typeof EndedCallSchema>;

/** One call of a job, as people see it. */
export interface CallRecord extends SentCall {
  readonly state: EndedCall['state'] | 'sent';
  readonly end?: EndedCall;
}

/**
 * Reads a job's ledger without the answers.
 * KEYS[1] job hash, KEYS[2] its lock; ARGV[1] the ledger's field.
 * Returns the lock's token or false, then for each call: what was asked, by whom it is awaited, how it ended.
 */
const READ = script(`
local found = {redis.call('GET', KEYS[2])}
local last = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '') or 0
for number = 1, math.min(last, ${MAX_RECORDED_CALLS}) do
  local field = ARGV[1] .. ':' .. number
  for _, value in ipairs(redis.call('HMGET', KEYS[1], field, field .. ':by', field .. ':end')) do
    found[#found + 1] = value
  end
end
return found`);

/** The calls of a job in the order in which they were first sent; `jobKey` is the key of its hash. */
export async function readCallRecords(client: Redis, jobKey: string): Promise<CallRecord[]> {
  const [lock, ...fields] = replyList(
    await runScript(client, READ, [jobKey, `${jobKey}:lock`], [LEDGER_FIELD]),
  );
  const holder = replyText(lock);
  const records: CallRecord[] = [];
  for (let at = 0; at < fields.length; at += 3) {
    const sent = readRecord(SentCallSchema, replyText(fields[at]))?.value;
    // Of a damaged entry, or one of another version's making, nothing can be shown; a run that meets it says so.
    if (sent === undefined) continue;
    const by = replyText(fields[at + 1]);
    const end = readRecord(EndedCallSchema, replyText(fields[at + 2]))?.value;
    // A call is under way as long as the run that sent it holds the job.
    const awaited = by !== undefined && holder !== undefined && by.startsWith(`${holder}#`);
    records.push({
      ...sent,
      state: end?.state ?? (awaited ? 'sent' : 'in-doubt'),
      ...(end === undefined ? {} : { end }),
    });
  }
  return records;
}

/** What all calls of a job were billed, over all its attempts. */
export function usageOfRecords(records: readonly CallRecord[]): Usage {
  return records.reduce<Usage>((total, { end }) => {
    if (end?.tokens === undefined) return total;
    const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = end.tokens;
    return addUsage(total, {
      calls: 1,
      reusedCalls: 0,
      inputTokens,
      outputTokens,
      cacheReadTokens,
      cacheWriteTokens,
      costUsd: end.costUsd ?? null,
    });
  }, NO_USAGE);
}
