import { z } from 'zod';
import type { OpenOperation, Reply } from '../http/operation.js';
import type { FleetLink } from '../link.js';

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
