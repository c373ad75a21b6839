import type { Response } from 'express';
import { z } from 'zod';
import { mapInChunks } from '../../event-loop.js';
import type { AddOptions } from '../../producers/add-options.js';
import { addCandidateBatch } from '../../producers/flows/candidate-batch.js';
import {
  addGuardedEvaluation,
  type GuardedEvaluationHandles,
} from '../../producers/flows/guarded-evaluation.js';
import { addRefinementStep } from '../../producers/flows/refinement-step.js';
import type { SubmissionFields } from '../../producers/submission-fields.js';
import { assertAllowed } from '../admission/payload-rules.js';
import { callerIdOf } from '../auth/caller-id.js';
import { ownKey, ownSubmission, submitterOfResponse } from '../auth/tenant.js';
import { isWait, WaitQuery } from '../http/duration.js';
import { later, type Operation, operation, type ResponseSpec } from '../http/operation.js';
import {
  CandidateBatchAnswer,
  CandidateBatchBody,
  GuardedEvaluationAnswer,
  GuardedEvaluationBody,
  MAX_CANDIDATES,
  RefinementAnswer,
  RefinementBody,
} from './flow-schemas.js';
import { locationOf, submitted, waitingOf, waitReply } from './job-resource.js';
import { JobSchema } from './job-schemas.js';
import { keyOf, WAIT_RESPONSES } from './responses.js';
import { submitOptions } from './submit-job.js';

const accepted = (schema: z.ZodType): ResponseSpec => ({
  description: 'Submitted, whole or not at all. With `wait`: the last job, which has not ended yet.',
  schema: z.union([schema, JobSchema]),
  headers: { Location: 'Where the last job is found.' },
});

/** The options of a submission as the body and the header name them, within its caller's rights, and the rest of the body. */
function splitBody<T extends SubmissionFields>(
  body: T,
  response: Response,
  idempotencyKey: string | undefined,
) {
  const { key, force, tenant, priority, delayMs, budgetUsd, deadline, reuse, ...rest } = body;
  const fields = submitOptions({ force, tenant, priority, delayMs, budgetUsd, deadline, reuse });
  const options = ownSubmission(response, { ...fields, ...keyOf(key, idempotencyKey) });
  return { options, rest };
}

/** The state of a new job that waits for no other one. */
function firstState({ delayMs = 0 }: AddOptions): 'delayed' | 'waiting' {
  return delayMs > 0 ? 'delayed' : 'waiting';
}

async function submittedEvaluation({ evaluation, check }: GuardedEvaluationHandles, options: AddOptions) {
  const [parent, child] = await Promise.all([
    submitted(evaluation, 'waiting-children'),
    submitted(check, firstState(options), evaluation),
  ]);
  return { evaluation: parent, check: child };
}

const refinement = operation({
  id: 'add-refinement-step',
  tag: 'Flows',
  method: 'post',
  path: '/v1/flows/refinement',
  role: 'submit',
  summary: 'One refinement step: summarize the ablation, then extract a block and a plan',
  query: WaitQuery,
  body: RefinementBody,
  idempotent: true,
  responses: { ...WAIT_RESPONSES, 202: accepted(RefinementAnswer) },
  refusals: [409, 422, 429],
  handle: async (call) => {
    const { body, query, gateway, idempotencyKey, response } = call;
    const { options, rest: step } = splitBody(body, response, idempotencyKey);
    await assertAllowed(step, '', gateway.settings);
    const counts = [['summarize', 1] as const, ['extract', 1] as const];
    const { extract, summarize } = await gateway.admission.within(submitterOfResponse(response), counts, () =>
      addRefinementStep(gateway.fleet, submitOptions(step), options),
    );
    if (isWait(query)) return later(waitReply, waitingOf(call), extract.id, query);
    return {
      status: 202,
      body: {
        extract: await submitted(extract, 'waiting-children'),
        summarize: await submitted(summarize, firstState(options), extract),
      },
      headers: { location: locationOf(extract.id) },
    };
  },
});

const guardedEvaluation = operation({
  id: 'add-guarded-evaluation',
  tag: 'Flows',
  method: 'post',
  path: '/v1/flows/guarded-evaluation',
  role: 'submit',
  summary: 'An evaluation that starts only once its script was checked for leakage',
  description: 'The evaluating side takes the job, and its checked script, from `/v1/evaluations/claim`.',
  query: WaitQuery,
  body: GuardedEvaluationBody,
  idempotent: true,
  responses: { ...WAIT_RESPONSES, 202: accepted(GuardedEvaluationAnswer) },
  refusals: [409, 422, 429],
  handle: async (call) => {
    const { body, query, gateway, idempotencyKey, response } = call;
    const { options, rest } = splitBody(body, response, idempotencyKey);
    const { evaluation, ...check } = rest;
    await assertAllowed(check, '', gateway.settings);
    const request = { ...submitOptions(check), evaluation: submitOptions(evaluation) };
    // The options of the job have passed their schema; JSON leaves out absent ones.
    const submit = () =>
      addGuardedEvaluation(gateway.fleet, request as Parameters<typeof addGuardedEvaluation>[1], options);
    const queues = [{ field: 'evaluation.queue', queue: evaluation.queue }];
    const handles = await gateway.admission.within(
      submitterOfResponse(response),
      [['solution-check', 1]],
      () => gateway.pipelineQueues.within(queues, callerIdOf(response), submit),
    );
    if (isWait(query)) return later(waitReply, waitingOf(call), handles.evaluation.id, query);
    return {
      status: 202,
      body: await submittedEvaluation(handles, options),
      headers: { location: locationOf(handles.evaluation.id) },
    };
  },
});

const candidateBatch = operation({
  id: 'add-candidate-batch',
  resource: 'batch',
  tag: 'Flows',
  method: 'post',
  path: '/v1/flows/candidate-batch',
  role: 'submit',
  summary: 'Guarded evaluations of many candidates, and a job after them all',
  description:
    `Up to ${MAX_CANDIDATES} candidates. One that fails does not sink the others. With \`afterAll\` the batch is stored ` +
    'whole or not at all. Without it each evaluation is stored whole with its check. What is refused stores nothing.',
  body: CandidateBatchBody,
  idempotent: true,
  responses: {
    202: {
      description: 'Submitted.',
      schema: CandidateBatchAnswer,
      headers: { Location: 'Where the job after the batch is found, if there is one.' },
    },
  },
  refusals: [409, 422, 429],
  handle: async ({ body, gateway, idempotencyKey, response }) => {
    const { options, rest } = splitBody(body, response, idempotencyKey);
    const { candidates: requested, ...shared } = rest;
    const candidates = requested.map(({ key: own, ...candidate }) =>
      submitOptions({ ...candidate, key: ownKey(response, own) }),
    );
    const batch = { ...shared, candidates };
    await assertAllowed(batch, '', gateway.settings);
    const counts = [['solution-check', batch.candidates.length] as const];
    const submit = () =>
      addCandidateBatch(gateway.fleet, batch as Parameters<typeof addCandidateBatch>[1], options);
    const queues = [
      { field: 'evaluation.queue', queue: batch.evaluation.queue },
      ...(batch.afterAll === undefined ? [] : [{ field: 'afterAll.queue', queue: batch.afterAll.queue }]),
    ];
    const { evaluations, afterAll } = await gateway.admission.within(
      submitterOfResponse(response),
      counts,
      () => gateway.pipelineQueues.within(queues, callerIdOf(response), submit),
    );
    return {
      status: 202,
      body: {
        evaluations: await mapInChunks(evaluations, (each) => submittedEvaluation(each, options)),
        ...(afterAll === undefined ? {} : { afterAll: await submitted(afterAll, 'waiting-children') }),
      },
      headers: afterAll === undefined ? {} : { location: locationOf(afterAll.id) },
    };
  },
});

export const flowOperations: readonly Operation[] = [refinement, guardedEvaluation, candidateBatch];
