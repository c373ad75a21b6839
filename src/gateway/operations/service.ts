import { z } from 'zod';
import type { RedisHealth } from '../../queues/redis-health.js';
import { type OpenOperation, type Operation, operation, type Reply } from '../http/operation.js';
import type { FleetLink } from '../link.js';
import type { Metrics } from '../metrics/metrics.js';
import { openApiDocument } from '../openapi/document.js';
import { withExamples } from '../openapi/examples/with-examples.js';

const HealthSchema = z
  .strictObject({
    status: z.enum(['ok', 'unavailable']),
    redis: z
      .enum(['ok', 'full', 'refuses', 'away'])
      .describe(
        '`full`: it has no memory left; `refuses`: it runs, and accepts no writes for another reason.',
      ),
    reason: z.string().optional().describe('What Redis says, where it refuses writes.'),
  })
  .meta({ id: 'Health' });

/** The health checks for load balancers and container engines. */
export function healthOperations(link: Pick<FleetLink, 'closing' | 'health'>): OpenOperation[] {
  const answer = async (isWanted: (redis: RedisHealth['redis']) => boolean): Promise<Reply> => {
    const health = await link.health();
    const isOk = isWanted(health.redis);
    return {
      status: isOk ? 200 : 503,
      body: { status: isOk ? 'ok' : 'unavailable', ...health },
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
      summary: 'Whether the gateway works: Redis accepts writes',
      responses,
      answer: () => answer((redis) => redis === 'ok'),
    },
    {
      id: 'readiness',
      tag: 'Operation',
      method: 'get',
      path: '/readyz',
      summary:
        'Whether the gateway wants requests: Redis accepts writes, or is only full, so that jobs can be removed; and it is not stopping',
      responses,
      answer: () => answer((redis) => (redis === 'ok' || redis === 'full') && !link.closing.signal.aborted),
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
      document ??= Buffer.from(JSON.stringify(withExamples(openApiDocument([...operations, operation]))));
      return {
        status: 200,
        body: document,
        headers: { 'content-type': 'application/json; charset=utf-8' },
      };
    },
  };
  return operation;
}
