import { randomUUID } from 'node:crypto';
import type { RequestHandler } from 'express';
import type { Logger } from 'pino';
import type { Caller } from '../auth/caller.js';

/** Told of every request that has ended. */
export type RequestObserver = (route: string, method: string, status: number, seconds: number) => void;

/** Requests that are being handled. */
export interface OpenRequests {
  count: number;
}

/**
 * Gives every request an id and logs its end: the route and not the address, since that may hold names; no headers and
 * no body, since these hold tokens and scripts.
 */
export function requestLog(logger: Logger, observe: RequestObserver, open: OpenRequests): RequestHandler {
  return (request, response, next) => {
    open.count += 1;
    const requestId = randomUUID();
    const started = performance.now();
    response.set('x-request-id', requestId);
    response.once('close', () => {
      open.count -= 1;
      const ms = Math.round(performance.now() - started);
      const route = String(response.locals.route ?? 'other');
      const caller = response.locals.caller as Caller | undefined;
      const status = response.headersSent ? response.statusCode : 499;
      observe(route, request.method, status, ms / 1_000);
      logger.debug({ requestId, method: request.method, route, status, ms, token: caller?.id }, 'request');
    });
    next();
  };
}
