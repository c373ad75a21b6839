import type { Redis } from 'ioredis';
import { runScript, script } from '../queues/run-script.js';
import { payloadIndexKey, payloadJobsKey, payloadKey } from './payload-keys.js';

/** A job may come this long after its texts, in milliseconds: a producer that was paused is not an orphan's maker. */
export const PAYLOAD_GRACE_MS = 3_600_000;

/** Texts that are looked at between two looks at the abort signal. */
const PAGE = 200;

/**
 * Removes a text that no job names any more. BullMQ removes jobs by rules of its own and tells nobody, so jobs are not
 * counted down: the keys of the jobs are noted, and looked for. One step, so that no job can begin to name the text
 * between the look and the removal.
 * KEYS: 1 text, 2 its jobs, 3 index. ARGV: 1 digest, 2 time (ms) up to which a job that is not there counts as gone,
 * 3 '1' where nothing may be removed. Returns 1 where no job names the text, else 0.
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
  /** Only looks, and removes nothing. */
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
}

/**
 * Removes the stored texts that no job names any more.
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
