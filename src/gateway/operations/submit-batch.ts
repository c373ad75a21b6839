import { z } from 'zod';
import { FleetError, toFleetError } from '../../errors.js';
import { mapInChunks, yieldWhenBusy } from '../../event-loop.js';
import { addJobs, type BatchItem, type BatchItemOutcome } from '../../producers/add-jobs.js';
import { SUBMISSION_FIELDS } from '../../producers/submission-fields.js';
import { KIND_NAMES, KINDS, type KindName } from '../../queues/registry.js';
import { refuseDisallowed } from '../admission/payload-rules.js';
import { ownSubmission, submitterOfResponse } from '../auth/tenant.js';
import { logFailure, requestIdOf } from '../http/errors.js';
import { type Call, operation, parseBody, type Reply } from '../http/operation.js';
import { type Problem, ProblemSchema, problemOf } from '../http/problem.js';
import { submitted } from './job-resource.js';
import { SubmittedSchema } from './job-schemas.js';
import { inBody, submitOptions } from './submit-job.js';

/** Most jobs of one batch; each may have a payload of its own size, within the limit of the body. */
export const MOST_BATCH_JOBS = 10_000;

const itemOf = <K extends KindName>(kind: K) =>
  z.strictObject({ kind: z.literal(kind), payload: KINDS[kind].payload, ...SUBMISSION_FIELDS });
const [firstKind, ...otherKinds] = KIND_NAMES;
if (firstKind === undefined) throw new TypeError('there is no kind of job');
const ItemSchema = z
  .discriminatedUnion('kind', [itemOf(firstKind), ...otherKinds.map(itemOf)])
  .meta({ id: 'BatchJob' });
/** What is checked before the single jobs are: a job that is wrong is refused alone. */
const EnvelopeSchema = z.strictObject({ jobs: z.array(z.unknown()).min(1).max(MOST_BATCH_JOBS) });
const BodySchema = z.strictObject({ jobs: z.array(ItemSchema).min(1).max(MOST_BATCH_JOBS) });

type Item = BatchItem & { readonly index: number };

export const submitBatch = {
  ...operation({
    id: 'submit-batch',
    resource: 'batch',
    tag: 'Jobs',
    method: 'post',
    path: '/v1/jobs:batch',
    role: 'submit',
    summary: 'Submit many jobs of any kinds',
    description: `Up to ${MOST_BATCH_JOBS} jobs. Each stands for itself: one that is refused says why in its place.`,
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
    handle: submit,
  }),
  /** Documented with its items, although these are checked one by one. */
  body: BodySchema,
};

type BatchCall = Call<undefined, unknown, z.infer<typeof EnvelopeSchema>>;

async function submit(call: BatchCall): Promise<Reply> {
  const landed: (() => void)[] = [];
  try {
    return await submitEach(call, landed);
  } finally {
    for (const land of landed) land();
  }
}

/** @param landed Gets what is to be called once the jobs that were let in are in Redis. */
async function submitEach({ body, gateway, response }: BatchCall, landed: (() => void)[]): Promise<Reply> {
  const requestId = requestIdOf(response);
  const outcomes: (BatchItemOutcome | undefined)[] = body.jobs.map(() => undefined);
  const accepted: Item[] = [];
  /** Kinds that have no more room: nobody asks Redis again for each of thousands. */
  const crowded = new Map<KindName, FleetError>();
  for (const [index, given] of body.jobs.entries()) {
    await yieldWhenBusy();
    try {
      const { kind, payload, ...fields } = parseBody(ItemSchema, given) as z.infer<typeof ItemSchema>;
      const options = ownSubmission(response, submitOptions(fields));
      await refuseDisallowed(payload, 'payload', gateway.settings);
      const refusal = crowded.get(kind);
      if (refusal !== undefined) throw refusal;
      landed.push(await gateway.admission.admit(kind, 1, submitterOfResponse(response)));
      accepted.push({ kind, payload, options, index } as Item);
    } catch (thrown) {
      // A Redis that is away concerns the whole batch, as does a defect.
      if (!(thrown instanceof FleetError) || thrown.entry.httpStatus >= 500) throw thrown;
      outcomes[index] = { error: thrown };
      // Only a job that was well formed is refused for this.
      if (thrown.code === 'too-many-waiting') crowded.set((given as Item).kind, thrown);
    }
  }
  const delayed = new Set(accepted.flatMap(({ index, options }) => (options?.delayMs ? [index] : [])));
  const added = await addJobs(gateway.fleet, accepted);
  const full = added.map((outcome) => ('error' in outcome ? outcome.error : undefined));
  // Nothing was stored: the whole batch may be sent again as it is.
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
