import type { BackoffOptions, JobsOptions } from 'bullmq';
import { PayloadError } from '../../errors.js';
import { type OptionNames, rejectUnknownOptions } from '../../known-options.js';
import { isQueueName, nameField, QUEUE_NAME_RULE } from '../../queues/names.js';
import { pipelineDataBytes, type TextLimits } from '../../queues/validate.js';
import type { FleetClient } from '../fleet-client.js';
import { GUARD_FIELD } from './evaluation-guard.js';
import type { Evaluation } from './guarded-evaluation.js';

function rejectField(field: string, problem: string): never {
  throw new PayloadError('invalid-payload', `${field}: ${problem}`, { field });
}

const NameSchema = nameField(200);

const EVALUATION_FIELDS: OptionNames<Evaluation> = { queue: true, name: true, data: true, opts: true };

const BACKOFF_OPTIONS: OptionNames<BackoffOptions> = { type: true, delay: true, jitter: true };

/** BullMQ's own options of a job. */
const JOB_OPTIONS: OptionNames<JobsOptions> = {
  timestamp: true,
  priority: true,
  delay: true,
  attempts: true,
  backoff: true,
  lifo: true,
  removeOnComplete: true,
  removeOnFail: true,
  keepLogs: true,
  stackTraceLimit: true,
  sizeLimit: true,
  repeatJobKey: true,
  jobId: true,
  parent: true,
  prevMillis: true,
  deduplication: true,
  failParentOnFailure: true,
  continueParentOnFailure: true,
  ignoreDependencyOnFailure: true,
  removeDependencyOnFailure: true,
  telemetry: true,
};

/**
 * Validates the pipeline's evaluation job before anything is submitted.
 * @param at The field that contains it.
 * @throws PayloadError with the invalid field.
 */
export function checkEvaluation(
  evaluation: Evaluation,
  { kinds, limits }: Pick<FleetClient, 'kinds' | 'limits'>,
  at = 'evaluation',
): void {
  rejectUnknownOptions(evaluation, EVALUATION_FIELDS, at);
  const { queue, name, data, opts } = evaluation;
  if (opts !== undefined) checkJobOptions(opts, `${at}.opts`);
  if (!isQueueName(queue)) rejectField(`${at}.queue`, QUEUE_NAME_RULE);
  if (kinds.has(queue))
    rejectField(`${at}.queue`, `"${queue}" is a queue of the fleet; name a pipeline queue`);
  const issue = NameSchema.safeParse(name).error?.issues[0];
  if (issue !== undefined) rejectField(`${at}.name`, issue.message);
  if (data === undefined) return;
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    rejectField(`${at}.data`, 'must be an object');
  if (GUARD_FIELD in data) rejectField(`${at}.data.${GUARD_FIELD}`, 'is a field of the fleet');
  checkPipelineData(data, `${at}.data`, limits);
}

function checkJobOptions(opts: JobsOptions, at: string): void {
  rejectUnknownOptions(opts, JOB_OPTIONS, at);
  const { attempts, backoff } = opts;
  if (backoff !== undefined && typeof backoff !== 'number') {
    rejectUnknownOptions(backoff, BACKOFF_OPTIONS, `${at}.backoff`);
  }
  if (attempts !== undefined && !(Number.isInteger(attempts) && attempts > 0))
    rejectField(`${at}.attempts`, 'must be a whole number from 1');
}

/**
 * Checks the size of the data or the result of a job in a pipeline queue. The job itself stores it, and the job after a
 * batch gets the results of all its candidates.
 * @returns its size as JSON, in bytes of UTF-8.
 * @throws PayloadError `payload-too-large`; `invalid-payload` if it cannot be written as JSON.
 */
export function checkPipelineData(data: unknown, field: string, limits: TextLimits): number {
  const limit = pipelineDataBytes(limits);
  const bytes = jsonBytes(data, field);
  if (bytes <= limit) return bytes;
  throw new PayloadError(
    'payload-too-large',
    `${field} has ${bytes} bytes as JSON, the limit is ${limit} bytes (FLEET_MAX_DATA_BYTES); ` +
      'store larger data elsewhere and pass their location',
    { field },
  );
}

function jsonBytes(data: unknown, field: string): number {
  try {
    return Buffer.byteLength(JSON.stringify(data) ?? '', 'utf8');
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new PayloadError('invalid-payload', `${field}: cannot be written as JSON: ${why}`, {
      field,
      cause,
    });
  }
}
