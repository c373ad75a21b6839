import { randomUUID } from 'node:crypto';
import type { RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import type { Caller } from '../auth/caller.js';

/** Called for every request that has ended. */
export type RequestObserver = (route: string, method: string, status: number, seconds: number) => void;

/** Requests that are being handled. */
export interface OpenRequests {
  count: number;
}

/** Aborted once a response is over: sent, or its client has left. */
export function whenOver(response: Response): AbortSignal {
  return response.locals.over as AbortSignal;
}

/**
 * Gives every request an id and logs its end: the route instead of the address, because that may contain names; no headers
 * and no body, because these contain tokens and scripts.
 */
export function requestLog(logger: Logger, observe: RequestObserver, open: OpenRequests): RequestHandler {
  return (request, response, next) => {
    open.count += 1;
    const requestId = randomUUID();
    const started = performance.now();
    response.set('x-request-id', requestId);
    const { socket } = request;
    const over = new AbortController();
    response.locals.over = over.signal;
    const end = () => {
      if (over.signal.aborted) return;
      response.off('close', end);
      socket.off('close', end);
      over.abort();
      open.count -= 1;
      const ms = Math.round(performance.now() - started);
      const route = String(response.locals.route ?? 'other');
      const caller = response.locals.caller as Caller | undefined;
      const status = response.headersSent ? response.statusCode : 499;
      observe(route, request.method, status, ms / 1_000);
      logger.debug({ requestId, method: request.method, route, status, ms, token: caller?.id }, 'request');
    };
    response.once('close', end);
    // A response that waits for an earlier one on its connection does not notice the end of the connection.
    socket.once('close', end);
    next();
  };
}
