import type { AgentRequest, AgentRunner, RunContext } from '../agents/agent-runner.js';
import { createModelRunner } from '../agents/model-runner.js';
import { createOfflineRunner } from '../agents/offline-runner.js';
import type { Clock } from '../calls/clock.js';
import { FleetError, JobError, messageOf, UsageError } from '../errors.js';
import { AnalysisThread } from '../fleet/analysis-thread.js';
import { interceptedRunner } from '../fleet/intercepted-runner.js';
import { processorError } from '../fleet/processor-error.js';
import type { ComputeLimits } from '../fleet/two-lanes.js';
import { askAgents } from '../processors/ask-agents.js';
import type { Kind } from '../processors/define-kind.js';
import type { ChildWork, Work } from '../processors/processor.js';
import { processedKinds } from '../processors/registry.js';
import { decodeFailure, encodeFailure } from '../queues/failure.js';
import type { KindRegistry } from '../queues/registry.js';
import { checkedResult, parsePayload } from '../queues/validate.js';
import type { TrialSettings } from '../trial/settings.js';
import { Trials } from '../trial/trials.js';
import { RecordedCalls } from './recorded-calls.js';
import type { RecordedEnd, RecordedRequest, Recording } from './recording.js';

export interface RunOptions {
  /** Kinds of one's own, besides the built-in ones. */
  readonly kinds?: KindRegistry<Kind>;
  /** Limits of the static analysis of a text. */
  readonly analysis?: ComputeLimits;
  /** Where scripts of jobs with `trial` run; default: as a worker without settings does. */
  readonly trials?: Partial<TrialSettings>;
}

/** What a recorded job does now. */
export interface RunOfRecording {
  readonly end: RecordedEnd;
  /** What the model would be sent, in order. */
  readonly requests: readonly RecordedRequest[];
}

/**
 * Runs the processor of a recorded job in this process, with the recorded answers: no Redis, no model and no network.
 * @throws UsageError if the recording does not fit: another payload contract, a kind that is not known, calls without an answer.
 */
export async function runRecording(recording: Recording, options: RunOptions = {}): Promise<RunOfRecording> {
  const { kinds = processedKinds(), analysis: limits, trials } = options;
  if (!kinds.has(recording.kind)) {
    throw new UsageError('usage', `the kind ${recording.kind} of the recording is not known here`, {
      field: 'kind',
    });
  }
  const kind = kinds.get(recording.kind);
  const calls = new RecordedCalls(recording);
  const analysis = new AnalysisThread(limits, { alone: true });
  const { signal } = new AbortController();
  const ended = (end: RecordedEnd): RunOfRecording => {
    calls.assertComplete();
    return { end, requests: calls.requests };
  };
  const payload = payloadOf(recording, kind);
  try {
    const work: Work = {
      runner: interceptedRunner(recordedRunner(recording, calls), () => [calls]),
      analyst: analysis.analystFor({ tenant: '', signal }),
      trials: new Trials(trials),
      contamination: { check: () => refused('known solutions') },
      jobs: NO_CHILDREN,
      signal,
      log: SILENT,
      progress: () => undefined,
      ask: (...input) => ask(...input),
    };
    const ask = askAgents(() => work);
    const result = await kind.process(payload, work);
    const checked = checkedResult(kind, result, (message, cause) =>
      processorError(kind.name, message, cause),
    );
    // As it is stored.
    return ended({ result: JSON.parse(JSON.stringify(checked)) as Record<string, unknown> });
  } catch (thrown) {
    if (thrown instanceof UsageError) throw thrown;
    const error =
      thrown instanceof FleetError ? thrown : processorError(kind.name, messageOf(thrown), thrown);
    return ended({ failure: decodeFailure(encodeFailure(error)) });
  } finally {
    await analysis.close();
  }
}

function payloadOf({ payload }: Recording, kind: Kind): Record<string, unknown> {
  try {
    return parsePayload(kind, payload);
  } catch (cause) {
    const problem = `the payload of the recording does not fit this version: ${messageOf(cause)}`;
    throw new UsageError('usage', problem, { cause, field: 'payload' });
  }
}

const SILENT = { info: () => undefined, warn: () => undefined };

/** Longer than any wait between retries, and shorter than the time limits of a call. */
const MAX_RETRY_WAIT_MS = 80_000;

/** Waits between retries pass at once, and no call takes too long. */
const HASTY: Clock = {
  now: () => Date.now(),
  after(ms, action) {
    if (ms >= MAX_RETRY_WAIT_MS) return () => undefined;
    const soon = setImmediate(action);
    return () => clearImmediate(soon);
  },
};
function recordedRunner({ settings }: Recording, calls: RecordedCalls): AgentRunner {
  const { runner: name, opinion, auditFraction, corrections, maxTokens, model, prices } = settings;
  if (name === 'offline') return createOfflineRunner();
  const runner = createModelRunner(calls.transport(name), { maxTokens, clock: HASTY }, { model, prices });
  // The files of a workspace are not part of a recording; what the model made of them is in its answers.
  const ask = (
    { workspace: _, ...request }: AgentRequest<unknown> & { schema: never },
    context?: RunContext,
  ) => runner.ask(request as typeof request & { schema: never }, context);
  return {
    ...runner,
    opinion,
    ...(auditFraction === undefined ? {} : { auditFraction }),
    ...(corrections === undefined ? {} : { corrections }),
    ask: ask as AgentRunner['ask'],
  };
}

const CHILDREN = 'child jobs';

function refused(what: string): Promise<never> {
  const message = `the job uses ${what}, which a recording does not hold; record the jobs that it starts`;
  return Promise.reject(new JobError('processor-failed', message));
}

const NO_CHILDREN: ChildWork = {
  child: () => refused(CHILDREN),
  childIn: () => refused(CHILDREN),
  children: () => refused(CHILDREN),
  evaluation: () => refused(CHILDREN),
  ids: new Map(),
};
