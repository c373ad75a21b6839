import type { z } from 'zod';
import { SESSION_COOKIE } from '../auth/caller.js';
import type { OpenOperation, Operation, ResponseSpec } from '../http/operation.js';
import { PROBLEM_TYPE, ProblemSchema } from '../http/problem.js';
import { ComponentRegistry } from './component-registry.js';

interface ParameterObject {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly example?: unknown;
}

export interface OperationObject {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly ParameterObject[];
  readonly requestBody?: Readonly<Record<string, unknown>>;
  readonly responses: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly security?: readonly Record<string, readonly string[]>[];
  /** Minimum role of the token. */
  readonly 'x-role'?: string;
}

/** An OpenAPI 3.1 document, as far as this project reads it. */
export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly security: readonly Record<string, readonly string[]>[];
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: Readonly<Record<'schemas' | 'responses' | 'securitySchemes', Record<string, unknown>>>;
}

const PROBLEMS: Readonly<Record<number, string>> = {
  400: 'The request cannot be read.',
  401: 'There is no token, or it is not in force.',
  403: 'The token’s role does not allow this, or another site asked for it.',
  404: 'There is no such thing.',
  408: 'The body came too slowly.',
  409: 'It contradicts what is there.',
  413: 'A text or the whole body is too large.',
  415: 'The body is not JSON.',
  422: 'A field is wrong; the problem names it.',
  429: 'Too many requests, too much is open at the same time, or too many jobs wait; Retry-After says when to try again.',
  500: 'A defect of the gateway.',
  503: 'Redis is away or full, or the gateway is busy; Retry-After says when to try again.',
};
/** Version of the API, as in its paths. A caller without a token must not learn which release serves it. */
const API_VERSION = '1';
const ALWAYS = [400, 401, 403, 429, 500, 503];
const WITH_BODY = [408, 413, 415, 422];
const text = { type: 'string' };

/** The document of the API, made from the operations and their schemas. */
export function openApiDocument(operations: readonly (Operation | OpenOperation)[]): OpenApiDocument {
  const registry = new ComponentRegistry();
  const problem = registry.reference(ProblemSchema, 'output');
  const paths: Record<string, Record<string, OperationObject>> = {};
  for (const operation of operations) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method]: operationObject(operation, registry),
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'solution-fleet',
      version: API_VERSION,
      description:
        'Jobs for a fleet of machine-learning-engineering agents: submit, follow, cancel, evaluate.',
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }, { session: [] }],
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: registry.schemas,
      responses: Object.fromEntries(
        Object.entries(PROBLEMS).map(([status, description]) => [
          `Problem${status}`,
          {
            description,
            ...(status === '429' || status === '503'
              ? headersObject({ 'Retry-After': 'Seconds to wait.' })
              : {}),
            content: { [PROBLEM_TYPE]: { schema: problem } },
          },
        ]),
      ),
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'A token of `fleet token add`.' },
        session: { type: 'apiKey', in: 'cookie', name: SESSION_COOKIE, description: 'Set by logging in.' },
      },
    },
  };
}

function operationObject(operation: Operation | OpenOperation, registry: ComponentRegistry): OperationObject {
  const { id, summary, description, tag, responses } = operation;
  const common = {
    operationId: id,
    summary,
    tags: [tag],
    ...(description === undefined ? {} : { description }),
  };
  const documented = Object.fromEntries(
    Object.entries(responses).map(([status, spec]) => [status, responseObject(spec, registry)]),
  );
  if ('answer' in operation) return { ...common, security: [], responses: documented };
  const refusals = new Set([
    ...ALWAYS,
    ...(operation.refusals ?? []),
    ...(operation.body === undefined ? [] : WITH_BODY),
  ]);
  const problems = [...refusals].map((status) => [
    status,
    { $ref: `#/components/responses/Problem${status}` },
  ]);
  const parameters = parametersOf(operation, registry);
  return {
    ...common,
    'x-role': operation.role,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(operation.body === undefined ? {} : { requestBody: bodyObject(operation.body, registry) }),
    responses: { ...documented, ...Object.fromEntries(problems) },
  };
}

function bodyObject(body: z.ZodType, registry: ComponentRegistry) {
  return { required: true, content: { 'application/json': { schema: registry.reference(body, 'input') } } };
}

function headersObject(headers: Readonly<Record<string, string>>) {
  const described = Object.entries(headers).map(([name, description]) => [
    name,
    { description, schema: text },
  ]);
  return { headers: Object.fromEntries(described) };
}

function responseObject(
  { description, schema, contentType, headers }: ResponseSpec,
  registry: ComponentRegistry,
) {
  return {
    description,
    ...(headers === undefined ? {} : headersObject(headers)),
    ...(schema === undefined
      ? {}
      : {
          content: { [contentType ?? 'application/json']: { schema: registry.reference(schema, 'output') } },
        }),
  };
}

function parametersOf(
  { params, query, idempotent }: Operation,
  registry: ComponentRegistry,
): ParameterObject[] {
  const from = (location: 'path' | 'query', object: z.ZodObject | undefined): ParameterObject[] =>
    Object.entries((object?.shape ?? {}) as Record<string, z.ZodType>).map(([name, schema]) => ({
      name,
      in: location,
      required: location === 'path' || !schema.safeParse(undefined).success,
      ...(schema.description === undefined ? {} : { description: schema.description }),
      schema: registry.reference(schema, 'input'),
    }));
  const key = {
    name: 'Idempotency-Key',
    in: 'header' as const,
    required: false,
    description: 'The same as `key` in the body.',
    schema: text,
  };
  return [...from('path', params), ...from('query', query), ...(idempotent === true ? [key] : [])];
}
