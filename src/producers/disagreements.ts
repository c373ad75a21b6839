import { z } from 'zod';
import { type OptionNames, rejectUnknownOptions } from '../known-options.js';
import { replyList, replyText, runScript, script } from '../queues/run-script.js';
import { FindingSchema, SolutionCheckResultSchema } from '../queues/solution-check.js';
import type { FleetClient } from './fleet-client.js';
import { summarizeJobs } from './job-summaries.js';

/** A script of which static analysis was certain, and about which the agent said something else. */
export interface Disagreement {
  /** Id of the job. */
  readonly id: string;
  readonly run?: string;
  readonly tenant?: string;
  /** When the job ended, ISO 8601. */
  readonly endedAt?: string;
  readonly solutionDigest: string;
  /** What each of them says of the script. */
  readonly analysis: 'leaky' | 'clean';
  readonly agent: 'leaky' | 'clean';
  /** The leaks that one of them named: who, of which kind, and why. */
  readonly leaks: readonly DisputedLeak[];
}

export interface DisputedLeak {
  readonly source?: 'agent' | 'analysis';
  readonly kind?: string;
  /** First line of its block. */
  readonly line: string;
  readonly reason?: string;
}

export interface DisagreementFilter {
  /** Only jobs of this pipeline run (`tags.run`). */
  readonly run?: string;
  /** Maximum number of entries; default 100. */
  readonly limit?: number;
}

const FILTER_FIELDS: OptionNames<DisagreementFilter> = { run: true, limit: true };

/** How many jobs one script reads, so that Redis serves other clients in between. */
const PAGE = 500;

/**
 * KEYS: 1 completed jobs. ARGV: 1 beginning of the keys of jobs, 2-3 first and last index from the newest. Returns how many were
 * read, and the ids and results of those whose audit disagrees. Quotes inside of texts are escaped in JSON, so no text looks like it.
 */
const FIND = script(`
local ids = redis.call('ZREVRANGE', KEYS[1], ARGV[2], ARGV[3])
local found = {}
for _, id in ipairs(ids) do
  local result = redis.pcall('HGET', ARGV[1] .. id, 'returnvalue')
  if type(result) == 'string' and string.find(result, '"audit":{"agrees":false', 1, true) then
    found[#found + 1] = id
    found[#found + 1] = result
  end
end
return {#ids, found}`);

/** The part of a result that is shown. */
const AuditedSchema = z.object({
  solutionDigest: z.string(),
  staticFirst: SolutionCheckResultSchema.shape.staticFirst.unwrap(),
  findings: z.array(FindingSchema),
});

/**
 * Checks with `static-first` in which the agent, asked for comparison (`FLEET_AUDIT_SHARE`), said something else than the analysis:
 * newest first, as long as their jobs are stored.
 */
export async function listDisagreements(
  fleet: FleetClient,
  filter: DisagreementFilter = {},
): Promise<Disagreement[]> {
  rejectUnknownOptions(filter, FILTER_FIELDS);
  const { run, limit = 100 } = filter;
  const found: Disagreement[] = [];
  for await (const { id, result } of audited(fleet)) {
    const [job] = await summarizeJobs(fleet, [
      { kind: 'solution-check', queue: fleet.queue('solution-check'), id },
    ]);
    const shown = AuditedSchema.safeParse(JSON.parse(result)).data;
    const audit = shown?.staticFirst.audit;
    if (job === undefined || shown === undefined || audit === undefined || audit.agrees) continue;
    if (run !== undefined && job.tags.run !== run) continue;
    found.push({
      id,
      ...(job.tags.run === undefined ? {} : { run: job.tags.run }),
      ...(job.tenant === undefined ? {} : { tenant: job.tenant }),
      ...(job.endedAt === undefined ? {} : { endedAt: job.endedAt }),
      solutionDigest: shown.solutionDigest,
      analysis: audit.analysis,
      agent: audit.agent,
      leaks: shown.findings.flatMap(disputed),
    });
    if (found.length >= limit) break;
  }
  return found;
}

/** Jobs whose audit disagrees, newest first. A job that completes meanwhile shifts the pages, so one may come twice. */
async function* audited(
  fleet: FleetClient,
): AsyncGenerator<{ readonly id: string; readonly result: string }> {
  const queue = fleet.queue('solution-check');
  const seen = new Set<string>();
  for (let start = 0; ; start += PAGE) {
    const args = [queue.toKey(''), start, start + PAGE - 1];
    const reply = await runScript(fleet.client, FIND, [queue.toKey('completed')], args);
    const [read, found] = replyList(reply);
    const pairs = replyList(found ?? []).map((text) => replyText(text) ?? '');
    for (let at = 0; at < pairs.length; at += 2) {
      const [id = '', result = ''] = pairs.slice(at, at + 2);
      if (!seen.has(id)) yield { id, result };
      seen.add(id);
    }
    if (Number(read) < PAGE) return;
  }
}

function disputed({
  leakageStatus,
  source,
  kind,
  codeBlock,
  reason,
}: z.infer<typeof FindingSchema>): DisputedLeak[] {
  if (leakageStatus === 'No Data Leakage') return [];
  const [line = ''] = codeBlock.trim().split('\n');
  return [
    {
      line,
      ...(source === undefined ? {} : { source }),
      ...(kind === undefined ? {} : { kind }),
      ...(reason === undefined ? {} : { reason }),
    },
  ];
}
