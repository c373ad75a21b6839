import { z } from 'zod';
import { ConfigurationError } from '../errors.js';
import type { JobService, ShownJob } from '../producers/job-service.js';
import { brokenJob } from '../queues/damaged-job.js';
import { failureError } from '../queues/failure.js';
import { readResult } from '../queues/read-result.js';
import { type BuiltInKindName, KINDS, type PayloadInputOf, type ResultOf } from '../queues/registry.js';
import type { ToolCall } from './tool.js';

/** Below the time after which clients give a call up, which is a minute in the SDK. */
export const WAIT_MS = 45_000;

/** A job that has not ended yet, in the answer of the tool that submitted it. */
export const jobFields = {
  jobId: z.string().optional().describe('Not ended: call job_status'),
  waitReason: z.string().optional(),
};

interface UnfinishedJob {
  readonly jobId: string;
  readonly waitReason?: string;
}

/** @throws ConfigurationError if there is no fleet. */
export function jobsFor({ host: { jobs } }: ToolCall): JobService {
  if (jobs !== undefined) return jobs;
  throw new ConfigurationError(
    'there is no fleet: start fleet mcp with --url, or with FLEET_REDIS_URL set, for this',
  );
}

/**
 * Has the fleet do a job, and waits for it.
 * @throws FleetError with the job's own code if it fails; ConfigurationError if there is no fleet.
 */
export async function doJob<K extends BuiltInKindName>(
  kind: K,
  payload: PayloadInputOf<K>,
  call: ToolCall,
): Promise<{ readonly result: ResultOf<K> } | { readonly job: UnfinishedJob }> {
  const jobs = jobsFor(call);
  const id = await jobs.add(kind, payload);
  const view = await jobs.view(id, WAIT_MS, call.signal);
  const { state, error, waitReason } = view;
  if (error !== undefined) throw failureError(error, id);
  if (state !== 'completed')
    return { job: { jobId: id, ...(waitReason === undefined ? {} : { waitReason }) } };
  return { result: resultOf(kind, view) };
}

/** The result of a job of a built-in kind. @throws JobError `broken-record` if it is none. */
export function resultOf<K extends BuiltInKindName>(kind: K, { id, result }: ShownJob): ResultOf<K> {
  const { data, error } = readResult(KINDS[kind].result, result);
  if (error !== undefined) throw brokenJob(id, 'its result is not one of its kind');
  return data as ResultOf<K>;
}
