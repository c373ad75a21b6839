import { z } from 'zod';
import { ERROR_TABLE, type ErrorCode } from '../../errors.js';
import {
  discardDeadLetters,
  getDeadLetter,
  listDeadLetters,
  retryDeadLetters,
} from '../../producers/dead-letters.js';
import { type Operation, operation } from '../http/operation.js';
import { queueOfId } from './job-resource.js';
import { JobFailureResource, JobIdParams, JobSchema, ListedKind } from './job-schemas.js';
import { submitOptions } from './submit-job.js';

const CODES = Object.keys(ERROR_TABLE) as [ErrorCode, ...ErrorCode[]];
const filterFields = {
  kind: ListedKind,
  run: z.string().min(1).max(512).optional(),
  tenant: z.string().min(1).max(200).optional(),
  code: z.enum(CODES).optional().describe('Only jobs that failed with this error code.'),
};
const FilterBody = z.strictObject({
  ...filterFields,
  ids: z.array(z.string()).max(10_000).optional(),
  olderThanMs: z.int().nonnegative().optional(),
});
const ActionSchema = z
  .strictObject({
    done: z.array(z.string()),
    refused: z.array(z.strictObject({ id: z.string(), reason: z.string() })),
  })
  .meta({ id: 'DeadLetterAction' });

const listOperation = operation({
  id: 'list-dead-letters',
  resource: 'read',
  tag: 'Dead letters',
  method: 'get',
  path: '/v1/dead-letters',
  role: 'read',
  summary: 'Jobs that failed for good, newest first within their kind',
  query: z.strictObject({
    ...filterFields,
    limit: z.coerce.number().int().min(1).max(1_000).default(100),
  }),
  responses: {
    200: { description: 'The jobs.', schema: z.strictObject({ jobs: z.array(JobSchema) }) },
  },
  refusals: [404],
  handle: async ({ query: { limit, ...filter }, gateway }) => ({
    status: 200,
    body: { jobs: await listDeadLetters(gateway.fleet, submitOptions(filter), limit) },
  }),
});

const show = operation({
  id: 'get-dead-letter',
  resource: 'read',
  tag: 'Dead letters',
  method: 'get',
  path: '/v1/dead-letters/{id}',
  role: 'read',
  summary: 'A job that failed for good: with its payload and every agent call of every attempt',
  params: JobIdParams,
  responses: {
    200: {
      description: 'The dead letter.',
      schema: z.strictObject({
        job: JobSchema,
        payload: z.unknown().describe('What was submitted.'),
        payloadError: JobFailureResource.optional().describe('Why its long texts cannot be read.'),
        calls: z.array(z.looseObject({})).describe('The ledger.'),
      }),
    },
  },
  refusals: [404],
  handle: async ({ params: { id }, gateway }) => {
    queueOfId(id);
    return { status: 200, body: await getDeadLetter(gateway.fleet, id) };
  },
});

/** What is done to the dead letters that a filter selects. */
const ACTION = {
  description: 'Refused without a filter.',
  body: FilterBody,
  responses: { 200: { description: 'What became of each.', schema: ActionSchema } },
  refusals: [404],
} as const;

const retryOperation = operation({
  id: 'retry-dead-letters',
  resource: 'read',
  tag: 'Dead letters',
  method: 'post',
  path: '/v1/dead-letters:retry',
  role: 'submit',
  summary: 'Run dead letters again; calls that were answered are not paid again',
  ...ACTION,
  handle: async ({ body, gateway }) => ({
    status: 200,
    body: await retryDeadLetters(gateway.fleet, submitOptions(body)),
  }),
});

const dropOperation = operation({
  id: 'drop-dead-letters',
  resource: 'read',
  tag: 'Dead letters',
  method: 'post',
  path: '/v1/dead-letters:drop',
  role: 'admin',
  summary: 'Remove dead letters permanently',
  ...ACTION,
  handle: async ({ body, gateway }) => ({
    status: 200,
    body: await discardDeadLetters(gateway.fleet, submitOptions(body)),
  }),
});

export const deadLetterOperations: readonly Operation[] = [
  listOperation,
  show,
  retryOperation,
  dropOperation,
];
