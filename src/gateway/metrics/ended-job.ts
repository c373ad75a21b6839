import { z } from 'zod';
import { decodeFailure } from '../../queues/failure.js';
import { RESULT_FIELD, RESULT_TIME_FIELD, STARTED_FIELD } from '../../queues/follow-ups/own-result.js';
import { NO_USAGE, type Usage, UsageSchema } from '../../queues/usage.js';
import { DURATION_BOUNDS, totalField } from './statistics-keys.js';

const AuditSchema = z.object({
  staticFirst: z.object({
    audit: z.object({ agrees: z.boolean(), analysis: z.string(), agent: z.string() }),
  }),
});
type Audit = z.infer<typeof AuditSchema>['staticFirst']['audit'];

type Outcome = 'completed' | 'failed' | 'cancelled';

/** What the statistics take from a job that has ended. */
export interface EndedJob {
  readonly kind: string;
  readonly outcome: Outcome;
  /** Error code of a failed job; `none` otherwise. */
  readonly reason: string;
  readonly endedAt: number;
  /**
   * From the start of the last attempt to the end, in milliseconds; undefined if it never started. A job with follow-ups ends
   * here with its result, and does not count the wait for them.
   */
  readonly durationMs: number | undefined;
  readonly usage: Usage;
  /** What the agent said of a script that static analysis was certain of, if it was asked for comparison. */
  readonly audit?: Audit | undefined;
}

/** Fields of a job's hash that are needed, in the order that `endedJob` takes their values. */
export const ENDED_JOB_FIELDS = [
  'finishedOn',
  'processedOn',
  'failedReason',
  'returnvalue',
  'fleet:usage',
  'fleet:cancelled',
  RESULT_FIELD,
  STARTED_FIELD,
  RESULT_TIME_FIELD,
] as const;

function parsed(text: string | null | undefined): unknown {
  return text === null || text === undefined || text === '' ? undefined : JSON.parse(text);
}

/**
 * Reads an ended job from the values of its fields; undefined if the job is gone or was retried meanwhile (it will end
 * again).
 */
export function endedJob(
  kind: string,
  event: 'completed' | 'failed',
  values: readonly (string | null | undefined)[],
): EndedJob | undefined {
  const [finishedOn, processedOn, failedReason, returned, failedUsage, cancelled, own, started, resultOn] =
    values;
  if (!finishedOn) return undefined;
  const failure = event === 'failed' ? decodeFailure(failedReason ?? '') : undefined;
  const isCancelled = event === 'failed' && (cancelled !== null || failure?.code === 'job-cancelled');
  // A job that was cancelled while it waited for its follow-ups has paid for its result.
  const result = parsed(returned ?? own);
  const usage = UsageSchema.safeParse(
    (result as { usage?: unknown } | undefined)?.usage ?? parsed(failedUsage),
  );
  const [start, end] = started && resultOn ? [started, resultOn] : [processedOn, finishedOn];
  return {
    kind,
    outcome: isCancelled ? 'cancelled' : event,
    reason: failure === undefined || isCancelled ? 'none' : failure.code,
    endedAt: Number(finishedOn),
    durationMs: start ? Math.max(0, Number(end) - Number(start)) : undefined,
    usage: usage.data ?? NO_USAGE,
    audit: AuditSchema.safeParse(result).data?.staticFirst.audit,
  };
}

/** What an ended job adds to the totals. */
export function totalsOf({
  kind,
  outcome,
  reason,
  durationMs,
  usage,
  audit,
}: EndedJob): [field: string, by: number][] {
  const sums: [string, number][] = [
    [totalField('jobs', kind, outcome, reason), 1],
    [totalField('calls', kind, 'sent'), usage.calls],
    [totalField('calls', kind, 'reused'), usage.reusedCalls],
    [totalField('tokens', kind, 'input'), usage.inputTokens],
    [totalField('tokens', kind, 'output'), usage.outputTokens],
    [totalField('tokens', kind, 'cache-read'), usage.cacheReadTokens],
    [totalField('tokens', kind, 'cache-write'), usage.cacheWriteTokens],
    [totalField('cost', kind), usage.costUsd ?? 0],
    [totalField('unpriced', kind), usage.costUsd === null ? 1 : 0],
  ];
  if (audit !== undefined) sums.push([totalField('audits', kind), 1]);
  if (audit?.agrees === false) sums.push([totalField('disagreements', kind, audit.analysis, audit.agent), 1]);
  if (durationMs !== undefined) {
    const seconds = durationMs / 1_000;
    const bound = DURATION_BOUNDS.find((limit) => seconds <= limit);
    sums.push([totalField('duration', kind, bound === undefined ? 'more' : String(bound)), 1]);
    sums.push([totalField('duration-sum', kind), seconds]);
  }
  return sums.filter(([, by]) => by !== 0);
}
