import type { Redis } from 'ioredis';
import { payloadIndexKey, payloadJobsKey, payloadKey } from '../queues/redis-keys.js';
import { runScript, script } from '../queues/run-script.js';

/** A text without a job is an orphan only after this time, in milliseconds: its producer may have been paused. */
export const PAYLOAD_GRACE_MS = 3_600_000;

/** Number of texts that are checked between two checks of the abort signal. */
const PAGE = 200;

/**
 * Removes a text that no job refers to any more. BullMQ removes jobs without a notification, so there is no reference
 * count: the keys of the jobs are recorded and checked. The script is atomic, so no job can start to refer to the text
 * between the check and the removal.
 * KEYS: 1 text, 2 its jobs, 3 index. ARGV: 1 digest, 2 time (ms) up to which a missing job counts as gone,
 * 3 '1' if nothing may be removed. Returns 1 if no job refers to the text, otherwise 0.
 */
const SWEEP = script(`
local dry = ARGV[3] == '1'
local start = 0
while true do
  local jobs = redis.call('ZRANGE', KEYS[2], start, start + 499, 'WITHSCORES')
  if #jobs == 0 then break end
  local gone = {}
  for at = 1, #jobs, 2 do
    local there = redis.call('EXISTS', jobs[at]) == 1
    if not there and tonumber(jobs[at + 1]) <= tonumber(ARGV[2]) then gone[#gone + 1] = jobs[at]
    else
      if #gone > 0 and not dry then redis.call('ZREM', KEYS[2], unpack(gone)) end
      return 0
    end
  end
  if dry then start = start + 500 else redis.call('ZREM', KEYS[2], unpack(gone)) end
end
if not dry then
  redis.call('DEL', KEYS[1], KEYS[2])
  redis.call('ZREM', KEYS[3], ARGV[1])
end
return 1`);

export interface SweepOptions {
  readonly now?: number;
  readonly graceMs?: number;
  /** Only checks, and removes nothing. */
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
}

/**
 * Removes the stored texts that no job refers to any more.
 * @returns their digests.
 */
export async function sweepPayloads(
  client: Redis,
  prefix: string,
  { now = Date.now(), graceMs = PAYLOAD_GRACE_MS, dryRun = false, signal }: SweepOptions = {},
): Promise<string[]> {
  const index = payloadIndexKey(prefix);
  const swept: string[] = [];
  let cursor = '0';
  do {
    const [next, found] = await client.zscan(index, cursor, 'COUNT', PAGE);
    cursor = next;
    for (let at = 0; at < found.length; at += 2) {
      const digest = found[at] ?? '';
      const keys = [payloadKey(prefix, digest), payloadJobsKey(prefix, digest), index];
      const reply = await runScript(client, SWEEP, keys, [digest, now - graceMs, dryRun ? '1' : '']);
      if (reply === 1) swept.push(digest);
    }
  } while (cursor !== '0' && !signal?.aborted);
  return swept;
}
