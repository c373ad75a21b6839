import { type OptionNames, rejectUnknownOptions } from '../known-options.js';
import type { DeadLetterFilter } from '../producers/dead-letters.js';
import type { HttpDeadLetterAction, HttpJob, RequestBody } from './answers.js';
import type { GatewayConnection } from './connection.js';
import type { operations } from './openapi-types.js';

/** Which dead letters a list shows, and how many at most; default: 100. */
export type HttpDeadLetterQuery = Omit<DeadLetterFilter, 'ids' | 'olderThanMs'> & { readonly limit?: number };

/** A job that failed for good, with what it was submitted with and every agent call of every attempt. */
export type HttpDeadLetter = operations['get-dead-letter']['responses'][200]['content']['application/json'];

const LISTED = { kind: true, run: true, tenant: true, code: true } as const;
const QUERY: OptionNames<HttpDeadLetterQuery> = { ...LISTED, limit: true };
const FILTER: OptionNames<DeadLetterFilter> = { ...LISTED, ids: true, olderThanMs: true };

/** Jobs that failed for good. */
export class HttpDeadLetters {
  readonly #gateway: GatewayConnection;

  constructor(gateway: GatewayConnection) {
    this.#gateway = gateway;
  }

  /** The jobs, newest first within their kind. */
  async list(query: HttpDeadLetterQuery = {}): Promise<readonly HttpJob[]> {
    rejectUnknownOptions(query, QUERY);
    const { jobs } = await this.#gateway.send((api) => api.GET('/v1/dead-letters', { params: { query } }));
    return jobs;
  }

  /** One of them. @throws FleetError `job-not-found`. */
  get(id: string): Promise<HttpDeadLetter> {
    return this.#gateway.send((api) => api.GET('/v1/dead-letters/{id}', { params: { path: { id } } }));
  }

  /** Runs them again; calls that were answered are not paid again. @throws FleetError `usage` without a filter. */
  retry(filter: DeadLetterFilter): Promise<HttpDeadLetterAction> {
    const body = bodyOf(filter);
    return this.#gateway.send((api) => api.POST('/v1/dead-letters:retry', { body }));
  }

  /** Removes them permanently; needs a token of the role `admin`. @throws FleetError `usage` without a filter. */
  drop(filter: DeadLetterFilter): Promise<HttpDeadLetterAction> {
    const body = bodyOf(filter);
    return this.#gateway.send((api) => api.POST('/v1/dead-letters:drop', { body }));
  }
}

function bodyOf(filter: DeadLetterFilter): RequestBody<'retry-dead-letters' | 'drop-dead-letters'> {
  rejectUnknownOptions(filter, FILTER);
  const { ids, ...fields } = filter;
  return { ...fields, ...(ids === undefined ? {} : { ids: [...ids] }) };
}
