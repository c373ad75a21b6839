import { PayloadError } from '../../errors.js';
import { isQueueName, nameField, QUEUE_NAME_RULE } from '../../queues/names.js';
import { isKindName } from '../../queues/registry.js';
import { pipelineDataBytes, type TextLimits } from '../../queues/validate.js';
import { GUARD_FIELD } from './evaluation-guard.js';
import type { Evaluation } from './guarded-evaluation.js';

function refuse(field: string, problem: string): never {
  throw new PayloadError('invalid-payload', `${field}: ${problem}`, { field });
}

const NameSchema = nameField(200);

/**
 * Checks the pipeline's own job before anything is submitted.
 * @param at The field that holds it.
 * @throws PayloadError with the field at fault.
 */
export function checkEvaluation(
  { queue, name, data }: Evaluation,
  limits: TextLimits,
  at = 'evaluation',
): void {
  if (!isQueueName(queue)) refuse(`${at}.queue`, QUEUE_NAME_RULE);
  if (isKindName(queue))
    refuse(`${at}.queue`, `"${queue}" is a queue of the fleet's own; name one of the pipeline's`);
  const issue = NameSchema.safeParse(name).error?.issues[0];
  if (issue !== undefined) refuse(`${at}.name`, issue.message);
  if (data === undefined) return;
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    refuse(`${at}.data`, 'must be an object');
  if (GUARD_FIELD in data) refuse(`${at}.data.${GUARD_FIELD}`, "is the fleet's own field");
  checkOwnData(data, `${at}.data`, limits);
}

/**
 * Checks the size of what a job in a queue of the pipeline's own carries or returns. It stands in the job itself, and a job
 * behind a batch gets the results of all its candidates.
 * @returns its size as JSON, in bytes of UTF-8.
 * @throws PayloadError `payload-too-large`; `invalid-payload` where it cannot be written as JSON.
 */
export function checkOwnData(data: unknown, field: string, limits: TextLimits): number {
  const limit = pipelineDataBytes(limits);
  const bytes = jsonBytes(data, field);
  if (bytes <= limit) return bytes;
  throw new PayloadError(
    'payload-too-large',
    `${field} has ${bytes} bytes as JSON, the limit is ${limit} bytes (FLEET_MAX_DATA_BYTES); ` +
      'keep larger data elsewhere and name their place',
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
