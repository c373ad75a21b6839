import { z } from 'zod';
import { UsageError } from '../../errors.js';
import type { ChildEvaluation, ChildOptions, ChildRequest } from '../../processors/processor.js';
import { isQueueName, QUEUE_NAME_RULE } from '../../queues/names.js';
import { type KindRef, kindNameOf } from '../../queues/registry.js';
import { firstIssue } from '../../queues/validate.js';

/** Maximum length of a child's name, in characters. */
const MAX_NAME_LENGTH = 200;

const isFunction = (value: unknown) => typeof value === 'function';
const Attempts = z.int('must be a whole number').min(1, 'must be at least 1').optional();
const NameField = z
  .string({
    error: ({ input }) =>
      input === undefined ? 'is missing: each child of a job needs a name of its own' : 'must be a text',
  })
  .min(1, 'must not be empty')
  .max(MAX_NAME_LENGTH, `must have at most ${MAX_NAME_LENGTH} characters`);
const OptionsSchema = z.strictObject(
  {
    name: NameField,
    orElse: z.unknown().optional(),
    onFailure: z.custom(isFunction, 'must be a function').optional(),
    attempts: Attempts,
  },
  'must be an object with the name of the child, as in { name: "verify" }',
);
const Queue = z.custom<string>(isQueueName, QUEUE_NAME_RULE);
const Fields = z.record(z.string(), z.unknown(), 'must be an object');
const PayloadSchema = Fields.refine(
  ({ tags }) => tags === undefined || Fields.safeParse(tags).success,
  'its field "tags" must be an object',
);
const KindSchema = z.union(
  [Queue, z.looseObject({ name: Queue })],
  'must be the name of a kind, or what defineKind returned',
);
const RequestSchema = z.strictObject(
  { queue: Queue, payload: PayloadSchema, options: OptionsSchema },
  'must be an object: { queue, payload, options: { name } }',
);
// The contract of the check validates the other fields.
const EvaluationSchema = z.looseObject(
  {
    solution: z.looseObject({ content: z.string('must be a text') }, 'must be an object: { content }'),
    queue: Queue,
    data: Fields.optional(),
    attempts: Attempts,
  },
  'must be an object: { solution, queue }',
);

/** @throws UsageError `usage` with the argument that is missing or wrong. */
function assertArguments(method: string, jobId: string, schema: z.ZodType, args: object): void {
  const { error } = schema.safeParse(args);
  if (error === undefined) return;
  const { field, message } = firstIssue(error);
  throw new UsageError('usage', `work.jobs.${method}: ${field} ${message}`, { jobId, field });
}

const ChildSchema = z.strictObject({ kind: KindSchema, payload: PayloadSchema, options: OptionsSchema });
const ChildInSchema = z.strictObject({ queue: Queue, payload: PayloadSchema, options: OptionsSchema });
const ChildrenSchema = z.strictObject({ requests: z.array(RequestSchema, 'must be an array') });
const EvaluationArgumentsSchema = z.strictObject({
  evaluation: EvaluationSchema,
  options: z.strictObject({ name: NameField }, 'must be an object with the name of the evaluation'),
});

/** A child that a processor requests. */
export interface KindRequest extends ChildRequest {
  /** Whether its queue is that of a kind, though this worker may not know it. */
  readonly isKind?: boolean;
  /** Whether only its name is known, which may be misspelled. */
  readonly mustExist?: boolean;
}

/**
 * The arguments of `work.jobs`, which a processor in JavaScript may get wrong.
 * @throws UsageError `usage`.
 */
export function requestOfKind(
  jobId: string,
  kind: KindRef,
  payload: ChildRequest['payload'],
  options: ChildOptions<unknown>,
): KindRequest {
  assertArguments('child', jobId, ChildSchema, { kind, payload, options });
  return { queue: kindNameOf(kind), payload, options, isKind: true, mustExist: typeof kind === 'string' };
}

export function requestInQueue(jobId: string, request: ChildRequest): ChildRequest {
  assertArguments('childIn', jobId, ChildInSchema, request);
  return request;
}

export function requestsOf(jobId: string, requests: readonly ChildRequest[]): readonly ChildRequest[] {
  assertArguments('children', jobId, ChildrenSchema, { requests });
  return [...requests];
}

export function requestOfEvaluation(
  jobId: string,
  evaluation: ChildEvaluation,
  options: Pick<ChildOptions, 'name'>,
): { readonly queue: string; readonly evaluation: ChildEvaluation; readonly options: ChildOptions } {
  assertArguments('evaluation', jobId, EvaluationArgumentsSchema, { evaluation, options });
  return { queue: evaluation.queue, evaluation, options: { name: options.name } };
}
