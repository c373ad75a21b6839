import { z } from 'zod';
import { FleetError, toFleetError } from '../../errors.js';
import { mapInChunks, yieldWhenBusy } from '../../event-loop.js';
import { addJobs, type BatchItem, type BatchItemOutcome } from '../../producers/add-jobs.js';
import { SUBMISSION_FIELDS } from '../../producers/submission-fields.js';
import type { JobKind } from '../../queues/kind.js';
import { namedQueues } from '../../queues/queue-fields.js';
import type { KindRegistry } from '../../queues/registry.js';
import type { Admission } from '../admission/admission.js';
import { assertAllowed } from '../admission/payload-rules.js';
import { callerIdOf } from '../auth/caller-id.js';
import { ownSubmission, submitterOfResponse } from '../auth/tenant.js';
import { logFailure, requestIdOf } from '../http/errors.js';
import { type Call, operation, parseBody, type Reply } from '../http/operation.js';
import { type Problem, ProblemSchema, problemOf } from '../http/problem.js';
import { submitted } from './job-resource.js';
import { SubmittedSchema } from './job-schemas.js';
import { inBody, submitOptions } from './submit-job.js';

/** Which jobs were admitted. */
interface AdmittedJobs<Job> {
  readonly admitted: readonly Job[];
  readonly refused: ReadonlyMap<Job, FleetError>;
}

/** Admits the jobs of a batch, a part at a time. */
class BatchAdmission {
  readonly #admission: Admission;
  readonly #submitter: string;
  /** Kinds without room: they are not checked again for each of thousands of jobs. */
  readonly #full = new Map<string, FleetError>();
  readonly #landed: (() => void)[] = [];

  constructor(admission: Admission, submitter: string) {
    this.#admission = admission;
    this.#submitter = submitter;
  }

  /**
   * Admits as many of the jobs as there is room for, the first ones first.
   * @throws RedisError if there is no memory for jobs of this submitter.
   */
  async admit<Job extends { readonly kind: string }>(jobs: readonly Job[]): Promise<AdmittedJobs<Job>> {
    const refused = new Map<Job, FleetError>();
    for (const kind of new Set(jobs.map((job) => job.kind))) {
      const ofKind = jobs.filter((job) => job.kind === kind);
      const wholePart = this.#full.has(kind) || (await this.#refusal(kind, ofKind.length));
      if (wholePart === undefined) continue;
      for (const job of ofKind) {
        const refusal = this.#full.get(kind) ?? (await this.#refusal(kind, 1));
        if (refusal === undefined) continue;
        this.#full.set(kind, refusal);
        refused.set(job, refusal);
      }
    }
    return { admitted: jobs.filter((job) => !refused.has(job)), refused };
  }

  async #refusal(kind: string, count: number): Promise<FleetError | undefined> {
    try {
      this.#landed.push(await this.#admission.admit(kind, count, this.#submitter));
      return undefined;
    } catch (thrown) {
      if (!(thrown instanceof FleetError && thrown.code === 'too-many-waiting')) throw thrown;
      return thrown;
    }
  }

  /** Call it once the admitted jobs are in Redis, or will never be. */
  land(): void {
    for (const land of this.#landed.splice(0)) land();
  }
}

/** Most jobs of one batch; each may have a payload of its own size, within the limit of the body. */
const MAX_BATCH_JOBS = 10_000;

const itemOf = ({ name, payload }: JobKind) =>
  z.strictObject({ kind: z.literal(name), payload, ...SUBMISSION_FIELDS });

/** A job of any kind. */
function itemSchema(kinds: KindRegistry) {
  const [first, ...others] = [...kinds].map(itemOf);
  if (first === undefined) throw new TypeError('there is no kind of job');
  return z.discriminatedUnion('kind', [first, ...others]).meta({ id: 'BatchJob' });
}
type ItemSchema = ReturnType<typeof itemSchema>;

/** What is checked before the single jobs: an invalid job is rejected alone. */
const EnvelopeSchema = z.strictObject({ jobs: z.array(z.unknown()).min(1).max(MAX_BATCH_JOBS) });

/** How many jobs are admitted together. */
const JOBS_AT_ONCE = 500;

type Item = BatchItem<string> & { readonly index: number };

export function submitBatch(kinds: KindRegistry) {
  const schema = itemSchema(kinds);
  return {
    ...operation({
      id: 'submit-batch',
      resource: 'batch',
      tag: 'Jobs',
      method: 'post',
      path: '/v1/jobs:batch',
      role: 'submit',
      summary: 'Submit many jobs of any kinds',
      description: `Up to ${MAX_BATCH_JOBS} jobs. Each is accepted or rejected by itself; the entry of a rejected one says why.`,
      body: EnvelopeSchema,
      responses: {
        200: {
          description: 'What became of each job, in the order of the request.',
          schema: z.strictObject({
            jobs: z.array(z.union([SubmittedSchema, z.strictObject({ error: ProblemSchema })])),
          }),
        },
      },
      refusals: [422],
      handle: (call) => submit(call, schema),
    }),
    /** Documented with its items, although they are checked one by one. */
    body: z.strictObject({ jobs: z.array(schema).min(1).max(MAX_BATCH_JOBS) }),
  };
}

type BatchCall = Call<undefined, unknown, z.infer<typeof EnvelopeSchema>>;

async function submit(call: BatchCall, schema: ItemSchema): Promise<Reply> {
  const admission = new BatchAdmission(call.gateway.admission, submitterOfResponse(call.response));
  try {
    return await submitEach(call, schema, admission);
  } finally {
    admission.land();
  }
}

async function submitEach(call: BatchCall, schema: ItemSchema, admission: BatchAdmission): Promise<Reply> {
  const { body, gateway, response } = call;
  const requestId = requestIdOf(response);
  const outcomes: (BatchItemOutcome | undefined)[] = body.jobs.map(() => undefined);
  const accepted: Item[] = [];
  for (let start = 0; start < body.jobs.length; start += JOBS_AT_ONCE) {
    const { admitted, refused } = await admission.admit(await wellFormed(call, schema, start, outcomes));
    accepted.push(...admitted);
    for (const [{ index }, error] of refused) outcomes[index] = { error };
  }
  const delayed = new Set(accepted.flatMap(({ index, options }) => (options?.delayMs ? [index] : [])));
  const added = await addJobs(
    gateway.fleet,
    accepted.map(({ index: _, ...item }) => item),
  );
  const full = added.map((outcome) => ('error' in outcome ? outcome.error : undefined));
  // Nothing was stored: the whole batch may be sent again.
  if (full[0]?.code === 'redis-full' && full.every((error) => error === full[0])) throw full[0];
  for (const [position, { index }] of accepted.entries()) {
    const outcome = added[position];
    outcomes[index] =
      outcome !== undefined && 'error' in outcome
        ? { error: toFleetError(inBody(outcome.error, 'payload')) }
        : outcome;
  }
  // One line for the whole batch: thousands of jobs mostly fail for the same reason.
  const failed = outcomes.flatMap((outcome) =>
    outcome !== undefined && 'error' in outcome && outcome.error.entry.httpStatus >= 500
      ? [outcome.error]
      : [],
  );
  if (failed[0] !== undefined) logFailure(gateway.logger, failed[0], response);
  const problems = new Map<number, Problem>();
  for (const [index, outcome] of outcomes.entries()) {
    await yieldWhenBusy();
    if (outcome === undefined) throw new TypeError(`job ${index} of the batch has no outcome`);
    if ('error' in outcome) problems.set(index, problemOf(outcome.error, requestId));
  }
  const jobs = await mapInChunks(outcomes, async (outcome, index) =>
    outcome === undefined || 'error' in outcome
      ? { error: problems.get(index) }
      : submitted(outcome.handle, delayed.has(index) ? 'delayed' : 'waiting'),
  );
  return { status: 200, body: { jobs } };
}

/** The valid and allowed jobs of a part; the outcomes say why others are rejected. */
async function wellFormed(
  { body, gateway, response }: BatchCall,
  schema: ItemSchema,
  start: number,
  outcomes: (BatchItemOutcome | undefined)[],
): Promise<Item[]> {
  const jobs: Item[] = [];
  const { kinds } = gateway.fleet;
  /** Before the job is stored, so that a job whose queue is one too many is rejected alone. */
  const rememberQueues = (kind: string, payload: Readonly<Record<string, unknown>>) =>
    gateway.pipelineQueues
      .within(namedQueues(kinds, kinds.get(kind), payload), callerIdOf(response), async () => undefined)
      .catch((thrown: unknown) => {
        throw inBody(thrown, 'payload');
      });
  for (const [offset, item] of body.jobs.slice(start, start + JOBS_AT_ONCE).entries()) {
    await yieldWhenBusy();
    const index = start + offset;
    try {
      const { kind, payload, ...fields } = parseBody(schema, item) as z.infer<ItemSchema>;
      const options = ownSubmission(response, submitOptions(fields));
      await assertAllowed(payload, 'payload', gateway.settings);
      await rememberQueues(kind, payload);
      jobs.push({ kind, payload, options, index });
    } catch (thrown) {
      // An outage of Redis fails the whole batch, as does a defect.
      if (!(thrown instanceof FleetError) || thrown.entry.httpStatus >= 500) throw thrown;
      outcomes[index] = { error: thrown };
    }
  }
  return jobs;
}
