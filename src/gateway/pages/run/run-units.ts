import type { ScannedJob } from '../../../producers/scan-run.js';
import { failedChildOf } from '../../../queues/child-failure.js';
import { decodeFailure, type JobFailure } from '../../../queues/failure.js';

/**
 * What a row of a run's page is about: a candidate, which is an evaluation with its check or a check of its own, or another job.
 * The jobs that it started belong to it.
 */
export interface RunUnit {
  readonly root: ScannedJob;
  /** The jobs that it waits or waited for, without those with a unit of their own. */
  readonly members: readonly ScannedJob[];
  readonly isCandidate: boolean;
  /** What came of it, in a word. */
  readonly status: string | undefined;
  /** The first failure, where the unit failed because of it. */
  readonly cause: { readonly job: ScannedJob; readonly failure: JobFailure } | undefined;
}

/** How deep jobs are nested at most; damaged records may go round in circles. */
const MAX_DEPTH = 16;
const CHECK = 'solution-check';

/**
 * Groups the jobs of a run, failed ones first, then those that have not ended, newest first.
 * @param isKind Whether a queue is that of a kind; the others are the pipeline's.
 */
export function unitsOf(jobs: readonly ScannedJob[], isKind: (queue: string) => boolean): RunUnit[] {
  const byKey = new Map(jobs.map((job) => [job.key, job]));
  const parentOf = ({ parentKey }: ScannedJob) =>
    parentKey === undefined ? undefined : byKey.get(parentKey);
  const withCheck = new Set<string>();
  const collectors = new Set<string>();
  for (const job of jobs) {
    const parent = parentOf(job);
    if (parent === undefined || isKind(parent.queue)) continue;
    if (job.queue === CHECK) withCheck.add(parent.key);
    // The job after a batch waits for evaluations, which are rows of their own.
    if (!isKind(job.queue)) collectors.add(parent.key);
  }
  const isCandidate = (job: ScannedJob) => {
    if (withCheck.has(job.key)) return true;
    const parent = parentOf(job);
    return job.queue === CHECK && (parent === undefined || (isKind(parent.queue) && parent.queue !== CHECK));
  };
  const rootOf = (job: ScannedJob, depth = 0): ScannedJob => {
    const parent = parentOf(job);
    if (parent === undefined || depth === MAX_DEPTH) return job;
    return isCandidate(job) || collectors.has(parent.key) ? job : rootOf(parent, depth + 1);
  };
  const members = new Map<string, ScannedJob[]>();
  for (const job of jobs) {
    const root = rootOf(job);
    const others = members.get(root.key) ?? [];
    if (job !== root) others.push(job);
    members.set(root.key, others);
  }
  return [...members]
    .flatMap(([key, others]) => {
      const root = byKey.get(key);
      return root === undefined ? [] : [{ root, members: others, isCandidate: isCandidate(root) }];
    })
    .map((unit) => ({ ...unit, status: statusOf(unit), cause: causeOf(unit.root, byKey) }))
    .sort((a, b) => rankOf(a.root) - rankOf(b.root));
}

function statusOf(unit: Pick<RunUnit, 'root' | 'members'>): string | undefined {
  return unit.root.status ?? checkOf(unit)?.status;
}

/** The check of a candidate: itself, or the one that its evaluation waits for. */
export function checkOf({ root, members }: Pick<RunUnit, 'root' | 'members'>): ScannedJob | undefined {
  if (root.queue === CHECK) return root;
  return members.find(({ queue, parentKey }) => queue === CHECK && parentKey === root.key);
}

/** The failure that a failed job has, or that of the child because of which it failed. */
function causeOf(job: ScannedJob, byKey: ReadonlyMap<string, ScannedJob>, depth = 0): RunUnit['cause'] {
  if (job.state !== 'failed') return undefined;
  const reason = job.reason ?? 'no reason was recorded';
  const child = byKey.get(failedChildOf(reason) ?? '');
  // A pipeline's program may have written the text.
  const own =
    child?.parentKey === job.key && depth < MAX_DEPTH ? causeOf(child, byKey, depth + 1) : undefined;
  return own ?? { job, failure: decodeFailure(reason) };
}

/** The order of rows. */
export const STATE_GROUPS = ['failed', 'unfinished', 'completed', 'cancelled'] as const;
export type StateGroup = (typeof STATE_GROUPS)[number];

export function groupOf({ state }: Pick<ScannedJob, 'state'>): StateGroup {
  return STATE_GROUPS.find((group) => group === state) ?? 'unfinished';
}

function rankOf(job: ScannedJob): number {
  return STATE_GROUPS.indexOf(groupOf(job));
}

/** Why units of a run failed. */
export interface FailureCause {
  readonly code: JobFailure['code'];
  readonly count: number;
  /** The newest of them. */
  readonly example: { readonly job: ScannedJob; readonly message: string };
}

/** The causes of the failures, the most frequent first. */
export function causesOf(units: readonly RunUnit[]): FailureCause[] {
  const causes = new Map<string, FailureCause>();
  for (const { cause } of units) {
    if (cause === undefined) continue;
    const { code, message } = cause.failure;
    const before = causes.get(code);
    const example = before?.example ?? { job: cause.job, message };
    causes.set(code, { code, count: (before?.count ?? 0) + 1, example });
  }
  return [...causes.values()].sort((a, b) => b.count - a.count);
}
