import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { ERROR_TABLE, type ErrorCode, FleetError, GatewayError } from '../errors.js';

export interface ClientOptions {
  /** Where `fleet serve` listens, as in `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Needed unless the gateway is on loopback; `fleet token add` makes one. */
  readonly token?: string;
  readonly signal?: AbortSignal;
  /** How long a temporarily rejected request is retried, in milliseconds; default 60,000. */
  readonly retryTimeoutMs?: number;
}

const DEFAULT_RETRY_TIMEOUT_MS = 60_000;
/** Pause before a retry if the gateway sends no Retry-After, in milliseconds. */
const DEFAULT_PAUSE_MS = 1_000;
/** Codes of errors with 503 after which nothing was stored, so any request may be sent again. */
const NOTHING_DONE: ReadonlySet<string | undefined> = new Set(['gateway-busy', 'redis-full']);

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

/** Whether a request may be sent again after an answer: it was refused for the moment, and has changed nothing. */
function isPassing(method: string, status: number, error: FleetError | undefined): boolean {
  return status === 429 || (status === 503 && (method === 'GET' || NOTHING_DONE.has(error?.code)));
}

function pauseOf(response: Response): number {
  const seconds = response.headers.get('retry-after') ?? '';
  return /^\d+$/.test(seconds) ? Number(seconds) * 1_000 : DEFAULT_PAUSE_MS;
}

/**
 * Sends one request to a gateway and returns its JSON. A temporarily rejected request is sent again if the gateway's
 * Retry-After is within the timeout.
 * @throws FleetError with the code of the gateway's problem document; GatewayError if no gateway answers there.
 */
export async function sendJson(
  options: ClientOptions,
  method: Method,
  path: string,
  body?: unknown,
): Promise<unknown> {
  const { url, signal, retryTimeoutMs = DEFAULT_RETRY_TIMEOUT_MS } = options;
  const giveUpAt = performance.now() + retryTimeoutMs;
  for (;;) {
    const response = await sendOnce(options, method, path, body);
    const json: unknown = await response.json().catch((cause: unknown) => {
      signal?.throwIfAborted();
      throw new GatewayError(`${url} answered ${response.status} with something that is not JSON`, { cause });
    });
    if (response.ok) return json;
    const error = errorOfProblem(json);
    const pause = pauseOf(response);
    if (!isPassing(method, response.status, error) || performance.now() + pause > giveUpAt) {
      throw error ?? new GatewayError(`${url} answered ${response.status} without saying why`);
    }
    // Requests that were rejected together must not return together.
    const spread = 1 + Math.random() / 5;
    await setTimeout(pause * spread, undefined, { signal }).catch((thrown: unknown) => {
      signal?.throwIfAborted();
      throw thrown;
    });
  }
}

type Method = 'GET' | 'POST' | 'DELETE' | 'PUT';

function sendOnce(
  { url, token, signal }: ClientOptions,
  method: Method,
  path: string,
  body: unknown,
): Promise<Response> {
  return fetch(new URL(path, url), {
    method,
    // A token must not follow a redirect to another server.
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
}
