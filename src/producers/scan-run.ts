import { CANCELLED_FIELD, STATUS_FIELD } from '../queues/job-flags.js';
import { isJobKey, parseJobKey } from '../queues/job-key.js';
import { runKey } from '../queues/redis-keys.js';
import { replyList, replyText, runScript, type ScriptReply, script } from '../queues/run-script.js';
import type { FleetClient } from './fleet-client.js';
import { JOB_STATES, type JobState, publicState } from './job-view.js';

/** What is read of every job of a run, to sort and count them. */
export interface ScannedJob {
  /** Key of its hash in Redis. */
  readonly key: string;
  /** Name of the kind, or of the pipeline queue. */
  readonly queue: string;
  readonly id: string;
  readonly state: JobState;
  /** Key of the job that waits for it. */
  readonly parentKey: string | undefined;
  /** What came out, in a word. */
  readonly status: string | undefined;
  /** The beginning of what is stored as the reason of its failure. */
  readonly reason: string | undefined;
}

/** The jobs of a run, newest first. */
export interface RunScan {
  readonly jobs: readonly ScannedJob[];
  /** Whether the run has more jobs than are read; the oldest are left out. */
  readonly isCut: boolean;
}

/** Jobs that one script reads, so that Redis serves other clients in between, and jobs that are read in all. */
const PAGE = 500;
const MOST = 20_000;
/** Longest part of a failure's reason that is read, in bytes. */
const REASON_BYTES = 600;
/** Values that the script returns for each job. */
const WIDTH = 6;

/**
 * KEYS: 1 jobs of the run. ARGV: 1-2 first and last index from the newest, 3 field of the cancellation, 4 field of the status,
 * 5 bytes of a reason, 6 tenant ('' for jobs of all). Returns the number of entries, then WIDTH values for each stored job.
 * A job that runs has a lock. One without that has not ended waits, also one that lost its lock and is taken back soon.
 */
const SCAN = script(`
local keys = redis.call('ZREVRANGE', KEYS[1], ARGV[1], ARGV[2])
local found = {#keys}
local function isOf(tenant, opts)
  if tenant == '' then return true end
  local isRead, options = pcall(cjson.decode, opts or '')
  local own = isRead and type(options) == 'table' and options.fleet
  return type(own) == 'table' and own.tenant == tenant
end
local function stateOf(key, finished, reason)
  if finished then return reason and 'failed' or 'completed' end
  if redis.call('EXISTS', key .. ':lock') == 1 then return 'active' end
  local queue, id = string.match(key, '^([^:]*:[^:]+:)(.+)$')
  for _, name in ipairs({'waiting-children', 'delayed'}) do
    if queue and redis.call('ZSCORE', queue .. name, id) then return name end
  end
  return 'waiting'
end
for _, key in ipairs(keys) do
  local fields = {'timestamp', 'finishedOn', 'failedReason', 'parentKey', ARGV[3], ARGV[4]}
  if ARGV[6] ~= '' then fields[7] = 'opts' end
  -- A key of another type is not a job.
  local values = redis.pcall('HMGET', key, unpack(fields))
  if not values.err and values[1] and isOf(ARGV[6], values[7]) then
    local reason = values[3]
    local job = {key, stateOf(key, values[2], reason), values[5], values[4], values[6], reason and string.sub(reason, 1, ARGV[5])}
    for at = 1, ${WIDTH} do found[#found + 1] = job[at] or '' end
  end
end
return found`);

/**
 * Reads the state, parent, status and failure of the jobs of a run: at most 20,000, in one command for each 500 of them.
 * @param tenant Only jobs of this tenant.
 */
export async function scanRun(fleet: FleetClient, run: string, tenant?: string): Promise<RunScan> {
  const { client, prefix } = fleet;
  const jobs = new Map<string, ScannedJob>();
  for (let start = 0; start < MOST; start += PAGE) {
    const args = [start, start + PAGE - 1, CANCELLED_FIELD, STATUS_FIELD, REASON_BYTES, tenant ?? ''];
    const [entries, ...values] = replyList(await runScript(client, SCAN, [runKey(prefix, run)], args));
    for (let at = 0; at < values.length; at += WIDTH) {
      const job = jobOf(values.slice(at, at + WIDTH));
      // A job that is submitted meanwhile shifts those after it.
      if (job !== undefined) jobs.set(job.key, job);
    }
    if (Number(entries) < PAGE) return { jobs: [...jobs.values()], isCut: false };
  }
  return { jobs: [...jobs.values()], isCut: (await client.zcard(runKey(prefix, run))) > MOST };
}

function jobOf(values: readonly ScriptReply[]): ScannedJob | undefined {
  const text = (at: number) => replyText(values[at]) || undefined;
  const key = text(0) ?? '';
  if (!isJobKey(key)) return undefined;
  const { queue, id } = parseJobKey(key);
  const parentKey = text(3) ?? '';
  const state = JOB_STATES.find((name) => name === text(1)) ?? 'waiting';
  return {
    key,
    queue,
    id,
    state: publicState(state, text(2) !== undefined),
    parentKey: isJobKey(parentKey) ? parentKey : undefined,
    status: text(4),
    reason: text(5),
  };
}
