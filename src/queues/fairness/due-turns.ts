import type { Redis } from 'ioredis';
import { z } from 'zod';
import { readRecord } from '../read-record.js';
import { replyList, replyText, runScript, script } from '../run-script.js';
import { fairBase, inOrderOfTurns, type TurnRequest, turnCalls } from './take-turns.js';
import { TAKE_TURNS, UNPLACED } from './turn-script.js';

/** How far ahead jobs are given their turns, in milliseconds: longer than the time between two looks. */
const AHEAD_MS = 2_000;
/** Jobs that are given their turns in one look. */
const MAX_PLACED = 500;
/** BullMQ's scores of delayed jobs are milliseconds times this, those of prioritized ones priorities times that. */
const DELAYED_SCALE = 0x1000;
const PRIORITY_SCALE = 2 ** 32;

/**
 * Finds jobs without a turn that are about to become due, or have become so.
 * KEYS: 1 prefix of the queue's keys, 2 lease of the look. ARGV: 1 highest score of delayed jobs, 2 most jobs, 3 length of the
 * lease in milliseconds. Returns id and options of each.
 */
const FIND = script(`
if not redis.call('SET', KEYS[2], '1', 'NX', 'PX', ARGV[3]) then return {} end
local found = {}
local function collect(ids)
  for _, id in ipairs(ids) do
    local fields = redis.call('HMGET', KEYS[1] .. id, 'priority', 'opts')
    if tonumber(fields[1] or '') == ${UNPLACED} then
      found[#found + 1] = id
      found[#found + 1] = fields[2] or '{}'
    end
  end
end
collect(redis.call('ZRANGEBYSCORE', KEYS[1] .. 'prioritized', '${UNPLACED * PRIORITY_SCALE}', '+inf', 'LIMIT', 0, ARGV[2]))
collect(redis.call('ZRANGEBYSCORE', KEYS[1] .. 'delayed', '-inf', ARGV[1], 'LIMIT', 0, ARGV[2]))
return found`);

/** For whom a job is done, as its options say. */
const OptionsSchema = z.looseObject({
  fleet: z
    .looseObject({
      tenant: z.string().optional(),
      submitter: z.string().optional(),
      priority: z.number().int().nonnegative().optional(),
      tags: z.record(z.string(), z.string()).nullish(),
    })
    .optional(),
});

function requestOf(id: string, options: string): TurnRequest {
  const own = readRecord(OptionsSchema, options)?.value?.fleet;
  return {
    id,
    tenant: own?.tenant ?? own?.tags?.run ?? '',
    submitter: own?.submitter ?? '',
    priority: own?.priority ?? 0,
  };
}

/**
 * Gives delayed jobs of one queue their turns as they become due: with turns from their submission, thousands that become
 * due together would all go before everybody else's.
 * @param leaseMs How long others need not look.
 * @returns how many jobs were given their turns.
 */
export async function placeDueJobs(
  client: Redis,
  prefix: string,
  queue: string,
  leaseMs: number,
): Promise<number> {
  const keys = [`${prefix}:${queue}:`, `${fairBase(prefix, queue)}:due`];
  const until = (Date.now() + AHEAD_MS) * DELAYED_SCALE;
  const found = replyList(await runScript(client, FIND, keys, [until, MAX_PLACED, leaseMs]));
  const requests: TurnRequest[] = [];
  for (let at = 0; at < found.length; at += 2) {
    requests.push(requestOf(replyText(found[at]) ?? '', replyText(found[at + 1]) ?? ''));
  }
  for (const call of turnCalls(prefix, queue, inOrderOfTurns(requests), { added: true })) {
    await runScript(client, TAKE_TURNS, call.keys, call.args);
  }
  return requests.length;
}
