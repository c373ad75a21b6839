import type { Redis } from 'ioredis';
import { z } from 'zod';
import { readRecord } from './read-record.js';
import { replyList, replyText, runScript, script } from './run-script.js';
import { addUsage, NO_USAGE, type Usage, usageOfCall } from './usage.js';

/**
 * The ledger of a job's agent calls is stored in the job's hash, and is removed with it. Call number N (from 1) has these
 * fields:
 * - `fleet:ledger:N` the request, written before the call is sent (`SentCallSchema`);
 * - `fleet:ledger:N:by` the attempt that waits for the answer; removed once the end is known;
 * - `fleet:ledger:N:end` how it ended (`EndedCallSchema`), written before the answer is used;
 * - `fleet:ledger:N:answer` the whole answer, compressed;
 * - `fleet:ledger:N:line` its line, if it was queued for a batch: without an end it is in one, or waits for one;
 * - `fleet:ledger:N:used` the attempt that first used the answer of the batch.
 * `fleet:ledger` is the highest number.
 */
export const LEDGER_FIELD = 'fleet:ledger';
/** Maximum number of calls that are read of one job. The limit bounds the work for Redis if the stored number is damaged. */
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
  /** How often it was sent in total: a call that was rejected unbilled is sent again under the same number. */
  sends: z.int().positive(),
  /** What it will probably cost; null if the model has no known price. */
  likelyUsd: usd,
});
export type SentCall = z.infer<typeof SentCallSchema>;

const count = z.int().nonnegative();

export const EndedCallSchema = z.object({
  /**
   * `answered`: a usable answer; `unusable`: a complete answer that cannot be used; `failed`: none, or a part of one;
   * `in-doubt`: it is unknown whether the call was answered and billed.
   */
  state: z.enum(['answered', 'unusable', 'failed', 'in-doubt']),
  /** Milliseconds since 1970. */
  at: z.number(),
  /** Outcome class of the call; absent if its worker crashed. */
  outcome: z.string().optional(),
  /** What happened, in one clause, where there is no answer. */
  detail: z.string().optional(),
  /** What it cost; null if the model has no known price; absent if nothing is known to be billed. */
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
  /** Set if another job paid for the answer. */
  reused: z
    .object({
      /** Id of that job. */
      jobId: z.string(),
      /** What the answer cost there; null if the model has no known price. */
      costUsd: usd,
    })
    .optional(),
});
export type EndedCall = z.infer<typeof EndedCallSchema>;

/** One call of a job, in the form that users see. */
export interface CallRecord extends SentCall {
  /** Its number in the ledger. */
  readonly number: number;
  readonly state: EndedCall['state'] | 'sent' | 'in-batch';
  /** Whether it was queued for a batch, which costs half, and not sent by itself since. */
  readonly batch?: true;
  readonly end?: EndedCall;
}

/**
 * Reads a job's ledger without the answers.
 * KEYS[1] job hash, KEYS[2] its lock; ARGV[1] the ledger's field.
 * Returns the lock's token or false, then for each call: the request, the attempt that waits for it, how it ended, its line.
 */
const READ = script(`
local found = {redis.call('GET', KEYS[2])}
local last = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '') or 0
for number = 1, math.min(last, ${MAX_RECORDED_CALLS}) do
  local field = ARGV[1] .. ':' .. number
  for _, value in ipairs(redis.call('HMGET', KEYS[1], field, field .. ':by', field .. ':end', field .. ':line')) do
    found[#found + 1] = value
  end
end
return found`);

/** The calls of a job in the order in which they were first sent; `jobKey` is the key of its hash. */
export async function readCallRecords(client: Redis, jobKey: string): Promise<CallRecord[]> {
  const [lock, ...fields] = replyList(
    await runScript(client, READ, [jobKey, `${jobKey}:lock`], [LEDGER_FIELD]),
  );
  const lockToken = replyText(lock);
  const records: CallRecord[] = [];
  for (let at = 0; at < fields.length; at += 4) {
    const sent = readRecord(SentCallSchema, replyText(fields[at]))?.value;
    // A damaged entry, or one that another version wrote, is not shown. An attempt that reads it reports it.
    if (sent === undefined) continue;
    const by = replyText(fields[at + 1]);
    const end = readRecord(EndedCallSchema, replyText(fields[at + 2]))?.value;
    // A call is in flight as long as the attempt that sent it owns the job's lock.
    const awaited = by !== undefined && lockToken !== undefined && by.startsWith(`${lockToken}#`);
    const line = replyText(fields[at + 3]);
    const isOpen = by !== undefined || line === undefined;
    records.push({
      ...sent,
      number: at / 4 + 1,
      state: end?.state ?? (awaited ? 'sent' : isOpen ? 'in-doubt' : 'in-batch'),
      ...(line !== undefined && by === undefined ? { batch: true } : {}),
      ...(end === undefined ? {} : { end }),
    });
  }
  return records;
}

/** What all calls of a job were billed, over all its attempts. */
export function usageOfRecords(records: readonly CallRecord[]): Usage {
  return records
    .flatMap(({ end }) => (end?.tokens === undefined ? [] : [usageOfCall(end.tokens, end.costUsd ?? null)]))
    .reduce(addUsage, NO_USAGE);
}
