import { z } from 'zod';
import { JobFailureSchema } from '../../queues/failure.js';
import { CHECK_STATUSES, FindingSchema } from '../../queues/solution-check.js';
import { ScriptContaminationSchema } from '../../queues/test-case.js';

const count = z.int().nonnegative();
const dollars = z.number().nonnegative();
const time = z.iso.datetime();

/** What came of a candidate, in the order in which a report lists them. */
export const ROW_STATUSES = [
  ...(['failed', 'left-leaky', 'not-checked', 'not-ended', 'cancelled', 'unknown'] as const),
  ...(['corrected', 'clean'] as const),
] as const;
export type RowStatus = (typeof ROW_STATUSES)[number];

const { kind, severity, outcome } = FindingSchema.shape;
/** A leak that a check found. */
const ReportedLeakSchema = z.strictObject({ kind, severity, outcome });

const FailureSchema = z.strictObject({
  code: JobFailureSchema.shape.code,
  /** May be cut. */
  message: z.string(),
  /** The job that failed first: the row's own, or one that it waited for. */
  jobId: z.string(),
  kind: z.string(),
});

/** A candidate, or another job of the run, with the jobs that it waited for. */
const ReportRowSchema = z.strictObject({
  /** The key of the submission; absent if it had none. */
  key: z.string().optional(),
  id: z.string(),
  kind: z.string(),
  state: z.string(),
  status: z.enum(ROW_STATUSES),
  /** What the leakage check said, also where the candidate failed later. */
  leakage: z.enum(CHECK_STATUSES).optional(),
  leaks: z.array(ReportedLeakSchema),
  /** Why nobody checked the script. */
  notAnalyzed: z.string().optional(),
  /** How the text compares with the known solutions. */
  contamination: z
    .strictObject({
      status: ScriptContaminationSchema.shape.status,
      testCaseId: z.string().optional(),
      confidence: z.number().optional(),
      reason: z.string().optional(),
    })
    .optional(),
  failure: FailureSchema.optional(),
  /** Of all jobs of the row. */
  calls: count,
  reusedCalls: count,
  /** null: a price is not known. */
  costUsd: dollars.nullable(),
  submittedAt: time.optional(),
  endedAt: time.optional(),
  /** From submission to end. */
  milliseconds: count.optional(),
});
export type ReportRow = z.infer<typeof ReportRowSchema>;

/** What became of a run. `fleet report --json` prints it. */
export const RunReportSchema = z.strictObject({
  run: z.string(),
  at: time,
  totals: z.strictObject({
    jobs: count,
    /** Whether the run has more jobs than were read; the oldest are left out. */
    isCut: z.boolean(),
    candidates: count,
    /** Candidates by status. */
    statuses: z.record(z.enum(ROW_STATUSES), count),
    /** Candidates and other jobs whose text is a copy of a known solution. */
    copies: count,
    spentUsd: dollars,
    inDoubtUsd: dollars,
    /** null: no limit. */
    budgetUsd: dollars.nullable(),
    calls: count,
    callsInDoubt: count,
    unpricedCalls: count,
    /** Calls that were answered in batches: a part of `calls`. */
    batchCalls: count,
    /** Calls that were answered from the ledgers of other jobs: no part of `calls`. */
    reusedCalls: count,
    /** What these answers had cost there. */
    reusedUsd: dollars,
    /** Part of all input that was read from the prompt cache, from 0 to 1; null without input. */
    cacheReadFraction: z.number().min(0).max(1).nullable(),
    firstSubmittedAt: time.optional(),
    lastEndedAt: time.optional(),
    milliseconds: count.optional(),
  }),
  /** Why jobs failed, the most frequent code first. */
  failures: z.array(
    z.strictObject({
      code: JobFailureSchema.shape.code,
      count,
      example: FailureSchema,
      whatToDo: z.string(),
    }),
  ),
  candidates: z.array(ReportRowSchema),
  /** Jobs that belong to no candidate and failed, or whose text is a copy. */
  others: z.array(ReportRowSchema),
});
export type RunReport = z.infer<typeof RunReportSchema>;
