import { z } from 'zod';
import { ERROR_TABLE, type ErrorCode, FleetError, GatewayError } from '../errors.js';

export interface ClientOptions {
  /** Where `fleet serve` listens, as in `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Needed anywhere but on loopback; `fleet token add` makes one. */
  readonly token?: string;
  readonly signal?: AbortSignal;
}

/** The part of a problem document (RFC 9457) that the client reads. */
const ProblemSchema = z.looseObject({
  code: z.enum(Object.keys(ERROR_TABLE) as [ErrorCode, ...ErrorCode[]]),
  detail: z.string(),
  field: z.string().optional(),
  jobId: z.string().optional(),
});

/** The error that a problem document tells of. */
export function errorOfProblem(problem: unknown): FleetError | undefined {
  const { data } = ProblemSchema.safeParse(problem);
  if (data === undefined) return undefined;
  return new FleetError(data.code, data.detail, {
    ...(data.field === undefined ? {} : { field: data.field }),
    ...(data.jobId === undefined ? {} : { jobId: data.jobId }),
  });
}

/**
 * Sends one request to a gateway and gives its JSON.
 * @throws FleetError with the code of the gateway's problem document; GatewayError where no gateway answers there.
 */
export async function sendJson(
  { url, token, signal }: ClientOptions,
  method: 'GET' | 'POST' | 'DELETE' | 'PUT',
  path: string,
  body?: unknown,
): Promise<unknown> {
  const response = await fetch(new URL(path, url), {
    method,
    // A token must not follow a redirect to another place.
    redirect: 'error',
    headers: {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  }).catch((cause: unknown) => {
    signal?.throwIfAborted();
    throw new GatewayError(`no gateway answers at ${url}`, { cause });
  });
  const json = await response.json().catch((cause: unknown) => {
    throw new GatewayError(`${url} answered ${response.status} with something that is no JSON`, { cause });
  });
  if (response.ok) return json;
  throw errorOfProblem(json) ?? new GatewayError(`${url} answered ${response.status} without saying why`);
}
