import type { Redis } from 'ioredis';
import { replyList, replyText, runScript, script } from '../queues/run-script.js';

/** Estimate of one submitter's jobs in a queue, from the sample. */
interface SubmitterLoad {
  readonly jobs: number;
  /** Size of their data before compression. */
  readonly bytes: number;
}

/** Jobs of one queue that have not ended. */
export interface QueueSample {
  readonly unfinished: number;
  /** Number of jobs that no worker has started. */
  readonly unstarted: number;
  /** Bytes that all jobs may still need until they have ended. */
  readonly growth: number;
  /** Unstarted jobs by submitter; '' for jobs without one. */
  readonly bySubmitter: ReadonlyMap<string, SubmitterLoad>;
}

/**
 * Bytes that a job may still need until it has ended, besides its texts: flags, log lines, the call ledger, its result and
 * events. Many small jobs together could need more than the free memory, so this is reserved for each.
 */
export const GROWTH_BYTES = 4_096;

/**
 * Samples jobs of a queue, at random if there are many. It counts the jobs themselves, so no counter can drift, and
 * submitting has no extra cost.
 *
 * A result repeats the texts of its job, once in the job and once in its event; for a parent in a pipeline queue also
 * there, and uncompressed.
 *
 * KEYS: 1 prefix of the queue's keys. ARGV: 1 maximum number of jobs to sample, 2 bytes that every job needs, 3 '1' if the
 * results of children count as well: a job in a pipeline queue stores the scripts of its checks.
 * Returns: unfinished, unstarted, growth, then for each submitter its name, jobs and bytes.
 */
const SAMPLE = script(`
local queue, most, base = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
local sets = {
  {name = 'prioritized', set = true}, {name = 'delayed', set = true}, {name = 'waiting-children', set = true},
  {name = 'wait'}, {name = 'paused'}, {name = 'active', begun = true},
}
local unfinished, unstarted = 0, 0
for _, from in ipairs(sets) do
  from.size = redis.call(from.set and 'ZCARD' or 'LLEN', queue .. from.name)
  unfinished = unfinished + from.size
  if not from.begun then unstarted = unstarted + from.size end
end
local function children_bytes(key)
  -- A managed server may forbid the command.
  local bytes = redis.pcall('MEMORY', 'USAGE', key .. ':processed')
  return type(bytes) == 'number' and bytes or 0
end
local growth, loads = 0, {}
for _, from in ipairs(sets) do
  if from.size > 0 then
    local wanted = math.max(1, math.ceil(most * from.size / math.max(most, unfinished)))
    local ids
    if from.set then ids = redis.call('ZRANDMEMBER', queue .. from.name, wanted)
    else ids = redis.call('LRANGE', queue .. from.name, 0, wanted - 1) end
    local each = from.size / #ids
    for _, id in ipairs(ids) do
      -- A key of another type than a job's counts like a small job.
      local found = redis.pcall('HMGET', queue .. id, 'opts', 'parentKey')
      if found.err then found = {} end
      local length = redis.pcall('HSTRLEN', queue .. id, 'data')
      if type(length) ~= 'number' then length = 0 end
      local known, options = pcall(cjson.decode, found[1] or '{}')
      local fleet = known and type(options) == 'table' and type(options.fleet) == 'table' and options.fleet or {}
      local bytes = math.max(tonumber(fleet.bytes) or 0, length)
      growth = growth + each * (base + 2 * length + (found[2] and 3 * bytes or bytes / 3))
      if not from.begun then
        local name = type(fleet.submitter) == 'string' and fleet.submitter or ''
        local load = loads[name] or {jobs = 0, bytes = 0}
        loads[name] = load
        load.jobs, load.bytes = load.jobs + each, load.bytes + each * bytes
        if ARGV[3] == '1' then load.bytes = load.bytes + each * children_bytes(queue .. id) end
      end
    end
  end
end
local reply = {unfinished, unstarted, math.ceil(growth)}
for name, load in pairs(loads) do
  reply[#reply + 1], reply[#reply + 2], reply[#reply + 3] = name, math.ceil(load.jobs), math.ceil(load.bytes)
end
return reply`);

/**
 * @param most maximum number of jobs to sample; if there are no more, all are counted
 * @param withResults whether the results of a job's children count as its bytes
 */
export async function sampleJobs(
  client: Redis,
  queueKey: string,
  most: number,
  withResults = false,
): Promise<QueueSample> {
  const [unfinished, unstarted, growth, ...loads] = replyList(
    await runScript(client, SAMPLE, [queueKey], [most, GROWTH_BYTES, withResults ? '1' : '']),
  );
  const bySubmitter = new Map<string, SubmitterLoad>();
  for (let at = 0; at < loads.length; at += 3) {
    bySubmitter.set(replyText(loads[at]) ?? '', {
      jobs: Number(loads[at + 1]),
      bytes: Number(loads[at + 2]),
    });
  }
  return {
    unfinished: Number(unfinished),
    unstarted: Number(unstarted),
    growth: Number(growth),
    bySubmitter,
  };
}
