import type { ErrorRequestHandler, Request, Response } from 'express';
import type { Logger } from 'pino';
import { type FleetError, InternalError, RequestError } from '../../errors.js';
import { PROBLEM_TYPE, problemOf, refusalFrom, retryAfterOf } from './problem.js';

/** A request that was refused before its body was read is let send so much more, in bytes, or so long, in ms. */
const DISCARD_BYTES = 256 * 2 ** 20;
const DISCARD_MS = 10_000;

/** Express' own refusals, such as a path that cannot be decoded, carry a status. */
function isClientError(thrown: unknown): thrown is Error {
  const status = (thrown as { status?: unknown } | null)?.status;
  return thrown instanceof Error && typeof status === 'number' && status >= 400 && status < 500;
}

export function errorOf(thrown: unknown): FleetError {
  if (isClientError(thrown)) return new RequestError('malformed-request', thrown.message, { cause: thrown });
  return refusalFrom(thrown);
}

/** Answers what handlers throw with a problem document. */
export function problemHandler(logger: Logger): ErrorRequestHandler {
  return (thrown: unknown, request, response, _next) => {
    const error = errorOf(thrown);
    const requestId = String(response.getHeader('x-request-id'));
    if (error instanceof InternalError && !request.destroyed) {
      logger.error({ requestId, route: response.locals.route, err: error.cause ?? error }, 'request failed');
    }
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    sendProblem(error, requestId, response);
    discardRest(request);
  };
}

function sendProblem(error: FleetError, requestId: string, response: Response): void {
  const retryAfter = retryAfterOf(error);
  if (retryAfter !== undefined) response.set('retry-after', String(retryAfter));
  if (error.entry.httpStatus === 401) response.set('www-authenticate', 'Bearer realm="solution-fleet"');
  const problem = problemOf(error, requestId);
  response.status(problem.status).set('cache-control', 'no-store').type(PROBLEM_TYPE);
  response.send(JSON.stringify(problem));
}

/**
 * Reads what a refused client still sends, without keeping it: a connection that is closed on unread bytes is reset,
 * and the client would lose the answer. Whoever sends too much or too slowly is cut off all the same.
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
