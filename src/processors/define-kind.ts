import { z } from 'zod';
import { KindError, messageOf } from '../errors.js';
import { suggestionFor } from '../nearest-name.js';
import { payloadBase } from '../queues/common.js';
import { definitionProblem } from '../queues/definition-problem.js';
import { DEFAULT_JOB, type JobDefaults, type JobKind, type KindLimits } from '../queues/kind.js';
import type { Work } from './processor.js';

/** A payload with the fields that every payload has. */
type CompletePayload<Payload extends z.ZodObject> = z.ZodObject<
  z.util.Extend<Payload['shape'], typeof payloadBase>,
  z.core.$strict
>;

/** What a kind is defined with. */
export interface KindDefinition<Name extends string, Payload extends z.ZodObject, Result extends z.ZodType>
  extends Pick<JobKind, 'fieldsSince' | 'queueFields' | 'setByChild'> {
  /** Name of the kind, of its queue and of its route: `my-kind`. */
  readonly name: Name;
  /** One sentence for users. */
  readonly summary?: string;
  /** What is submitted. `tags` is added; other fields are refused. */
  readonly payload: Payload;
  readonly result: Result;
  readonly limits?: KindLimits;
  readonly suppliedByChild?: JobKind['suppliedByChild'];
  /** Default: three attempts, two and four seconds apart. */
  readonly defaults?: Partial<JobDefaults>;
  /** Turns a validated payload into a result. A FleetError decides by its code whether the job is tried again. */
  process(payload: z.output<CompletePayload<Payload>>, work: Work): Promise<z.input<Result>>;
}

/** A job kind with all that a worker needs. */
export interface Kind<
  Name extends string = string,
  Payload extends z.ZodObject = z.ZodObject,
  Result extends z.ZodType = z.ZodType,
> extends JobKind<Name, Payload, Result> {
  process(payload: z.output<Payload>, work: Work): Promise<z.input<Result>>;
}

/** Marks what `defineKind` returns; the module of a user may have loaded another copy of this package. */
const DEFINED = Symbol.for('solution-fleet.kind');

export function isKind(value: unknown): value is Kind {
  return typeof value === 'object' && value !== null && DEFINED in value;
}

/** Names occur in Redis keys, URLs, metrics and ids of jobs. */
const NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
const MAX_NAME_LENGTH = 50;
const NAME_RULE = `must be 1 to ${MAX_NAME_LENGTH} small letters (a to z), digits and single "-" between them, with a letter first`;

const isZod = (value: unknown) => typeof value === 'object' && value !== null && '_zod' in value;
const functionField = z.custom((value) => typeof value === 'function', 'must be a function');
const DefinitionSchema = z.strictObject({
  name: z.string(NAME_RULE).regex(NAME, NAME_RULE).max(MAX_NAME_LENGTH, NAME_RULE),
  summary: z.string().min(1).optional(),
  payload: z.custom<z.ZodObject>(
    (value) => isZod(value) && (value as z.ZodType)._zod.def.type === 'object',
    'must be an object schema of zod 4',
  ),
  result: z.custom<z.ZodType>(isZod, 'must be a schema of zod 4'),
  limits: z
    .strictObject({
      largeTexts: z.array(z.string()).optional(),
      timeoutMs: z.int().positive().optional(),
      concurrency: z.int().positive().optional(),
    })
    .optional(),
  defaults: z
    .strictObject({
      attempts: z.int().min(1).max(100).optional(),
      backoffMs: z.int().nonnegative().optional(),
    })
    .optional(),
  suppliedByChild: z.record(z.string(), functionField).optional(),
  setByChild: z.record(z.string(), functionField).optional(),
  queueFields: z.array(z.string()).optional(),
  fieldsSince: z.record(z.string(), z.int().positive()).optional(),
  process: functionField,
});

/**
 * Defines a job kind: its contract, its processor and its options. The types of the payload and the result are those of
 * its schemas.
 * @throws KindError if the name or the contract cannot be used.
 *
 * @example
 * export const wordCount = defineKind({
 *   name: 'word-count',
 *   payload: z.object({ text: z.string() }),
 *   result: z.object({ words: z.number() }),
 *   process: async ({ text }) => ({ words: text.split(/\s+/).length }),
 * });
 */
export function defineKind<const Name extends string, Payload extends z.ZodObject, Result extends z.ZodType>(
  definition: KindDefinition<Name, Payload, Result>,
): Kind<Name, CompletePayload<Payload>, Result> {
  const { name, result, summary, limits = {}, suppliedByChild = {}, defaults } = definition;
  const { error } = DefinitionSchema.safeParse(definition);
  if (error !== undefined) {
    const { field, message } = definitionProblem(DefinitionSchema, error);
    throw new KindError(`kind ${JSON.stringify(name) ?? 'without a name'}: ${field}: ${message}`, { field });
  }
  const payload = completePayload(name, definition.payload);
  assertPayloadFields(name, Object.keys(payload.shape), definition);
  // It takes some milliseconds for each schema, which those of the built-in kinds need not cost every worker.
  if (payload !== (definition.payload as z.ZodObject)) {
    assertJson(name, 'payload', payload);
    assertJson(name, 'result', result);
  }
  const kind = {
    ...definition,
    payload,
    summary: summary ?? `Jobs of the kind ${name}.`,
    limits,
    suppliedByChild,
    defaults: { ...DEFAULT_JOB, ...defaults },
  };
  // A copy of a kind with other fields has not been checked, so it has no mark.
  return Object.defineProperty(kind, DEFINED, { value: true });
}

/** Fields of a definition that name fields of the payload must name existing ones. */
function assertPayloadFields(
  name: string,
  known: readonly string[],
  {
    limits = {},
    suppliedByChild = {},
    setByChild = {},
    queueFields = [],
    fieldsSince = {},
  }: Partial<Pick<JobKind, 'limits' | 'suppliedByChild' | 'setByChild' | 'queueFields' | 'fieldsSince'>>,
): void {
  const named = {
    'limits.largeTexts': limits.largeTexts ?? [],
    suppliedByChild: Object.keys(suppliedByChild),
    setByChild: Object.keys(setByChild),
    queueFields: queueFields.map((path) => path.split('.', 1)[0] ?? ''),
    fieldsSince: Object.keys(fieldsSince),
  };
  for (const [field, names] of Object.entries(named)) {
    const unknown = names.find((other) => !known.includes(other));
    if (unknown === undefined) continue;
    const problem = `"${unknown}" is not a field of the payload; ${suggestionFor(unknown, known)}`;
    throw new KindError(`kind "${name}": ${field}: ${problem}`, { field });
  }
}

function completePayload<Payload extends z.ZodObject>(
  name: string,
  payload: Payload,
): CompletePayload<Payload> {
  const reserved = Object.entries(payloadBase).find(
    ([field, schema]) => Object.hasOwn(payload.shape, field) && payload.shape[field] !== schema,
  );
  if (reserved !== undefined)
    throw new KindError(
      `kind "${name}": payload.${reserved[0]}: is a field of the fleet; choose another name`,
    );
  // A payload that has them is a built-in one. The cast says what `safeExtend` and `strict` do.
  const complete = Object.hasOwn(payload.shape, 'tags') ? payload : payload.safeExtend(payloadBase).strict();
  return complete as unknown as CompletePayload<Payload>;
}

/** Payloads and results are stored as JSON and read by the same schema again, so it may not change what it has read. */
function assertJson(name: string, field: string, schema: z.ZodType): void {
  try {
    z.toJSONSchema(schema, { io: 'output' });
  } catch (thrown) {
    throw new KindError(`kind "${name}": ${field}: cannot be stored as JSON: ${messageOf(thrown)}`, {
      field,
      cause: thrown,
    });
  }
}
