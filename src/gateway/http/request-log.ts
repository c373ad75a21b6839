import { randomUUID } from 'node:crypto';
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import type { Caller } from '../auth/caller.js';

/** A request that has ended. */
export interface EndedRequest {
  readonly route: string;
  readonly method: string;
  readonly status: number;
  readonly seconds: number;
  /** Whether its client asked to wait: for a job, or for events. Its time then says nothing about the gateway. */
  readonly waits: boolean;
}

/** Called for every request that has ended. */
export type RequestObserver = (request: EndedRequest) => void;

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
      const isStream = /^text\/event-stream/.test(String(response.get('content-type') ?? ''));
      const waits = isStream || request.query.wait !== undefined;
      observe({ route, method: request.method, status, seconds: ms / 1_000, waits });
      logger.debug({ requestId, method: request.method, route, status, ms, token: caller?.id }, 'request');
    };
    response.once('close', end);
    // A response that waits for an earlier one on its connection does not notice the end of the connection.
    socket.once('close', end);
    next();
  };
}

/**
 * A span for each request, below the one that its `traceparent` header names: the jobs that the request submits belong to the
 * same trace. Does nothing if no OpenTelemetry SDK is loaded, or if an instrumentation of Node's HTTP server makes the span.
 */
export function requestSpan(): RequestHandler {
  const tracer = trace.getTracer('solution-fleet');
  return (request, response, next) => {
    if (trace.getActiveSpan() !== undefined) {
      next();
      return;
    }
    const parent = propagation.extract(context.active(), request.headers);
    const { method } = request;
    const span = tracer.startSpan(
      method,
      { kind: SpanKind.SERVER, attributes: { 'http.request.method': method } },
      parent,
    );
    const end = () => {
      const route = String(response.locals.route ?? 'other');
      span.updateName(`${method} ${route}`);
      span.setAttributes({ 'http.route': route, 'http.response.status_code': response.statusCode });
      if (response.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    };
    whenOver(response).addEventListener('abort', end, { once: true });
    context.with(trace.setSpan(parent, span), next);
  };
}
