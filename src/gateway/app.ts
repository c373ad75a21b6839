import express, { type Express } from 'express';
import { RequestError, UsageError } from '../errors.js';
import { KIND_NAMES } from '../queues/registry.js';
import { RequestRate } from './auth/request-rate.js';
import { BodyBudget } from './http/body-budget.js';
import { problemHandler } from './http/errors.js';
import { mountOperations, refuseOtherMethods } from './http/mount.js';
import { requestLog } from './http/request-log.js';
import type { FleetLink } from './link.js';
import { allOperations } from './operations/index.js';
import type { GatewayOptions } from './server.js';

/** Request bodies that are held at once, in bodies of the largest size. */
const HELD_BODIES = 8;

/** The Express application of the gateway. */
export function createApp(link: FleetLink, { settings, logger }: GatewayOptions): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag');
  app.enable('case sensitive routing').enable('strict routing');
  const mounting = {
    link,
    rate: new RequestRate(settings.requestsPerMinute),
    budget: new BodyBudget(settings.bodyBytes * HELD_BODIES),
  };
  app.use(requestLog(logger, () => undefined));
  const operations = allOperations(link, settings.version);
  mountOperations(app, operations, mounting);
  app.post('/v1/jobs/:kind', (request) => {
    throw new UsageError(
      'unknown-kind',
      `${JSON.stringify(request.params.kind)} is not a kind of job; there are: ${KIND_NAMES.join(', ')}`,
    );
  });
  refuseOtherMethods(app, operations);
  app.use((request) => {
    throw new RequestError('route-not-found', `there is no ${request.method} ${request.path.slice(0, 200)}`);
  });
  app.use(problemHandler(logger));
  return app;
}
