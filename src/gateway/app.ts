import express, { type Express } from 'express';
import { RequestError } from '../errors.js';
import { BodyRoom } from './admission/body-room.js';
import { ResourceLimits, resourceTable } from './admission/resource-limits.js';
import { AGENTS_PATH, mountAgents } from './agents/mount-agents.js';
import { mountLogin } from './auth/login.js';
import { RequestRate } from './auth/request-rate.js';
import { BOARD_PATH, mountBoard } from './board/board.js';
import type { GatewayOptions, ServerLimits } from './gateway-options.js';
import { boundSending } from './http/bound-sending.js';
import type { Connections } from './http/connections.js';
import { problemHandler } from './http/errors.js';
import { mountOperations, rejectOtherMethods } from './http/mount.js';
import { type OpenRequests, requestLog, requestSpan } from './http/request-log.js';
import { securityHeaders } from './http/security-headers.js';
import type { FleetLink } from './link.js';
import { Metrics } from './metrics/metrics.js';
import { mountDocs } from './openapi/docs-page.js';
import { openApiDocument } from './openapi/document.js';
import { allOperations } from './operations/index.js';
import { serveAsset } from './pages/assets.js';
import { mountOverview } from './pages/overview-page.js';
import { mountRuns } from './pages/run/runs-page.js';

/** What people open in a browser, by the routes that are counted. */
const PAGES = ['/', '/runs', BOARD_PATH, 'other'];

/** The Express application of the gateway. */
export function createApp(
  link: FleetLink,
  { settings, logger, answerAgent }: GatewayOptions,
  limits: ServerLimits,
  connections: Connections,
  open: OpenRequests,
): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag');
  app.enable('case sensitive routing').enable('strict routing');
  const mounting = {
    link,
    rate: new RequestRate(settings.requestsPerMinute),
    connections,
    bodies: new BodyRoom(settings.bodyBytes),
    bodyRate: limits.bodyRate,
    resources: new ResourceLimits(resourceTable(settings)),
  };
  const metrics = new Metrics();
  app.use(requestLog(logger, metrics.observe.bind(metrics), open));
  app.use(requestSpan());
  app.use(boundSending(limits));
  app.use(securityHeaders(settings.secureCookies));
  app.get('/assets/:name', serveAsset());
  mountLogin(app, mounting, settings.loginsPerMinute);
  mountOverview(app, mounting);
  mountRuns(app, mounting);
  mountBoard(app, mounting);
  const operations = allOperations(link, metrics);
  for (const { path, method } of operations) metrics.expect(path, method.toUpperCase());
  for (const page of PAGES) metrics.expect(page, 'GET');
  mountDocs(app, () => openApiDocument(operations));
  mountOperations(app, operations, mounting);
  if (answerAgent !== undefined) {
    metrics.expect(AGENTS_PATH, 'POST');
    mountAgents(app, answerAgent, mounting);
  }
  app.post('/v1/jobs/:kind', (request) => {
    // Each kind has a route: this one is reached with other names only, and says which there are.
    link.kinds.get(request.params.kind);
  });
  rejectOtherMethods(app, operations);
  app.use((request) => {
    throw new RequestError('route-not-found', `there is no ${request.method} ${request.path.slice(0, 200)}`);
  });
  app.use(problemHandler(logger));
  return app;
}
