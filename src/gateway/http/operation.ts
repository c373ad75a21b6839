import type { Request, Response } from 'express';
import { z } from 'zod';
import { PayloadError, RequestError } from '../../errors.js';
import { nearestName } from '../../nearest-name.js';
import { fieldPath, issueMessage } from '../../queues/validate.js';
import type { Resource } from '../admission/resource-limits.js';
import type { Role } from '../auth/roles.js';
import type { Gateway } from '../gateway.js';
import { type FieldIssue, withDetails } from './problem.js';

type Method = 'get' | 'post' | 'put' | 'delete';

/** A documented response. */
export interface ResponseSpec {
  readonly description: string;
  /** Absent: no body. */
  readonly schema?: z.ZodType;
  /** Default: application/json. */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a handler answers. */
export interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Work that remains once the body of the request is no longer needed: its memory is freed before. Make it with `later`, so
 * that it does not reference the handler's variables.
 */
export interface Later {
  readonly rest: () => Promise<Reply>;
}

/** The result of a handler; `undefined` if it has written the response itself. */
export type Outcome = Reply | Later | undefined;

/** Runs something after the memory of the request's body is freed. */
export function later<Args extends unknown[]>(work: (...args: Args) => Promise<Reply>, ...args: Args): Later {
  return { rest: () => work(...args) };
}

/** A slot for an answer with a whole job; a token has a limited number. */
export interface AnswerSlot {
  /** Keeps it until the answer is sent. */
  keep(): void;
  release(): void;
}

/** One request to an operation, validated. */
export interface Call<Params = unknown, Query = unknown, Body = unknown> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** Value of the Idempotency-Key header. */
  readonly idempotencyKey: string | undefined;
  readonly gateway: Gateway;
  /** Checks that the request is still allowed after it has waited. @throws RequestError. */
  readonly stillAllowed: () => Promise<unknown>;
  /**
   * Waits for a slot for an answer with a whole job, and keeps it until the answer is sent. Call it before the job is read,
   * and after all other waiting.
   */
  readonly roomForAnswer: () => Promise<void>;
  /** Takes such a slot if one is free now. Code that waits for something else uses this, so that it has no slot meanwhile. */
  readonly tryRoomForAnswer: () => AnswerSlot | undefined;
  /** Does a part of the work with one of the token's slots for it, and releases the slot. */
  readonly withSlot: <T>(resource: Resource, work: () => Promise<T>) => Promise<T>;
  /** Aborted when the client has left or the gateway closes. */
  readonly signal: AbortSignal;
  readonly request: Request;
  readonly response: Response;
}

/** What the documentation says of every route. */
interface Documented {
  readonly id: string;
  readonly tag: string;
  readonly method: Method;
  /** As OpenAPI writes it: `/v1/jobs/{id}`. */
  readonly path: `/${string}`;
  readonly summary: string;
  readonly description?: string;
  readonly responses: Readonly<Record<number, ResponseSpec>>;
}

/** A route that needs no token and answers even while Redis is away. */
export interface OpenOperation extends Documented {
  answer(): Promise<Reply>;
}

/** A route of the API: its documentation, validation and handler. */
export interface Operation extends Documented {
  readonly role: Role;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** Whether it reads the Idempotency-Key header. */
  readonly idempotent?: true;
  /** Status codes of its errors, besides those that every operation has. */
  readonly refusals?: readonly number[];
  /** The resource of which a request takes a slot. A request that waits takes `wait`. */
  readonly resource?: Resource;
  run(call: Call): Promise<Outcome>;
}

type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined;

/** Declares an operation; its handler gets the parameters and the body as parsed by its schemas. */
export function operation<
  P extends z.ZodObject | undefined = undefined,
  Q extends z.ZodObject | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(
  spec: Omit<Operation, 'run' | 'params' | 'query' | 'body'> & {
    readonly params?: P;
    readonly query?: Q;
    readonly body?: B;
    handle(call: Call<Parsed<P>, Parsed<Q>, Parsed<B>>): Promise<Outcome>;
  },
): Operation {
  const { handle, params, query, body, ...rest } = spec;
  return {
    ...rest,
    ...(params === undefined ? {} : { params }),
    ...(query === undefined ? {} : { query }),
    ...(body === undefined ? {} : { body }),
    run: (call) =>
      handle({
        ...call,
        params: parseParameters(params, call.params) as Parsed<P>,
        query: parseParameters(query ?? NO_QUERY, call.query) as Parsed<Q>,
        body: parseBody(body, call.body) as Parsed<B>,
      }),
  };
}

const NO_QUERY = z.strictObject({});

/** @throws RequestError `malformed-request` for a parameter of the path or query. */
export function parseParameters(schema: z.ZodType | undefined, value: unknown): unknown {
  if (schema === undefined) return undefined;
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [first, ...others] = issuesOf(parsed.error, schema, false);
  const { field, message } = first;
  throw withDetails(new RequestError('malformed-request', `${field}: ${message}`, { field }), {
    issues: [first, ...others],
  });
}

/** @throws PayloadError `invalid-payload` naming the field. */
export function parseBody(schema: z.ZodType | undefined, value: unknown): unknown {
  if (schema === undefined) return undefined;
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [first, ...others] = issuesOf(parsed.error, schema, isSubmission(value));
  const { field, message } = first;
  throw withDetails(new PayloadError('invalid-payload', `${field || 'body'}: ${message}`, { field }), {
    issues: [first, ...others],
  });
}

/** How many invalid fields one error lists. */
const MAX_ISSUES = 20;

function isSubmission(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'payload');
}

/** An unknown field, with a hint if it is a field of the payload that is not in it, or a misspelled one of the body. */
function unknownField(path: readonly PropertyKey[], schema: z.ZodType, besidePayload: boolean): FieldIssue {
  const field = shownPath(path);
  if (besidePayload && field === 'then') {
    return { field, message: 'unknown field; follow-ups belong in "payload"' };
  }
  const known = path.length === 1 && schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const nearest = nearestName(field, known);
  return {
    field,
    message: nearest === undefined ? 'unknown field' : `unknown field; did you mean "${nearest}"?`,
  };
}

function issuesOf(
  error: z.ZodError,
  schema: z.ZodType,
  ofSubmission: boolean,
): [FieldIssue, ...FieldIssue[]] {
  const issues = error.issues
    .slice(0, MAX_ISSUES)
    .flatMap((issue): FieldIssue[] =>
      issue.code === 'unrecognized_keys'
        ? issue.keys
            .slice(0, MAX_ISSUES)
            .map((key) => unknownField([...issue.path, key], schema, ofSubmission))
        : [{ field: shownPath(issue.path), message: issueMessage(issue) }],
    );
  const [first = { field: '', message: 'is not valid' }, ...others] = issues.slice(0, MAX_ISSUES);
  return [first, ...others];
}

/** Longest path of a field in an error, in characters: the client chooses its names. */
const MAX_SHOWN_PATH = 300;

function shownPath(path: readonly PropertyKey[]): string {
  const text = fieldPath(path);
  return text.length <= MAX_SHOWN_PATH ? text : `${text.slice(0, MAX_SHOWN_PATH)}…`;
}
