import { mapInChunks } from '../../../event-loop.js';
import { locationOf } from '../../../producers/find-job.js';
import type { FleetClient } from '../../../producers/fleet-client.js';
import { jobIdForKey } from '../../../producers/job-id.js';
import { type JobSummary, summarizeJobs } from '../../../producers/job-summaries.js';
import { type ScannedJob, scanRun } from '../../../producers/scan-run.js';
import { readRecord } from '../../../queues/read-record.js';
import { ScoreAnswerSchema } from '../../../queues/refinement-requests.js';
import { servedQueues } from '../../../queues/served-queues.js';
import { addUsage, NO_USAGE, type Usage } from '../../../queues/usage.js';
import { ownKeyOf } from '../../auth/tenant.js';
import type { Spending } from '../../costs.js';
import type { Gateway } from '../../gateway.js';
import { kindWithoutWorker, type Problem, queueWithoutProgram } from '../problems.js';
import { causesOf, type FailureCause, groupOf, type RunUnit, type StateGroup, unitsOf } from './run-units.js';

/** What of a run a page shows. */
export interface RunQuery {
  readonly name: string;
  /** Only units in these states. */
  readonly state?: StateGroup | undefined;
  /** Only units that failed with this code. */
  readonly code?: string | undefined;
  /** Only the unit of this job, and those that it waits for. */
  readonly job?: string | undefined;
  /** Only the unit that was submitted under this key. */
  readonly key?: string | undefined;
  /** Page of the candidates and of the other jobs, from 1. */
  readonly page: number;
  readonly others: number;
}

/** A row with what is read only of the jobs on the page. */
export interface UnitRow {
  readonly unit: RunUnit;
  /** The root and as many members as are read. */
  readonly jobs: readonly JobSummary[];
  readonly summary: JobSummary | undefined;
  /** Sum over `jobs`. */
  readonly usage: Usage;
  /** Whether there are more jobs than are read. */
  readonly isCut: boolean;
  readonly score: number | undefined;
}

/** One page of rows. */
export interface Rows {
  readonly rows: readonly UnitRow[];
  /** Rows on all pages. */
  readonly total: number;
  readonly page: number;
  readonly pages: number;
}

/** Scores of evaluated candidates in the order of their submission. */
type Scores = readonly { readonly unit: RunUnit; readonly score: number }[];

export interface RunPage {
  readonly query: RunQuery;
  readonly at: Date;
  /** Number of jobs that were read. */
  readonly total: number;
  readonly isCut: boolean;
  /** Candidates by state, whatever the filter. */
  readonly counts: Readonly<Record<StateGroup, number>>;
  readonly spending: Spending;
  /** Jobs that wait in vain. */
  readonly problems: readonly Problem[];
  readonly causes: readonly FailureCause[];
  readonly candidates: Rows;
  readonly others: Rows;
  readonly scores: Scores;
}

const ROWS_A_PAGE = 25;
/** Jobs of one row that are read. */
const MAX_JOBS_OF_ROW = 8;
/** The same where the page is about one job. */
const MAX_JOBS_OF_ONE = 200;
/** Candidates whose scores are drawn. */
const MAX_SCORES = 100;
/** Largest result of a pipeline's job that is read to find its score, in bytes. */
const MAX_RESULT_BYTES = 65_536;

/** What the page of a run shows. The number of commands to Redis does not depend on the number of jobs, except for the scan. */
export async function readRun(gateway: Gateway, query: RunQuery, tenant?: string): Promise<RunPage> {
  const { fleet, costs } = gateway;
  const [{ jobs, isCut }, spending, served] = await Promise.all([
    scanRun(fleet, query.name, tenant),
    costs.ofRun(fleet, query.name, tenant),
    servedQueues(fleet.client, fleet.prefix),
  ]);
  const units = unitsOf(jobs, (queue) => fleet.kinds.has(queue));
  const candidates = units.filter(({ isCandidate }) => isCandidate);
  const counts = { failed: 0, unfinished: 0, completed: 0, cancelled: 0 };
  for (const { root } of candidates) counts[groupOf(root)] += 1;
  const shown = units.filter(filterOf(query, jobs, tenant));
  const [shownCandidates, others, scores] = await Promise.all([
    readRows(
      fleet,
      shown.filter(({ isCandidate }) => isCandidate),
      query.page,
      query.job !== undefined,
    ),
    readRows(
      fleet,
      shown.filter(({ isCandidate }) => !isCandidate),
      query.others,
      query.job !== undefined,
    ),
    latestScores(fleet, candidates),
  ]);
  return {
    query,
    at: new Date(),
    total: jobs.length,
    isCut,
    counts,
    spending,
    problems: served === undefined ? [] : unservedProblems(fleet, jobs, served, tenant !== undefined),
    causes: causesOf(units),
    candidates: shownCandidates,
    others,
    scores,
  };
}

/** @param isBound Whether the reader may not learn the names of other queues. */
function unservedProblems(
  fleet: FleetClient,
  jobs: readonly ScannedJob[],
  served: ReadonlySet<string>,
  isBound: boolean,
): Problem[] {
  const waiting = new Map<string, number>();
  for (const { queue, state } of jobs) {
    if (state === 'waiting' && !served.has(queue)) waiting.set(queue, (waiting.get(queue) ?? 0) + 1);
  }
  return [...waiting].map(([queue, count]) =>
    fleet.kinds.has(queue)
      ? kindWithoutWorker(queue, count)
      : queueWithoutProgram(queue, count, isBound ? new Set() : served),
  );
}

function filterOf(
  { state, code, job, key }: RunQuery,
  jobs: readonly ScannedJob[],
  tenant: string | undefined,
): (unit: RunUnit) => boolean {
  const ofKey = key === undefined ? undefined : idsOfKey(key, jobs, tenant);
  const parent = jobs.find(({ id }) => id === job)?.key;
  return ({ root, members, cause }) => {
    if (state !== undefined && groupOf(root) !== state) return false;
    if (code !== undefined && cause?.failure.code !== code) return false;
    const all = [root, ...members];
    if (ofKey !== undefined && !all.some(({ id }) => ofKey.has(id))) return false;
    if (job === undefined || all.some(({ id }) => id === job)) return true;
    return parent !== undefined && root.parentKey === parent;
  };
}

/** Ids that a key of a submission can stand for in the queues of the run. */
function idsOfKey(key: string, jobs: readonly ScannedJob[], tenant: string | undefined): ReadonlySet<string> {
  const queues = new Set(jobs.map(({ queue }) => queue));
  return new Set([...queues].map((queue) => jobIdForKey(queue, ownKeyOf(tenant, key))));
}

async function readRows(
  fleet: FleetClient,
  units: readonly RunUnit[],
  requested: number,
  isOne: boolean,
): Promise<Rows> {
  const pages = Math.max(1, Math.ceil(units.length / ROWS_A_PAGE));
  const page = Math.min(requested, pages);
  const shown = units.slice((page - 1) * ROWS_A_PAGE, page * ROWS_A_PAGE);
  const most = isOne && shown.length === 1 ? MAX_JOBS_OF_ONE : MAX_JOBS_OF_ROW;
  const rows = await mapInChunks(shown, (unit) => readRow(fleet, unit, most));
  return { rows, total: units.length, page, pages };
}

async function readRow(fleet: FleetClient, unit: RunUnit, most: number): Promise<UnitRow> {
  const all = [unit.root, ...unit.members];
  const read = await summarizeJobs(
    fleet,
    all.slice(0, most).map(({ queue, id }) => locationOf(fleet, id, queue)),
  );
  const jobs = read.filter((summary) => summary !== undefined);
  return {
    unit,
    jobs,
    summary: read[0],
    usage: jobs.map(({ usage }) => usage).reduce(addUsage, NO_USAGE),
    isCut: all.length > most,
    score: await scoreOf(fleet, unit),
  };
}

/** The score that the pipeline, or a refinement loop, returned. */
async function scoreOf(fleet: FleetClient, { root }: RunUnit): Promise<number | undefined> {
  if (root.state !== 'completed') return undefined;
  if ((await fleet.client.hstrlen(root.key, 'returnvalue')) > MAX_RESULT_BYTES) return undefined;
  return readRecord(ScoreAnswerSchema, await fleet.client.hget(root.key, 'returnvalue'))?.value;
}

async function latestScores(fleet: FleetClient, candidates: readonly RunUnit[]): Promise<Scores> {
  const evaluated = candidates.filter(
    ({ root }) => root.state === 'completed' && !fleet.kinds.has(root.queue),
  );
  const latest = evaluated.slice(0, MAX_SCORES).reverse();
  const scores = await mapInChunks(latest, (unit) => scoreOf(fleet, unit));
  return latest.flatMap((unit, at) => {
    const score = scores[at];
    return score === undefined ? [] : [{ unit, score }];
  });
}
