import { z } from 'zod';
import { type Operation, operation } from '../http/operation.js';
import type { Metrics } from '../metrics/metrics.js';

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
