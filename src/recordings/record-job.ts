import { chooseRunner } from '../agents/select-runner.js';
import { pricedModel, pricesOf } from '../calls/cost.js';
import { unpackAnswer } from '../calls/ledger/stored-answer.js';
import { OUTCOMES, type OutcomeClass } from '../calls/outcome.js';
import { priceListOf } from '../calls/prices.js';
import type { Config } from '../config/settings.js';
import { JobError, UsageError } from '../errors.js';
import { payloadOf } from '../fleet/job-data.js';
import { packageVersion } from '../package-root.js';
import { findJob } from '../producers/find-job.js';
import type { FleetClient } from '../producers/fleet-client.js';
import { viewJob } from '../producers/job-view.js';
import { type CallRecord, LEDGER_FIELD, readCallRecords } from '../queues/call-record.js';
import { firstDifference } from './differences.js';
import { plain, withoutSecrets } from './recorded-data.js';
import { type RecordedCall, type RecordedEnd, type Recording, RecordingSchema } from './recording.js';
import { type RunOptions, runRecording } from './run-recording.js';

/** The settings of the worker that decide what a job does; they have to be those with which it ran. */
export type RecordedConfig = Pick<Config, 'agent' | 'model' | 'modelPrices' | 'maxTokens' | 'opinion'> &
  Partial<Pick<Config, 'auditFraction' | 'corrections'>>;

/**
 * Records a job that completed or failed. It is run once with its recorded answers, and recorded only if it ends to the byte as it
 * did. Then secrets are replaced; if there are some, the digests in the recorded end are those of the texts without them.
 * @throws JobError `job-not-found`; UsageError if the job has not ended, or cannot be recorded, with the reason.
 */
export async function recordJob(
  fleet: FleetClient,
  id: string,
  config: RecordedConfig,
  options: RunOptions = {},
): Promise<Recording> {
  const original = await readRecording(fleet, id, config);
  const run = await runRecording(original, options);
  const difference = firstDifference(original.end, run.end);
  if (difference !== undefined) {
    throw cannotRecord(
      id,
      `run again with its recorded answers, it ends otherwise (${difference}). Use the version and the settings of the worker that ran it. A failure of the fleet, such as a used-up budget, cannot be recorded, nor can a job with child jobs`,
    );
  }
  const recording = { ...original, requests: run.requests.map(plain) };
  const clean = withoutSecretsIn(recording);
  if (firstDifference(recording, clean) === undefined) return clean;
  const { end, requests } = await runRecording(clean, options);
  // Prompts are those of this machine again, with the secrets that they have.
  const again = withoutSecretsIn({ ...clean, end, requests: requests.map(plain) });
  if (
    firstDifference(end, again.end) !== undefined ||
    firstDifference(withoutDigests(clean.end), withoutDigests(end)) !== undefined
  ) {
    throw cannotRecord(id, 'without the secrets in its payload and its answers it ends otherwise');
  }
  return again;
}

function cannotRecord(id: string, why: string): UsageError {
  return new UsageError('usage', `the job ${id} cannot be recorded: ${why}.`, { field: 'id' });
}

/** Digests are those of texts that may have had secrets. */
function withoutDigests(end: RecordedEnd): unknown {
  return JSON.parse(JSON.stringify(end).replace(/"[0-9a-f]{64}"/g, '""'));
}

async function readRecording(fleet: FleetClient, id: string, config: RecordedConfig): Promise<Recording> {
  const location = await findJob(fleet, id);
  const { kind: name, job } = location;
  if (!fleet.kinds.has(name)) {
    throw new UsageError('usage', `the job ${id} is one of a pipeline queue; the fleet does not run it`, {
      field: 'id',
    });
  }
  const kind = fleet.kinds.get(name);
  const view = await viewJob(fleet, location);
  const key = location.queue.toKey(id);
  const [payload, records] = await Promise.all([
    payloadOf(kind, job, { payloads: fleet.payloads, kinds: fleet.kinds }),
    readCallRecords(fleet.client, key),
  ]);
  const { then: _, ...own } = payload;
  const calls = await Promise.all(records.map((record) => recordedCall(fleet, key, record)));
  const end = endOf(id, view);
  const settings = settingsOf(end, calls, config);
  return {
    recording: 1,
    writtenBy: packageVersion(),
    kind: name,
    jobId: id,
    payload: plain(own),
    settings,
    calls,
    requests: [],
    end,
  };
}

function endOf(id: string, { state, result, error }: Awaited<ReturnType<typeof viewJob>>): RecordedEnd {
  if (state === 'completed' && typeof result === 'object' && result !== null)
    return { result: plain(result) as Record<string, unknown> };
  if (state === 'failed' && error !== undefined) return { failure: error };
  throw new UsageError(
    'usage',
    `the job ${id} is ${state}; only a job that completed or failed can be recorded`,
    {
      field: 'id',
    },
  );
}

async function recordedCall(
  fleet: FleetClient,
  key: string,
  { number, step, turn, model, state, end }: CallRecord,
): Promise<RecordedCall> {
  const bytes = await fleet.client.hgetBuffer(key, `${LEDGER_FIELD}:${number}:answer`);
  const answer = bytes === null ? undefined : unpackAnswer(bytes);
  if (answer?.broken !== undefined) {
    throw new JobError(
      'broken-record',
      `the answer to call ${turn} of ${step} cannot be read: ${answer.broken}`,
    );
  }
  const isKnown = end?.outcome !== undefined && Object.hasOwn(OUTCOMES, end.outcome);
  return plain({
    step,
    turn,
    model,
    state: state === 'sent' || state === 'in-batch' ? 'in-doubt' : state,
    outcome: isKnown ? (end.outcome as OutcomeClass) : 'incomplete',
    detail: end?.detail,
    tokens: end?.tokens,
    answer: answer?.value,
    ...(end?.reused === undefined ? {} : { reused: true }),
  }) as RecordedCall;
}

function settingsOf(
  end: RecordedEnd,
  calls: readonly RecordedCall[],
  config: RecordedConfig,
): Recording['settings'] {
  const { agent, opinion, auditFraction, corrections, maxTokens, modelPrices = {} } = config;
  const said =
    'result' in end
      ? (end.result.agent as { runner?: Recording['settings']['runner'] } | undefined)
      : undefined;
  // Static-first names the offline runner where no call was made, and needs one that could have been asked.
  const isStaticFirst = 'result' in end && end.result.staticFirst !== undefined;
  const configured = chooseRunner(agent).name;
  const called = configured === 'offline' ? 'anthropic' : configured;
  const own = priceListOf(modelPrices);
  const models = new Set(calls.map(({ model, answer }) => pricedModel(answer?.model, model, own)));
  const prices = [...models].map((model) => [model, pricesOf(model, own)] as const);
  // Payloads and agents may name other models than the configuration.
  const requested = calls.map(({ model }) => model);
  return plain({
    runner: isStaticFirst ? called : (said?.runner ?? (calls.length > 0 ? called : configured)),
    opinion,
    ...(opinion === 'static-first' ? { auditFraction } : {}),
    ...(corrections === 'each' ? {} : { corrections }),
    maxTokens,
    model: config.model !== undefined && requested.includes(config.model) ? config.model : requested[0],
    prices: Object.fromEntries(prices),
  });
}

function withoutSecretsIn(recording: Recording): Recording {
  return RecordingSchema.parse(withoutSecrets(recording));
}
