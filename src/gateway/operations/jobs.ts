import { z } from 'zod';
import { cancelJob } from '../../producers/cancel-job.js';
import { hasEnded } from '../../producers/job-view.js';
import { listJobs } from '../../producers/list-jobs.js';
import { retryJob } from '../../producers/retry-job.js';
import { listRunJobs, viewRun } from '../../producers/run-view.js';
import { callerOf } from '../auth/tenant.js';
import { isWait, WaitQuery } from '../http/duration.js';
import { operation } from '../http/operation.js';
import { jobResource, locationOf, queueOfId, waitReply } from './job-resource.js';
import {
  JobIdParams,
  JobSchema,
  JobStateSchema,
  ListedKind,
  RunJobSchema,
  UsageResource,
} from './job-schemas.js';
import { WAIT_RESPONSES } from './responses.js';

export const getJob = operation({
  id: 'get-job',
  tag: 'Jobs',
  method: 'get',
  path: '/v1/jobs/{id}',
  role: 'read',
  summary: 'A job: state, progress, result, error, usage, lineage',
  params: JobIdParams,
  query: WaitQuery,
  responses: {
    200: { description: 'The job; with `wait`, it has ended.', schema: JobSchema },
    202: { description: 'With `wait`: the job, which has not ended yet.', schema: JobSchema },
  },
  refusals: [404],
  handle: async (call) => {
    const { params, query, gateway } = call;
    if (isWait(query)) return waitReply(call, params.id, query);
    await call.roomForAnswer();
    return { status: 200, body: await jobResource(gateway.fleet, params.id) };
  },
});

export const cancelOperation = operation({
  id: 'cancel-job',
  tag: 'Jobs',
  method: 'delete',
  path: '/v1/jobs/{id}',
  role: 'submit',
  summary: 'Cancel a job wherever it is, and the children that it still waits for',
  params: JobIdParams,
  responses: { 200: { description: 'The job, which is cancelled.', schema: JobSchema } },
  refusals: [404, 409],
  handle: async ({ params, gateway, roomForAnswer }) => {
    await cancelJob(gateway.fleet, params.id, queueOfId(params.id));
    await roomForAnswer();
    return { status: 200, body: await jobResource(gateway.fleet, params.id) };
  },
});

export const retryOperation = operation({
  id: 'retry-job',
  tag: 'Jobs',
  method: 'post',
  path: '/v1/jobs/{id}/retry',
  role: 'submit',
  summary: 'Run a failed job again, with a fresh set of attempts',
  params: JobIdParams,
  query: WaitQuery,
  responses: {
    ...WAIT_RESPONSES,
    202: { description: 'The job, which waits again.', schema: JobSchema },
  },
  refusals: [404, 409],
  handle: async (call) => {
    const { params, query, gateway } = call;
    const { id } = params;
    await retryJob(gateway.fleet, id, queueOfId(id));
    if (isWait(query)) return waitReply(call, id, query);
    await call.roomForAnswer();
    const job = await jobResource(gateway.fleet, id);
    return { status: hasEnded(job.state) ? 200 : 202, body: job, headers: { location: locationOf(id) } };
  },
});

export const listOperation = operation({
  id: 'list-jobs',
  resource: 'read',
  tag: 'Jobs',
  method: 'get',
  path: '/v1/jobs',
  role: 'read',
  summary: 'Jobs by kind, state and run, newest first (without a run: within their kind)',
  query: z.strictObject({
    kind: ListedKind,
    state: JobStateSchema.optional(),
    run: z.string().min(1).max(512).optional(),
    limit: z.coerce.number().int().min(1).max(1_000).default(100),
  }),
  responses: {
    200: {
      description: 'The jobs, without their results.',
      schema: z.strictObject({ jobs: z.array(JobSchema) }),
    },
  },
  refusals: [404],
  handle: async ({ query, gateway }) => {
    const { kind, state, run, limit } = query;
    const filter = {
      limit,
      ...(kind === undefined ? {} : { kind }),
      ...(state === undefined ? {} : { state }),
    };
    const views =
      run === undefined
        ? await listJobs(gateway.fleet, filter)
        : await listRunJobs(gateway.fleet, run, filter);
    return { status: 200, body: { jobs: views.map(({ tenant: _, ...view }) => view) } };
  },
});

const count = z.int().nonnegative();

export const getRun = operation({
  id: 'get-run',
  resource: 'read',
  tag: 'Runs',
  method: 'get',
  path: '/v1/runs/{run}',
  role: 'read',
  summary: 'Everything of one pipeline run: jobs as trees, states, cost',
  description:
    'A run is what the tag `run` of the submitted jobs names. One that nobody has submitted a job of is empty. For a token that is bound to a tenant, it consists of the jobs of that tenant.',
  params: z.strictObject({ run: z.string().min(1).max(512) }),
  query: z.strictObject({ limit: z.coerce.number().int().min(1).max(10_000).default(1_000) }),
  responses: {
    200: {
      description: 'The run.',
      schema: z
        .strictObject({
          run: z.string(),
          total: count,
          states: z.record(JobStateSchema, count),
          usage: UsageResource,
          jobs: z.array(RunJobSchema),
          truncated: z.boolean().describe('Whether `jobs` leaves some out; the sums are over all.'),
        })
        .meta({ id: 'Run' }),
    },
  },
  handle: async ({ params, query, gateway, response }) => ({
    status: 200,
    body: await viewRun(gateway.fleet, params.run, { ...query, tenant: callerOf(response).tenant }),
  }),
});
