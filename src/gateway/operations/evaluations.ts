import { z } from 'zod';
import { JOB_ID } from '../../producers/find-job.js';
import { SolutionSchema } from '../../queues/common.js';
import { FindingSchema, SolutionCheckResultSchema } from '../../queues/solution-check.js';
import { callerIdOf } from '../auth/caller-id.js';
import type { Claim, Evaluations } from '../evaluations/evaluations.js';
import type { WaitingClaim, WaitingClaims } from '../evaluations/waiting-claims.js';
import { ClaimQuery } from '../http/duration.js';
import { later, type Operation, operation, type Reply } from '../http/operation.js';
import { assertPipelineQueue, PipelineQueueSchema } from './flow-schemas.js';
import { JobFailureResource } from './job-schemas.js';

/** Leases, in milliseconds. */
const DEFAULT_LEASE_MS = 60_000;
const leaseMs = z
  .int()
  .min(1_000)
  .max(3_600_000)
  .default(DEFAULT_LEASE_MS)
  .describe('How long the lease holds without a heartbeat, in milliseconds.');

const leaseFields = {
  queue: PipelineQueueSchema,
  id: z.string().regex(JOB_ID, 'is not the id of a job'),
  lease: z.string().min(1).max(100).describe('As the claim gave it.'),
};

const OutcomeSchema = z
  .strictObject({
    evaluation: z.string().describe('Id of the candidate’s evaluation.'),
    state: z.enum(['evaluated', 'failed']),
    result: z.unknown().optional().describe('What the evaluation returned.'),
    resultLeftOut: z
      .literal(true)
      .optional()
      .describe(
        'The results of the batch are too large for one answer: read this one with GET /v1/jobs/{id}.',
      ),
    error: JobFailureResource.optional().describe('Why the evaluation or its check failed.'),
  })
  .meta({ id: 'CandidateOutcome' });

const ClaimSchema = z
  .strictObject({
    id: z.string(),
    queue: z.string(),
    name: z.string(),
    lease: z.string(),
    leaseMs: z.int(),
    data: z.record(z.string(), z.unknown()).describe('The pipeline’s own data.'),
    attempt: z.int().positive(),
    solution: SolutionSchema.optional().describe(
      'The script to evaluate, as its check left it; absent if a refinement loop asks for a new block, and for the job after a batch.',
    ),
    outcomes: z
      .array(OutcomeSchema)
      .optional()
      .describe('Of the job after a candidate batch: what became of each candidate, in no particular order.'),
    status: SolutionCheckResultSchema.shape.status.optional(),
    findings: z.array(FindingSchema.meta({ id: 'Finding' })).optional(),
    contamination: SolutionCheckResultSchema.shape.contamination,
  })
  .meta({ id: 'Claim' });

const claim = operation({
  id: 'claim-evaluation',
  tag: 'Evaluations',
  method: 'post',
  path: '/v1/evaluations/claim',
  role: 'submit',
  summary:
    'Take the next evaluation of a queue, with its checked script, or the job after a batch, with its outcomes',
  description:
    'Send a heartbeat before the lease runs out, and complete or fail it in the end; else it goes to the next who claims.',
  query: ClaimQuery,
  body: z.strictObject({ queue: PipelineQueueSchema, leaseMs }),
  responses: {
    200: { description: 'An evaluation, which is now yours.', schema: ClaimSchema },
    204: { description: 'None waits (with `wait`: none came).' },
  },
  refusals: [422],
  resource: 'claim',
  handle: async (call) => {
    const { body, query, gateway, signal, stillAllowed, tryRoomForAnswer, response } = call;
    const owner = callerIdOf(response);
    const { queue, leaseMs } = body;
    assertPipelineQueue(gateway.fleet.kinds, queue);
    const timeoutMs = query.wait ?? 0;
    if (signal.aborted) return claimReply(undefined);
    if (timeoutMs === 0) {
      // Before the claim: an evaluation whose answer waits could lose its lease.
      await call.roomForAnswer();
      return claimReply(await gateway.evaluations.claim(queue, leaseMs, owner));
    }
    const waiting = { queue, leaseMs, owner, timeoutMs, signal, stillAllowed, tryRoomForAnswer };
    const claimed = await claimNow(gateway.evaluations, waiting);
    return claimed === undefined ? later(waitForClaim, gateway.waitingClaims, waiting) : claimReply(claimed);
  },
});

function claimReply(claimed: Claim | undefined): Reply {
  return claimed === undefined ? { status: 204 } : { status: 200, body: claimed };
}

/** Claims an evaluation that waits now, if there is a slot for the answer. */
async function claimNow(
  evaluations: Evaluations,
  { queue, leaseMs, owner, tryRoomForAnswer }: WaitingClaim,
): Promise<Claim | undefined> {
  const slot = tryRoomForAnswer();
  if (slot === undefined) return undefined;
  let claimed: Claim | undefined;
  try {
    claimed = await evaluations.claim(queue, leaseMs, owner);
  } finally {
    if (claimed === undefined) slot.release();
    else slot.keep();
  }
  return claimed;
}

async function waitForClaim(claims: WaitingClaims, claim: WaitingClaim): Promise<Reply> {
  return claimReply(await claims.wait(claim));
}

const heartbeat = operation({
  id: 'heartbeat-evaluation',
  tag: 'Evaluations',
  method: 'post',
  path: '/v1/evaluations/heartbeat',
  role: 'submit',
  summary: 'Keep the lease of an evaluation',
  body: z.strictObject({ ...leaseFields, leaseMs }),
  responses: { 200: { description: 'The lease holds.', schema: z.strictObject({ leaseMs: z.int() }) } },
  refusals: [409, 422],
  handle: async ({ body, gateway }) => {
    await gateway.evaluations.heartbeat(body, body.leaseMs);
    return { status: 200, body: { leaseMs: body.leaseMs } };
  },
});

const complete = operation({
  id: 'complete-evaluation',
  tag: 'Evaluations',
  method: 'post',
  path: '/v1/evaluations/complete',
  role: 'submit',
  summary: 'End an evaluation with its result',
  body: z.strictObject({
    ...leaseFields,
    result: z.unknown().describe('Any JSON up to FLEET_MAX_DATA_BYTES; what the job returns.'),
  }),
  responses: { 204: { description: 'The evaluation is completed.' } },
  refusals: [409, 422],
  handle: async ({ body, gateway }) => {
    await gateway.evaluations.complete(body, body.result ?? null);
    return { status: 204 };
  },
});

const fail = operation({
  id: 'fail-evaluation',
  tag: 'Evaluations',
  method: 'post',
  path: '/v1/evaluations/fail',
  role: 'submit',
  summary: 'End a try of an evaluation without a result',
  body: z.strictObject({
    ...leaseFields,
    message: z.string().min(1).max(100_000).describe('Why; its first 8,000 characters are kept.'),
    retryable: z.boolean().default(true).describe('Whether another try may help.'),
  }),
  responses: { 204: { description: 'The try has failed.' } },
  refusals: [409, 422],
  handle: async ({ body, gateway }) => {
    await gateway.evaluations.fail(body, body);
    return { status: 204 };
  },
});

export const evaluationOperations: readonly Operation[] = [claim, heartbeat, complete, fail];
