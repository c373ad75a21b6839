import type { Response } from 'express';
import { z } from 'zod';
import { PayloadError } from '../../errors.js';
import { addJob } from '../../producers/add-job.js';
import type { AddOptions } from '../../producers/add-options.js';
import type { JobHandle } from '../../producers/job-handle.js';
import { SUBMISSION_FIELDS } from '../../producers/submission-fields.js';
import type { JobKind } from '../../queues/kind.js';
import { namedQueues } from '../../queues/queue-fields.js';
import type { KindName, KindRegistry, PayloadInputOf } from '../../queues/registry.js';
import { assertAllowed } from '../admission/payload-rules.js';
import { callerIdOf } from '../auth/caller-id.js';
import { ownSubmission, submitterOfResponse } from '../auth/tenant.js';
import type { Gateway } from '../gateway.js';
import { isWait, WaitQuery } from '../http/duration.js';
import { later, type Operation, operation } from '../http/operation.js';
import { locationOf, submitted, waitingOf, waitReply } from './job-resource.js';
import { JobSchema, SubmittedSchema } from './job-schemas.js';
import { keyOf } from './responses.js';

/** Options of the producers from the fields of a body, without those that are absent. */
export function submitOptions<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

/** An error of a payload names its field as in the request body. */
export function inBody(thrown: unknown, at: string): unknown {
  if (!(thrown instanceof PayloadError) || thrown.field === undefined || thrown.field === 'key')
    return thrown;
  const field = `${at}.${thrown.field}`;
  return new PayloadError(thrown.code, thrown.message, { field, cause: thrown });
}

/**
 * Submits one job within the rights and the limits of the caller.
 * @throws as `addJob`; RequestError if the caller or the fleet has too many jobs, or the payload names what is not allowed.
 */
export async function submitJob(
  gateway: Gateway,
  response: Response,
  contract: JobKind,
  payload: Readonly<Record<string, unknown>>,
  options: AddOptions = {},
): Promise<JobHandle> {
  const own = ownSubmission(response, options);
  await assertAllowed(payload, 'payload', gateway.settings);
  const queues = namedQueues(gateway.fleet.kinds, contract, payload);
  const submit = () => addJob(gateway.fleet, contract.name, payload as PayloadInputOf<KindName>, own);
  return gateway.admission
    .within(submitterOfResponse(response), [[contract.name, 1]], () =>
      gateway.pipelineQueues.within(queues, callerIdOf(response), submit),
    )
    .catch((thrown: unknown) => {
      throw inBody(thrown, 'payload');
    });
}

function submitOperation(contract: JobKind): Operation {
  const { name: kind, summary, payload, result } = contract;
  const ended = JobSchema.extend({ result: result.optional() }).meta({ id: `Job-${kind}` });
  return operation({
    id: `submit-${kind}`,
    tag: 'Jobs',
    method: 'post',
    path: `/v1/jobs/${kind}`,
    role: 'submit',
    summary: `Submit one ${kind} job`,
    description: summary,
    query: WaitQuery,
    body: z.strictObject({ payload, ...SUBMISSION_FIELDS }),
    idempotent: true,
    responses: {
      200: { description: 'With `wait`: the job has ended.', schema: ended },
      202: {
        description: 'Submitted. With `wait`: the job, which has not ended yet.',
        schema: z.union([SubmittedSchema, ended]),
        headers: { Location: 'Where the job is found.' },
      },
    },
    refusals: [409, 422, 429],
    handle: async (call) => {
      const { body, query, gateway, idempotencyKey, response } = call;
      const { payload: input, ...fields } = body;
      const options = { ...submitOptions(fields), ...keyOf(body.key, idempotencyKey) };
      const job = await submitJob(gateway, response, contract, input, options);
      if (isWait(query)) return later(waitReply, waitingOf(call), job.id, query);
      return {
        status: 202,
        body: await submitted(job, options.delayMs ? 'delayed' : 'waiting'),
        headers: { location: locationOf(job.id) },
      };
    },
  });
}

export function submitOperations(kinds: KindRegistry): readonly Operation[] {
  return [...kinds].map(submitOperation);
}
