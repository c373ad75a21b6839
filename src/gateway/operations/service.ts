import { z } from 'zod';
import { type OpenOperation, type Operation, operation, type Reply } from '../http/operation.js';
import type { FleetLink } from '../link.js';
import type { Metrics } from '../metrics/metrics.js';
import { openApiDocument } from '../openapi/document.js';

const HealthSchema = z
  .strictObject({
    status: z.enum(['ok', 'unavailable']),
    redis: z.enum(['ok', 'away']),
  })
  .meta({ id: 'Health' });

/** The health checks for load balancers and container engines. */
export function healthOperations(link: FleetLink): OpenOperation[] {
  const answer = async (isWanted: () => boolean): Promise<Reply> => {
    const redis = await link.isHealthy();
    const isOk = redis && isWanted();
    return {
      status: isOk ? 200 : 503,
      body: { status: isOk ? 'ok' : 'unavailable', redis: redis ? 'ok' : 'away' },
      headers: isOk ? {} : { 'retry-after': '2' },
    };
  };
  const responses = {
    200: { description: 'All is well.', schema: HealthSchema },
    503: { description: 'Not now.', schema: HealthSchema },
  };
  return [
    {
      id: 'health',
      tag: 'Operation',
      method: 'get',
      path: '/healthz',
      summary: 'Whether the gateway works: Redis answers',
      responses,
      answer: () => answer(() => true),
    },
    {
      id: 'readiness',
      tag: 'Operation',
      method: 'get',
      path: '/readyz',
      summary: 'Whether the gateway wants requests: Redis answers, and it is not stopping',
      responses,
      answer: () => answer(() => !link.closing.signal.aborted),
    },
  ];
}

/** The route that Prometheus scrapes. */
export function metricsOperation(metrics: Metrics): Operation {
  return operation({
    id: 'metrics',
    resource: 'read',
    tag: 'Operation',
    method: 'get',
    path: '/metrics',
    role: 'read',
    summary: 'Metrics in the text format of Prometheus',
    responses: { 200: { description: 'The metrics.', schema: z.string(), contentType: 'text/plain' } },
    handle: async ({ gateway }) => ({
      status: 200,
      body: await metrics.render(gateway),
      headers: { 'content-type': metrics.contentType },
    }),
  });
}

/** The route that returns the OpenAPI document of all operations, including this one. */
export function openApiOperation(operations: readonly (Operation | OpenOperation)[]): OpenOperation {
  /** Made once: all answers share it. */
  let document: Buffer | undefined;
  const operation: OpenOperation = {
    id: 'openapi',
    tag: 'Operation',
    method: 'get',
    path: '/v1/openapi.json',
    summary: 'This document',
    responses: {
      200: { description: 'OpenAPI 3.1.', schema: z.looseObject({ openapi: z.literal('3.1.0') }) },
    },
    answer: async () => {
      document ??= Buffer.from(JSON.stringify(openApiDocument([...operations, operation])));
      return {
        status: 200,
        body: document,
        headers: { 'content-type': 'application/json; charset=utf-8' },
      };
    },
  };
  return operation;
}
