import type { Express, Request, Response } from 'express';
import { RequestError } from '../../errors.js';
import { NOW } from '../../producers/add-options.js';
import type { JobService } from '../../producers/job-service.js';
import { waitUntilOver } from '../../producers/job-service.js';
import { authorize, type Caller, endsOfAccess, requireRole } from '../auth/caller.js';
import type { Role } from '../auth/roles.js';
import { assertOwnTenant, callerOf } from '../auth/tenant.js';
import type { Gateway } from '../gateway.js';
import { firstAbort } from '../http/first-abort.js';
import { admitRequest, type Mounting, takeResource } from '../http/mount.js';
import { readJson } from '../http/read-json.js';
import { whenOver } from '../http/request-log.js';
import { jobResource, queueOfId } from '../operations/job-resource.js';
import { submitJob } from '../operations/submit-job.js';

/** Where agents send their messages (Model Context Protocol, streamable HTTP). */
export const AGENTS_PATH = '/mcp';

/** One message of an agent whose token was accepted. */
interface AgentMessage {
  readonly request: Request;
  readonly response: Response;
  readonly body: unknown;
  /** Aborted when the agent has left, or the gateway closes. */
  readonly signal: AbortSignal;
  /** The jobs that the token may submit and see. */
  readonly jobs: JobService;
  /** @throws RequestError `forbidden` if the token has not this role. */
  assertRole(role: Role): void;
}

/** Answers a message by its response. */
export type AnswerAgent = (message: AgentMessage) => Promise<void>;

/** Adds the route of agents. A message needs a token with the role `read`; what a tool needs besides is checked with its call. */
export function mountAgents(app: Express, answer: AnswerAgent, mounting: Mounting): void {
  app.post(AGENTS_PATH, async (request, response) => {
    response.locals.route = AGENTS_PATH;
    const gateway = await admitRequest(request, response, 'read', mounting);
    const caller = callerOf(response);
    const signal = firstAbort(whenOver(response), endsOfAccess(gateway, caller));
    await takeResource('wait', response, mounting);
    const reservation = mounting.bodies.open(caller.id);
    try {
      const limit = gateway.settings.bodyBytes;
      const body = await readJson(request, { limit, rate: mounting.bodyRate, reservation, signal });
      // Each message takes one slot; several in one array would share it, and their analyses run at once.
      if (Array.isArray(body))
        throw new RequestError('malformed-request', 'a request holds one message, and not a list of them');
      // The token may have been revoked while the request waited for a slot or for its body.
      await authorize(request, gateway, 'read');
      response.set('cache-control', 'no-store');
      await answer({
        ...{ request, response, body, signal },
        jobs: jobsOfCaller(gateway, request, response, caller),
        assertRole: (role) => requireRole(caller, role),
      });
    } finally {
      reservation.release();
    }
  });
  app.all(AGENTS_PATH, (request, response) => {
    response.set('allow', 'POST');
    throw new RequestError('method-not-allowed', `${request.method} is not a method of this route`);
  });
}

function jobsOfCaller(gateway: Gateway, request: Request, response: Response, caller: Caller): JobService {
  const { fleet } = gateway;
  return {
    // An agent waits for it: no call goes into a batch.
    add: async (kind, payload) =>
      (await submitJob(gateway, response, fleet.kinds.get(kind), payload, { deadline: NOW })).id,
    view: async (id, waitMs, signal) => {
      await assertOwnTenant('get-job', { id }, gateway, caller);
      const queue = queueOfId(id);
      if (waitMs > 0) {
        await waitUntilOver(fleet, id, waitMs, signal, queue);
        // The token may have been revoked meanwhile.
        await authorize(request, gateway, 'read');
      }
      return jobResource(fleet, id);
    },
  };
}
