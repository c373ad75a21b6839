import createClient, { type Client } from 'openapi-fetch';
import { FleetError, GatewayError } from '../errors.js';
import type { ClientOptions } from './client-options.js';
import type { paths } from './openapi-types.js';
import { pauseFor } from './pause.js';
import { errorOfProblem } from './problem.js';

const DEFAULT_RETRY_TIMEOUT_MS = 60_000;
/** Pause before a retry if the gateway sends no Retry-After, in milliseconds. */
const DEFAULT_PAUSE_MS = 1_000;
/** Codes of errors with 503 after which nothing was stored, so any request may be sent again. */
const NOTHING_DONE: ReadonlySet<string | undefined> = new Set(['gateway-busy', 'redis-full']);

/** The calls of openapi-fetch, with the types of the OpenAPI document. */
export type GatewayApi = Client<paths>;

/** What a call of openapi-fetch resolves to. */
interface Answer<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/** The requests of one client: its token, its retries, and errors instead of problem documents. */
export class GatewayConnection {
  readonly signal: AbortSignal | undefined;
  /** How long a temporarily rejected request is retried, in milliseconds. */
  readonly retryTimeoutMs: number;
  readonly #url: string;
  readonly #api: GatewayApi;

  constructor({ url, token, signal, retryTimeoutMs = DEFAULT_RETRY_TIMEOUT_MS }: ClientOptions) {
    this.#url = url;
    this.signal = signal;
    this.retryTimeoutMs = retryTimeoutMs;
    this.#api = createClient<paths>({
      baseUrl: new URL(url).origin,
      fetch: (request) => this.#fetchWithRetries(request),
      // A token must not follow a redirect to another server.
      redirect: 'error',
      headers: {
        accept: 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(signal === undefined ? {} : { signal }),
    });
  }

  /**
   * Sends one request and returns what it answers. A temporarily rejected request is sent again if the gateway's Retry-After
   * is within the timeout.
   * @throws FleetError with the code of the gateway's problem document; GatewayError if no gateway answers there.
   */
  async send<Data>(request: (api: GatewayApi) => Promise<Answer<Data>>): Promise<Data> {
    const { data, error, response } = await this.#answerOf(request);
    if (!response.ok) throw this.#errorOf(error, response.status);
    return data as Data;
  }

  /**
   * Sends one request, once, of which a status such as 503 is an answer as well.
   * @throws FleetError with the code of a problem document; GatewayError if no gateway answers there.
   */
  async ask<Body>(
    request: (api: GatewayApi, fetchOnce: (request: Request) => Promise<Response>) => Promise<Answer<Body>>,
  ): Promise<Body> {
    const fetchOnce = (one: Request) => this.#fetchOnce(one);
    const { data, error, response } = await this.#answerOf((api) => request(api, fetchOnce));
    if (response.ok) return data as Body;
    if (typeof error !== 'object' || errorOfProblem(error) !== undefined) {
      throw this.#errorOf(error, response.status);
    }
    return error as Body;
  }

  /** Sends a read again, after a pause each, while no gateway answers, for as long as a rejected request is retried. */
  async whileAway<Data>(read: () => Promise<Data>): Promise<Data> {
    const giveUpAt = performance.now() + this.retryTimeoutMs;
    for (;;) {
      try {
        return await read();
      } catch (thrown) {
        const isOver = performance.now() + DEFAULT_PAUSE_MS > giveUpAt;
        if (isOver || !(thrown instanceof GatewayError)) throw thrown;
      }
      await pauseFor(DEFAULT_PAUSE_MS, this.signal);
    }
  }

  async #answerOf<Data>(request: (api: GatewayApi) => Promise<Answer<Data>>): Promise<Answer<Data>> {
    try {
      return await request(this.#api);
    } catch (thrown) {
      this.signal?.throwIfAborted();
      if (thrown instanceof FleetError) throw thrown;
      throw new GatewayError(`${this.#url} answered with something that is not JSON`, { cause: thrown });
    }
  }

  /** @param problem The body of the answer: text if it is not JSON. */
  #errorOf(problem: unknown, status: number): FleetError {
    const what = typeof problem === 'string' ? 'with something that is not JSON' : 'without saying why';
    return errorOfProblem(problem) ?? new GatewayError(`${this.#url} answered ${status} ${what}`);
  }

  async #fetchWithRetries(request: Request): Promise<Response> {
    const giveUpAt = performance.now() + this.retryTimeoutMs;
    for (;;) {
      const response = await this.#fetchOnce(request.clone());
      const pause = pauseOf(response);
      if (performance.now() + pause > giveUpAt || !(await isPassing(request.method, response)))
        return response;
      await response.body?.cancel();
      // Requests that were rejected together must not return together.
      await pauseFor(pause * (1 + Math.random() / 5), this.signal);
    }
  }

  async #fetchOnce(request: Request): Promise<Response> {
    await lookAtConnections();
    return fetch(request).catch((cause: unknown) => {
      this.signal?.throwIfAborted();
      throw new GatewayError(`no gateway answers at ${this.#url}`, { cause });
    });
  }
}

/**
 * Lets Node see which connections were closed while the program computed: it would send the request on one of them, and
 * nobody could say whether the gateway has read it. A browser has its connections in another process.
 */
async function lookAtConnections(): Promise<void> {
  if (typeof setImmediate !== 'function') return;
  // The first may come before Node looks at its connections again.
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Whether a request may be sent again after an answer: it was refused for the moment, and has changed nothing. */
async function isPassing(method: string, response: Response): Promise<boolean> {
  if (response.status === 429) return true;
  if (response.status !== 503) return false;
  if (method === 'GET') return true;
  const problem: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  return NOTHING_DONE.has(errorOfProblem(problem)?.code);
}

function pauseOf(response: Response): number {
  const seconds = response.headers.get('retry-after') ?? '';
  return /^\d+$/.test(seconds) ? Number(seconds) * 1_000 : DEFAULT_PAUSE_MS;
}
