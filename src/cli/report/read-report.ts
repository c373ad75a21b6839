import { z } from 'zod';
import { costsOfRun } from '../../calls/budget/read-costs.js';
import { ERROR_TABLE } from '../../errors.js';
import { mapInChunks } from '../../event-loop.js';
import { causesOf, checkOf, groupOf, type RunUnit, unitsOf } from '../../gateway/pages/run/run-units.js';
import { locationOf } from '../../producers/find-job.js';
import type { FleetClient } from '../../producers/fleet-client.js';
import { type JobSummary, summarizeJobs } from '../../producers/job-summaries.js';
import { type ScannedJob, scanRun } from '../../producers/scan-run.js';
import { UNKNOWN_TIME } from '../../queues/damaged-job.js';
import type { JobFailure } from '../../queues/failure.js';
import { readRecord } from '../../queues/read-record.js';
import {
  CHECK_STATUSES,
  type CheckStatus,
  FindingSchema,
  SolutionCheckResultSchema,
} from '../../queues/solution-check.js';
import { addUsage, NO_USAGE } from '../../queues/usage.js';
import { type ReportRow, ROW_STATUSES, type RowStatus, type RunReport } from './run-report.js';

const { status, notAnalyzed, contamination } = SolutionCheckResultSchema.shape;
const { leakageStatus, kind, severity, outcome } = FindingSchema.shape;

/** The part of a check's result that a report has. */
const CheckedSchema = z.object({
  status,
  notAnalyzed,
  contamination,
  findings: z.array(z.object({ leakageStatus, kind, severity, outcome })),
});
type Checked = z.infer<typeof CheckedSchema>;

/** Largest result of a check that is read, in bytes; of a larger one, the report has the status alone. */
const MAX_RESULT_BYTES = 4 * 2 ** 20;

/** What the statuses of `contamination` jobs are called in the result of a check. */
const COMPARISONS: Readonly<Record<string, NonNullable<ReportRow['contamination']>['status']>> = {
  contaminated: 'contaminated',
  'not contaminated': 'clean',
  'not compared': 'not-compared',
};

/**
 * What became of a run: the candidates with their checks, failed ones first, then those that are left leaky, and what all of it cost.
 * It reads the stored jobs, at most 20,000 of them, and the fleet's account of the run, which also has the calls of jobs that are
 * removed. A run that nobody knows has no jobs.
 */
export async function readReport(fleet: FleetClient, run: string): Promise<RunReport> {
  const [{ jobs, isCut }, costs] = await Promise.all([
    scanRun(fleet, run),
    costsOfRun(fleet.client, fleet.prefix, run),
  ]);
  const found = await summarizeJobs(
    fleet,
    jobs.map(({ queue, id }) => locationOf(fleet, id, queue)),
  );
  const summaries = new Map(jobs.map(({ key }, at) => [key, found[at]]));
  const units = unitsOf(jobs, (queue) => fleet.kinds.has(queue));
  const rows = await mapInChunks(units, (unit) => readRow(fleet, unit, summaries));
  const candidates = rows.filter((_, at) => units[at]?.isCandidate === true).sort(byStatus);
  const others = rows
    .filter((row, at) => units[at]?.isCandidate === false && (row.status === 'failed' || isCopy(row)))
    .sort(byStatus);
  const first = timesOf(found, 'createdAt')[0];
  const last = timesOf(found, 'endedAt').at(-1);
  const { spentUsd, inDoubtUsd, budgetUsd, calls, callsInDoubt, unpricedCalls, batchCalls } = costs;
  const { reusedCalls, reusedUsd, cacheReadFraction } = costs;
  return {
    run,
    at: new Date().toISOString(),
    totals: {
      jobs: jobs.length,
      isCut,
      candidates: candidates.length,
      statuses: countsOf(candidates),
      copies: [...candidates, ...others].filter(isCopy).length,
      ...{ spentUsd, inDoubtUsd, budgetUsd, calls, callsInDoubt, unpricedCalls, batchCalls },
      ...{ reusedCalls, reusedUsd, cacheReadFraction },
      ...(first === undefined ? {} : { firstSubmittedAt: first }),
      ...(last === undefined ? {} : { lastEndedAt: last }),
      ...durationOf(first, last),
    },
    failures: causesOf(units).map(({ code, count, example: { job, message } }) => ({
      code,
      count,
      example: failureOf(job, { code, message }),
      whatToDo: ERROR_TABLE[code].whatToDo,
    })),
    candidates,
    others,
  };
}

/** Whether the text of a row is a copy of a known solution. */
export function isCopy({ contamination }: Pick<ReportRow, 'contamination'>): boolean {
  return contamination?.status === 'contaminated';
}

function countsOf(rows: readonly ReportRow[]): Record<RowStatus, number> {
  const counts = Object.fromEntries(ROW_STATUSES.map((status) => [status, 0])) as Record<RowStatus, number>;
  for (const { status } of rows) counts[status] += 1;
  return counts;
}

function byStatus(a: ReportRow, b: ReportRow): number {
  return (
    ROW_STATUSES.indexOf(a.status) - ROW_STATUSES.indexOf(b.status) ||
    Number(isCopy(b)) - Number(isCopy(a)) ||
    nameOf(a).localeCompare(nameOf(b), 'en', { numeric: true })
  );
}

/** The name by which people know a row: the key of its submission, or its id. */
export function nameOf({ key, id }: Pick<ReportRow, 'key' | 'id'>): string {
  return key ?? id;
}

async function readRow(
  fleet: FleetClient,
  unit: RunUnit,
  summaries: ReadonlyMap<string, JobSummary | undefined>,
): Promise<ReportRow> {
  const { root, members, cause } = unit;
  const usage = [root, ...members]
    .flatMap(({ key }) => summaries.get(key)?.usage ?? [])
    .reduce(addUsage, NO_USAGE);
  const summary = summaries.get(root.key);
  const [submittedAt] = timesOf([summary], 'createdAt');
  const [endedAt] = timesOf([summary], 'endedAt');
  const check = checkOf(unit);
  const checked = check === undefined ? undefined : await checkedOf(fleet, check);
  const leakage = checked?.status ?? CHECK_STATUSES.find((name) => name === check?.status?.split(',')[0]);
  return {
    ...(summary?.key === undefined ? {} : { key: summary.key }),
    id: root.id,
    kind: root.queue,
    state: root.state,
    status: rowStatusOf(unit, leakage, checked?.notAnalyzed),
    ...(leakage === undefined ? {} : { leakage }),
    leaks: (checked?.findings ?? []).flatMap(({ leakageStatus, ...leak }) =>
      leakageStatus === 'Yes Data Leakage' ? [leak] : [],
    ),
    ...(checked?.notAnalyzed === undefined ? {} : { notAnalyzed: checked.notAnalyzed }),
    ...comparisonOf(unit, checked),
    ...(cause === undefined ? {} : { failure: failureOf(cause.job, cause.failure) }),
    calls: usage.calls,
    reusedCalls: usage.reusedCalls,
    costUsd: usage.costUsd,
    ...(submittedAt === undefined ? {} : { submittedAt }),
    ...(endedAt === undefined ? {} : { endedAt }),
    ...durationOf(submittedAt, endedAt),
  };
}

/** What is shown of the result of a check; undefined if it has none, or one that cannot be read. */
async function checkedOf({ client }: FleetClient, { key }: ScannedJob): Promise<Checked | undefined> {
  if ((await client.hstrlen(key, 'returnvalue')) > MAX_RESULT_BYTES) return undefined;
  return readRecord(CheckedSchema, await client.hget(key, 'returnvalue'))?.value;
}

function rowStatusOf(
  unit: RunUnit,
  leakage: CheckStatus | undefined,
  notAnalyzed: string | undefined,
): RowStatus {
  const group = groupOf(unit.root);
  if (group === 'failed' || group === 'cancelled') return group;
  if (group === 'unfinished') return 'not-ended';
  if (leakage === undefined) return 'unknown';
  if (leakage === 'uncorrected' || leakage === 'partly-corrected') return 'left-leaky';
  return leakage === 'clean' && notAnalyzed !== undefined ? 'not-checked' : leakage;
}

/** How its text compares with the known solutions: as the check says, or a job that only compares. */
function comparisonOf(
  { root, members }: RunUnit,
  checked: Checked | undefined,
): Pick<ReportRow, 'contamination'> {
  if (checked?.contamination !== undefined) {
    const { digest: _, ...comparison } = checked.contamination;
    return { contamination: comparison };
  }
  const job = [root, ...members].find(({ queue }) => queue === 'contamination');
  const status = job?.status === undefined ? undefined : COMPARISONS[job.status];
  return status === undefined ? {} : { contamination: { status } };
}

function failureOf(
  { id, queue }: ScannedJob,
  { code, message }: Pick<JobFailure, 'code' | 'message'>,
): NonNullable<ReportRow['failure']> {
  return { code, message, jobId: id, kind: queue };
}

/** The known times of jobs, the earliest first. */
function timesOf(summaries: readonly (JobSummary | undefined)[], field: 'createdAt' | 'endedAt'): string[] {
  return summaries
    .flatMap((summary) => summary?.[field] ?? [])
    .filter((time) => time !== UNKNOWN_TIME)
    .sort();
}

function durationOf(from: string | undefined, to: string | undefined): { readonly milliseconds?: number } {
  if (from === undefined || to === undefined) return {};
  return { milliseconds: Math.max(0, Date.parse(to) - Date.parse(from)) };
}
