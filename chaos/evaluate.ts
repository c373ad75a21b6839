import { JobError } from '../src/errors.js';
import { childId } from '../src/producers/add-child.js';
import { locationOf } from '../src/producers/find-job.js';
import type { FleetClient } from '../src/producers/fleet-client.js';
import { eachFollowUp } from '../src/producers/follow-up-views.js';
import { hasEnded, type JobView, viewJob } from '../src/producers/job-view.js';
import { type CallRecord, readCallRecords } from '../src/queues/call-record.js';
import { CHILDREN_FIELD } from '../src/queues/job-flags.js';
import { brokenInvariants } from '../test/support/invariants.js';
import { type Accepted, CORRECTED_LINE, LEAKY_LINE, type Pipeline } from './pipeline.js';
import type { Billed } from './provider.js';

/** A guarantee, the violations found, and whether it holds. */
interface Promised {
  readonly promise: string;
  readonly found: number;
  /** How many violations are allowed. */
  readonly allowed: number;
  readonly examples: readonly string[];
}

interface Outcome {
  readonly job: Accepted;
  readonly view: JobView | undefined;
  readonly calls: readonly CallRecord[];
}

/** The time of a fault, in milliseconds since 1970. */
export interface FaultWindow {
  readonly from: number;
  readonly to: number;
}

/** Facts about a run besides its jobs. */
export interface Circumstances {
  readonly billed: readonly Billed[];
  /** The times of faults. */
  readonly windows: readonly FaultWindow[];
  /** When Redis acknowledged writes that it may have lost; empty if it writes to disk first. */
  readonly forgotten: readonly FaultWindow[];
}

export interface Evaluation {
  /** Accepted jobs that a killed Redis had not written. */
  readonly forgottenJobs: number;
  /** Calls that were under way, or whose answer was being written to the ledger, during a fault. */
  readonly inFlightAtFaults: number;
  /** Calls whose connection the provider itself broke. */
  readonly brokenByProvider: number;
  readonly promises: readonly Promised[];
  readonly completed: number;
  /** How many jobs failed, by code: the provider truncates, refuses and babbles. */
  readonly failed: Readonly<Record<string, number>>;
  /** Corrected scripts that were checked again in a child job. */
  readonly verified: number;
  /** Follow-ups that completed. */
  readonly followUps: number;
  /** Calls in doubt. */
  readonly callsInDoubt: number;
  /** Good answers that were billed more than once. */
  readonly paidAgain: number;
}

/** Failures that the provider's misbehavior explains. */
const EXPECTED = new Set([
  ...[
    'answer-truncated',
    'answer-refused',
    'answer-invalid',
    'answer-incomplete',
    'call-idle',
    'call-timeout',
  ],
  ...['unreachable', 'overloaded', 'rate-limited', 'child-failed'],
]);

/** Compares the result of a run with the guarantees, after its workers have stopped. */
export async function evaluate(
  pipeline: Pipeline,
  { billed, windows, forgotten }: Circumstances,
): Promise<Evaluation> {
  const { fleet } = pipeline;
  const outcomes: Outcome[] = [];
  for (const job of pipeline.accepted) outcomes.push(await outcomeOf(fleet, job));
  const children: Outcome[] = [];
  for (const job of pipeline.accepted.filter(mayBeVerified))
    children.push(await outcomeOf(fleet, await childOf(fleet, job)));
  const chained = outcomes.filter(({ job }) => job.chained);
  const followUps: Outcome[] = [];
  for (const { job, view } of chained) {
    for (const { followUp } of view === undefined ? [] : eachFollowUp(view)) {
      const { kind: queue, id } = followUp;
      if (id === undefined) continue;
      const { marker, script, acceptedAt } = job;
      followUps.push(await outcomeOf(fleet, { queue, id, marker, script, leaky: false, acceptedAt }));
    }
  }
  const started = [...children, ...followUps];
  const problems = await brokenInvariants(fleet.client, fleet.prefix);
  const jobs = new Map(pipeline.accepted.map((job) => [job.marker, job]));
  const failed: Record<string, number> = {};
  for (const { view } of outcomes) {
    if (view?.error !== undefined) failed[view.error.code] = (failed[view.error.code] ?? 0) + 1;
  }
  const inDoubt = [...outcomes, ...started].flatMap(({ calls }) =>
    calls.filter(({ state }) => state === 'in-doubt'),
  );
  const brokenByProvider = billed.filter(({ broken }) => broken).length;
  const inFlightAtFaults = billed.filter((entry) => !entry.broken && inFlight(entry, windows)).length;
  const repeats = paidRepeats(
    [...outcomes, ...started],
    billed,
    forgotten.map((window) => sinceAnswers(window, windows)),
  );
  const gone = outcomes.filter(({ view }) => view === undefined);
  const mayBeGone = gone.filter(({ job }) => isIn(job.acceptedAt, forgotten));
  return {
    completed: outcomes.filter(({ view }) => view?.state === 'completed').length,
    failed,
    callsInDoubt: inDoubt.length,
    paidAgain: repeats.paidAgain,
    verified: children.filter(({ view }) => view?.state === 'completed').length,
    followUps: followUps.filter(({ view }) => view?.state === 'completed').length,
    forgottenJobs: mayBeGone.length,
    inFlightAtFaults,
    brokenByProvider,
    promises: [
      promise(
        'accepted jobs that are lost',
        gone.filter((outcome) => !mayBeGone.includes(outcome)).map(nameOf),
      ),
      promise('accepted jobs without an outcome', outcomes.filter(isStuck).map(nameOf)),
      promise('jobs that failed without a reason', outcomes.filter(failedOddly).map(nameOf)),
      promise('jobs blamed for a worker that was killed from outside', outcomes.filter(isBlamed).map(nameOf)),
      promise('checked scripts that were changed', outcomes.filter(isChanged).map(nameOf)),
      promise(
        'corrected scripts that were not checked again',
        outcomes.filter((outcome) => isUnverified(outcome, children)).map(nameOf),
      ),
      promise('children without an outcome', started.filter(isStuckOrGone).map(nameOf)),
      promise(
        'jobs with other follow-ups than their results demand',
        chained.filter(hasOtherFollowUps).map(nameOf),
      ),
      promise('follow-ups that failed without a reason', followUps.filter(failedOddly).map(nameOf)),
      promise(
        'evaluations of another script than the checked one',
        pipeline.evaluated
          .filter(({ marker, script }) => !mayBecome(jobs.get(marker), script))
          .map(({ marker }) => marker),
      ),
      promise('calls paid again although the ledger had the answer', repeats.paidDespiteLedger),
      promise('calls paid again that the ledger does not show', repeats.unexplained),
      promise(
        'calls in doubt, of those in flight at a fault or broken off by the provider',
        inDoubt.map(({ step }) => step),
        inFlightAtFaults + brokenByProvider,
      ),
      promise(
        'broken invariants (doubled, stuck or ownerless jobs, reserved money, orphaned texts)',
        problems,
      ),
    ],
  };
}

function promise(text: string, found: readonly string[], allowed = 0): Promised {
  return {
    promise: text,
    found: found.length,
    allowed,
    examples: found.length > allowed ? found.slice(0, 5) : [],
  };
}

/** How long writing an answer to the ledger may take, in milliseconds. */
const WRITE_MS = 500;

function inFlight({ arrivedAt, endedAt }: Billed, windows: readonly FaultWindow[]): boolean {
  return windows.some(({ from, to }) => arrivedAt <= to && (endedAt ?? to) + WRITE_MS >= from);
}

/** An answer that arrived during a fault is written after it: it may be as old as the fault is long. */
function sinceAnswers({ from, to }: FaultWindow, faults: readonly FaultWindow[]): FaultWindow {
  const earliest = faults
    .filter((fault) => fault.from < to && fault.to >= from)
    .reduce((least, fault) => Math.min(least, fault.from - WRITE_MS), from);
  return { from: earliest, to };
}

const nameOf = ({ job, view }: Outcome) =>
  `${job.id}: ${view?.state ?? 'gone'} ${view?.error?.message ?? ''}`;
const isStuck = ({ view }: Outcome) => view !== undefined && !hasEnded(view.state);
const isStuckOrGone = (outcome: Outcome) =>
  isStuck(outcome) || (outcome.view === undefined && outcome.job.role === undefined);
const isBlamed = ({ view }: Outcome) => view?.error?.code === 'killed-its-worker';
const failedOddly = (outcome: Outcome) =>
  outcome.view?.error !== undefined && !EXPECTED.has(outcome.view.error.code) && !isBlamed(outcome);
const isIn = (time: number, windows: readonly FaultWindow[]) =>
  windows.some(({ from, to }) => from <= time && time <= to);

/** A script that the provider finds clean comes back as it was; a leaky one corrected, or as it was where it gave no correction. */
function mayBecome(job: Accepted | undefined, script: unknown): boolean {
  return script === job?.script || (job?.leaky === true && script === correctedScript(job));
}

const correctedScript = ({ script }: Accepted) => script.replace(LEAKY_LINE, CORRECTED_LINE);

function isChanged({ job, view }: Outcome): boolean {
  if (job.queue !== 'solution-check' || view?.state !== 'completed') return false;
  return !mayBecome(job, (view.result as { solution?: { content?: unknown } }).solution?.content);
}

/** A job with a result starts the follow-ups whose condition holds, each once, and the summary's one if there is a summary. */
function hasOtherFollowUps({ view }: Outcome): boolean {
  if (view?.state !== 'completed') return view?.followUps !== undefined;
  const [summary, comparison, never] = view.followUps ?? [];
  const hasExtract = summary?.job?.followUps?.[0]?.job !== undefined;
  const needsExtract = summary?.job?.state === 'completed';
  return (
    comparison?.job?.state !== 'completed' || never?.skipped === undefined || hasExtract !== needsExtract
  );
}

/** A corrected script that counts as corrected was checked again. */
function isUnverified({ job, view }: Outcome, children: readonly Outcome[]): boolean {
  if (job.queue !== 'solution-check' || view?.state !== 'completed') return false;
  if ((view.result as { status?: unknown }).status === 'clean') return job.leaky;
  const wasCorrected = (view.result as { status?: unknown }).status === 'corrected';
  return (
    wasCorrected && children.find((child) => child.job.marker === job.marker)?.view?.state !== 'completed'
  );
}

const mayBeVerified = ({ queue, leaky }: Accepted) => queue === 'solution-check' && leaky;

/** The child in which the corrected script is checked again. */
async function childOf(fleet: FleetClient, job: Accepted): Promise<Accepted> {
  const key = fleet.jobKey(job.queue, job.id);
  const started = await fleet.client.hget(key, CHILDREN_FIELD);
  const { verify = '' } = JSON.parse(started ?? '{}') as Record<string, string>;
  // The contract version comes before the digest.
  const digest = verify.slice(verify.indexOf(':') + 1);
  return { ...job, id: childId(key, job.queue, 'verify', digest), role: 'verify' };
}

async function outcomeOf(fleet: FleetClient, job: Accepted): Promise<Outcome> {
  try {
    const view = await viewJob(fleet, locationOf(fleet, job.id, job.queue));
    return { job, view, calls: await readCallRecords(fleet.client, fleet.queue(job.queue).toKey(job.id)) };
  } catch (thrown) {
    if (thrown instanceof JobError && thrown.code === 'job-not-found')
      return { job, view: undefined, calls: [] };
    throw thrown;
  }
}

/** The questions of a job, and the steps of its ledger in which they are asked. */
function questionsOf({ queue, leaky, role }: Accepted): readonly (readonly [string, string | undefined])[] {
  if (role !== undefined) return [[role, 'detect']];
  if (queue === 'summarize') return [['summary', undefined]];
  if (queue === 'extract') return [['extract', undefined]];
  if (queue !== 'solution-check') return [];
  return leaky
    ? [
        ['detect-leak', 'detect'],
        ['correct', 'correct-1-1'],
        ['second correct', 'correct-1-2'],
      ]
    : [['detect', undefined]];
}

/** How many complete good answers were sent more than once. */
function repeatsOf(asked: readonly Billed[]): number {
  return Math.max(0, asked.filter(({ good, aborted }) => good && !aborted).length - 1);
}

/** Good answers that the provider sent, and billed, more than once for one question, compared with the ledger. */
function paidRepeats(
  outcomes: readonly Outcome[],
  billed: readonly Billed[],
  forgotten: readonly FaultWindow[],
) {
  const paidDespiteLedger: string[] = [];
  const unexplained: string[] = [];
  let paidAgain = 0;
  const byQuestion = new Map<string, Billed[]>();
  for (const entry of billed) {
    byQuestion.set(entry.question, [...(byQuestion.get(entry.question) ?? []), entry]);
  }
  const questions = outcomes.flatMap(({ job, calls }) =>
    questionsOf(job).map(([role, step]) => ({
      question: `${job.marker} ${role}`,
      calls: step === undefined ? calls : calls.filter((call) => call.step === step),
    })),
  );
  for (const { question, calls } of questions) {
    const entries = byQuestion.get(question) ?? [];
    paidAgain += repeatsOf(entries);
    const forms = [...new Set(entries.map(({ form }) => form))];
    for (const [at, form] of forms.entries()) {
      const asked = entries.filter((entry) => entry.form === form);
      // The ledger counts the calls of a conversation from 1.
      const records = calls.filter(({ turn }) => turn === at + 1);
      const answeredAt = records.find(({ state }) => state === 'answered')?.end?.at;
      if (answeredAt !== undefined && asked.some(({ arrivedAt }) => arrivedAt > answeredAt)) {
        paidDespiteLedger.push(
          `${question}: ledger ${JSON.stringify(calls)}; provider ${JSON.stringify(entries)}`,
        );
      }
      const again = repeatsOf(asked);
      const notUsed = records.filter(({ state }) => state === 'in-doubt' || state === 'failed').length;
      // An entry that Redis lost cannot explain a repeat.
      const unwritten = asked.filter(
        ({ endedAt }) => endedAt !== undefined && isIn(endedAt, forgotten),
      ).length;
      if (again > notUsed + unwritten) {
        unexplained.push(`${question}: ledger ${JSON.stringify(calls)}; provider ${JSON.stringify(entries)}`);
      }
    }
  }
  return { paidDespiteLedger, unexplained, paidAgain };
}
