import { latestRuns } from '../../producers/run-view.js';
import { servedQueues } from '../../queues/served-queues.js';
import type { BatchedCalls, BlockedModel, Spending } from '../costs.js';
import type { Gateway } from '../gateway.js';
import { type Depth, readDepth } from '../metrics/depth.js';
import { type PipelineDepth, readPipelineDepths } from '../metrics/pipeline-depths.js';
import { type MinuteCounts, percentile } from '../metrics/statistics.js';
import { kindWithoutWorker, type Problem, queueWithoutProgram } from './problems.js';
import { listWorkers, type WorkerView } from './workers.js';

/** Minutes that the charts show. */
const SPARK_MINUTES = 30;
const THROUGHPUT_MINUTES = 5;
const RUNS_SHOWN = 5;

/** What the overview shows of one kind. */
export interface KindOverview {
  readonly kind: string;
  readonly depth: Depth;
  /** Ended jobs per minute over the last minutes. */
  readonly perMinute: number;
  /** Jobs that ended with a failure in the last minutes. */
  readonly recentFailures: number;
  readonly p50Ms: number | undefined;
  readonly p95Ms: number | undefined;
  readonly minutes: readonly MinuteCounts[];
  readonly workers: number;
}

export interface Overview {
  readonly at: Date;
  readonly kinds: readonly KindOverview[];
  /** Pipeline queues with jobs. */
  readonly queues: readonly PipelineDepth[];
  readonly today: Spending;
  readonly batched: BatchedCalls;
  readonly runs: readonly (Spending & { readonly run: string })[];
  readonly workers: readonly WorkerView[];
  readonly problems: readonly Problem[];
}

async function kindOverview(
  gateway: Gateway,
  kind: string,
  workers: readonly WorkerView[],
): Promise<KindOverview> {
  const { statistics } = gateway;
  const [depth, minutes, durations] = await Promise.all([
    readDepth(gateway.fleet, kind),
    statistics.minutes(kind, SPARK_MINUTES),
    statistics.durations(kind),
  ]);
  const recent = minutes.slice(-THROUGHPUT_MINUTES);
  const ended = recent.reduce(
    (sum, { completed, failed, cancelled }) => sum + completed + failed + cancelled,
    0,
  );
  return {
    kind,
    depth,
    perMinute: ended / THROUGHPUT_MINUTES,
    recentFailures: recent.reduce((sum, { failed }) => sum + failed, 0),
    p50Ms: percentile(durations, 0.5),
    p95Ms: percentile(durations, 0.95),
    minutes,
    workers: workers.filter((worker) => worker.kinds.includes(kind)).length,
  };
}

/** How long a job may wait before the overview calls it a problem although there are workers, in seconds. */
const LONG_WAIT_SECONDS = 900;

function problemsOf(kinds: readonly KindOverview[], maxWaiting: number): Problem[] {
  return kinds.flatMap(({ kind, depth, workers, recentFailures, perMinute }): Problem[] => {
    const found: Problem[] = [];
    const ready = depth.waiting + depth.due;
    if (ready > 0 && workers === 0) {
      found.push(kindWithoutWorker(kind, ready));
    } else if ((depth.oldestSeconds ?? 0) > LONG_WAIT_SECONDS) {
      found.push({
        severity: 'warning',
        what: `A ${kind} job has waited for ${Math.floor((depth.oldestSeconds ?? 0) / 60)} minutes.`,
        whatToDo: 'Start more workers, or raise FLEET_CONCURRENCY where the machine has room.',
      });
    }
    if (depth.unstarted >= maxWaiting) {
      found.push({
        severity: 'error',
        what: `${depth.unstarted} ${kind} jobs wait; new ones are refused with 429.`,
        whatToDo: 'Start more workers, or raise FLEET_MAX_WAITING.',
      });
    }
    if (recentFailures > 0 && recentFailures >= (perMinute * THROUGHPUT_MINUTES) / 2) {
      found.push({
        severity: 'error',
        what: `${recentFailures} ${kind} jobs failed in the last ${THROUGHPUT_MINUTES} minutes, half of all or more.`,
        whatToDo: 'Read the reason of one on the board; retry them once it is mended.',
      });
    }
    return found;
  });
}

function queueProblems(queues: readonly PipelineDepth[], served: ReadonlySet<string> | undefined): Problem[] {
  if (served === undefined) return [];
  return queues.flatMap(({ queue, depth }): Problem[] => {
    const ready = depth.waiting + depth.due;
    if (ready === 0 || served.has(queue)) return [];
    return [queueWithoutProgram(queue, ready, served)];
  });
}

/** Lag of an event loop from which locks of jobs may not be renewed in time, in seconds. */
const LONG_LAG_SECONDS = 2;

function workerProblems(workers: readonly WorkerView[]): Problem[] {
  return workers.flatMap(({ name, version, report }): Problem[] => {
    if (version !== undefined && report === undefined) {
      return [
        {
          severity: 'warning',
          what: `Worker ${name} is connected and has not reported for some time.`,
          whatToDo: 'It hangs or is overloaded: look at its log, and start it again if it does not recover.',
        },
      ];
    }
    if (report !== undefined && report.eventLoopLagSeconds > LONG_LAG_SECONDS) {
      return [
        {
          severity: 'warning',
          what: `The event loop of worker ${name} is blocked for ${report.eventLoopLagSeconds.toFixed(1)} s at a time.`,
          whatToDo: 'Lower FLEET_CONCURRENCY there, or give it more processor time.',
        },
      ];
    }
    return [];
  });
}

/** Fraction of a day's budget from which the overview warns. */
const NEARLY_SPENT = 0.9;

function callProblems(today: Spending, blocked: readonly BlockedModel[]): Problem[] {
  const found = blocked.map(
    ({ model, why, seconds }): Problem =>
      why === 'no-credit'
        ? {
            severity: 'error',
            what: `The account at the provider has no credit left, so calls of ${model} wait.`,
            whatToDo: `Buy credit: jobs go on by themselves after the next probe, in ${Math.ceil(seconds)} s.`,
          }
        : {
            severity: 'warning',
            what: `Calls of ${model} are blocked for ${Math.ceil(seconds)} s (${why}).`,
            whatToDo:
              'Nothing: they go on by themselves. If it comes often, raise the limit at the provider.',
          },
  );
  const { budgetUsd, spentUsd, inDoubtUsd, reservedUsd, callsInDoubt } = today;
  if (budgetUsd !== null && spentUsd + inDoubtUsd + reservedUsd >= budgetUsd * NEARLY_SPENT) {
    found.push({
      severity: 'error',
      what: 'The budget of the day is spent, or nearly so.',
      whatToDo: 'Raise FLEET_BUDGET_USD, or wait for midnight UTC.',
    });
  }
  if (callsInDoubt > 0) {
    found.push({
      severity: 'warning',
      what: `${callsInDoubt} agent calls of today are in doubt: nobody knows whether they were billed.`,
      whatToDo:
        'Workers crashed or connections broke in the middle of calls: fleet costs shows how much it may be.',
    });
  }
  return found;
}

/** The current content of the overview. */
export async function readOverview(gateway: Gateway): Promise<Overview> {
  const workers = await listWorkers(gateway.fleet);
  const { fleet, costs } = gateway;
  const [kinds, queues, served, today, batched, runs, blocked] = await Promise.all([
    Promise.all(fleet.kinds.names.map((kind) => kindOverview(gateway, kind, workers))),
    readPipelineDepths(fleet),
    servedQueues(fleet.client, fleet.prefix),
    costs.today(fleet),
    costs.batchedCalls(fleet),
    latestRuns(fleet, RUNS_SHOWN),
    costs.blockedModels(fleet),
  ]);
  return {
    at: new Date(),
    kinds,
    queues,
    today,
    batched,
    runs: await Promise.all(runs.map(async (run) => ({ run, ...(await costs.ofRun(fleet, run)) }))),
    workers,
    problems: [
      ...problemsOf(kinds, gateway.settings.maxWaiting),
      ...queueProblems(queues, served),
      ...workerProblems(workers),
      ...callProblems(today, blocked),
    ],
  };
}
