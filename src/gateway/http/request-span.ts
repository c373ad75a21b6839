import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { RequestHandler } from 'express';
import { whenOver } from './request-log.js';

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
