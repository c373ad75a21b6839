import type { Request, RequestHandler, Response } from 'express';
import { RequestError } from '../../errors.js';
import type { Caller } from '../auth/caller.js';
import { assertOwnTenant, callerOf } from '../auth/tenant.js';
import type { Gateway } from '../gateway.js';
import { admitRequest, type Mounting } from '../http/mount.js';

/** A request to a page by a caller who may see it. */
export interface PageRequest {
  readonly gateway: Gateway;
  readonly caller: Caller;
  readonly request: Request;
  readonly response: Response;
}

/**
 * Handles a page: a caller without a session is redirected to the login and back.
 * @param id Name of the page for the rights of tokens that are bound to a tenant.
 */
export function pageHandler(
  mounting: Mounting,
  route: string,
  show: (page: PageRequest) => Promise<void>,
  id = 'page',
): RequestHandler {
  return async (request, response) => {
    response.locals.route = route;
    try {
      const gateway = await admitRequest(request, response, 'read', mounting);
      await assertOwnTenant(id, {}, gateway, callerOf(response));
      await show({ gateway, caller: callerOf(response), request, response });
    } catch (thrown) {
      if (!leadsToLogin(thrown, request)) throw thrown;
      response.set('cache-control', 'no-store');
      response.redirect(303, `/login?next=${encodeURIComponent(request.originalUrl)}`);
    }
  };
}

export function leadsToLogin(thrown: unknown, request: Request): boolean {
  const isUnknown = thrown instanceof RequestError && thrown.code === 'unauthenticated';
  return isUnknown && request.method === 'GET' && (request.get('accept') ?? '').includes('text/html');
}
