import type { ErrorRequestHandler, Request, Response } from 'express';
import type { Logger } from 'pino';
import { type FleetError, messageOf, RequestError } from '../../errors.js';
import { PROBLEM_TYPE, type Problem, problemOf, refusalFrom, retryAfterOf } from './problem.js';
import { whenOver } from './request-log.js';

/** How much more a rejected request may send, in bytes, and how long, in milliseconds. */
const DISCARD_BYTES = 256 * 2 ** 20;
const DISCARD_MS = 10_000;

/** Express' own errors, such as a path that cannot be decoded, have a status. */
function isClientError(thrown: unknown): thrown is Error {
  const status = (thrown as { status?: unknown } | null)?.status;
  return thrown instanceof Error && typeof status === 'number' && status >= 400 && status < 500;
}

function errorOf(thrown: unknown): FleetError {
  if (isClientError(thrown)) return new RequestError('malformed-request', thrown.message, { cause: thrown });
  return refusalFrom(thrown);
}

/** Thrown by a handler because its client left or the gateway closes, which is no failure. */
function isAbort(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === 'AbortError';
}

/** The id of a request in the log. */
export function requestIdOf(response: Response): string {
  return String(response.getHeader('x-request-id'));
}

/**
 * Logs a failure of a request that its problem document does not explain. An outage of Redis is logged without a stack: it is
 * no defect of this program, and there may be one line for every request.
 */
export function logFailure(logger: Logger, thrown: unknown, response: Response): void {
  const error = errorOf(thrown);
  const requestId = requestIdOf(response);
  const { route } = response.locals;
  const { code } = error;
  if (error.entry.httpStatus === 503) {
    logger.warn({ requestId, route, code, reason: error.message }, 'request refused');
  } else {
    logger.error({ requestId, route, code, err: described(error.cause ?? error) }, 'request failed');
  }
}

/** An error without its own fields: a Redis error has the failed command in them, and so whole payloads. */
function described(thrown: unknown): object {
  if (!(thrown instanceof Error)) return { message: messageOf(thrown) };
  const { name: type, message, stack } = thrown;
  return { type, message, stack };
}

/** Answers errors of handlers with a problem document; every answer of 500 and above writes one line to the log. */
export function problemHandler(logger: Logger): ErrorRequestHandler {
  return (thrown: unknown, request, response, _next) => {
    if (isAbort(thrown) && whenOver(response).aborted) {
      logger.debug({ requestId: requestIdOf(response), reason: messageOf(thrown) }, 'the client left');
      return;
    }
    const error = errorOf(thrown);
    if (error.entry.httpStatus >= 500) logFailure(logger, thrown, response);
    if (response.headersSent || response.destroyed || whenOver(response).aborted) {
      if (!response.writableEnded) response.destroy();
      return;
    }
    sendProblem(error, requestIdOf(response), response);
    discardRest(request);
  };
}

/** Further members of the problem documents of one response, in `response.locals.extendProblem`. */
export type ExtendProblem = (problem: Problem) => Readonly<Record<string, unknown>>;

function sendProblem(error: FleetError, requestId: string, response: Response): void {
  const retryAfter = retryAfterOf(error);
  if (retryAfter !== undefined) response.set('retry-after', String(retryAfter));
  if (error.entry.httpStatus === 401) response.set('www-authenticate', 'Bearer realm="solution-fleet"');
  const problem = problemOf(error, requestId);
  response.status(problem.status).set('cache-control', 'no-store').type(PROBLEM_TYPE);
  const extendProblem = response.locals.extendProblem as ExtendProblem | undefined;
  response.send(JSON.stringify({ ...problem, ...extendProblem?.(problem) }));
}

/**
 * Reads and drops what a rejected client still sends: closing a connection with unread bytes resets it, and the client would
 * lose the answer. A client that sends too much or too slowly is disconnected anyway.
 */
function discardRest(request: Request): void {
  if (request.complete) return;
  let discarded = 0;
  const timer = setTimeout(() => request.destroy(), DISCARD_MS);
  request.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > DISCARD_BYTES) request.destroy();
  });
  request.once('close', () => clearTimeout(timer));
  request.resume();
}
