import type { Express, Request, RequestHandler, Response } from 'express';
import { RequestError } from '../../errors.js';
import { addressOf } from '../auth/address.js';
import { authorize, type Caller, endOfAccess, identify, requireRole } from '../auth/caller.js';
import type { RequestRate } from '../auth/request-rate.js';
import type { Role } from '../auth/roles.js';
import { refuseForgery } from '../auth/same-origin.js';
import type { Gateway } from '../gateway.js';
import type { FleetLink } from '../link.js';
import type { BodyBudget } from './body-budget.js';
import type { Call, OpenOperation, Operation, Reply } from './operation.js';
import { readJson } from './read-json.js';

export interface Mounting {
  readonly link: FleetLink;
  readonly rate: RequestRate;
  readonly budget: BodyBudget;
}

/** An OpenAPI path as Express writes it. */
export function expressPath(path: string): string {
  return path.replaceAll(':', '\\:').replace(/\{(\w+)\}/g, ':$1');
}

/** Lets a request in: by its token or, where there are none, its host, its origin, its role and its rate, in this order. */
export async function admitRequest(
  request: Request,
  response: Response,
  role: Role,
  { link, rate }: Pick<Mounting, 'link' | 'rate'>,
): Promise<Gateway> {
  const gateway = link.require();
  const caller = await identify(request, gateway).catch((thrown: unknown) => {
    if (isUnauthenticated(thrown)) rate.take(`address ${addressOf(request)}`);
    throw thrown;
  });
  response.locals.caller = caller;
  refuseForgery(request, caller.by);
  requireRole(caller, role);
  rate.take(caller.id);
  return gateway;
}

function isUnauthenticated(thrown: unknown): boolean {
  return thrown instanceof RequestError && thrown.code === 'unauthenticated';
}

/** Adds the routes of operations to an application. */
export function mountOperations(
  app: Express,
  operations: readonly (Operation | OpenOperation)[],
  mounting: Mounting,
): void {
  for (const operation of operations) {
    app[operation.method](expressPath(operation.path), handlerOf(operation, mounting));
  }
}

/** Answers the methods that the operations of a path leave over. */
export function refuseOtherMethods(app: Express, operations: readonly (Operation | OpenOperation)[]): void {
  for (const path of new Set(operations.map((operation) => operation.path))) {
    const allowed = operations
      .filter((operation) => operation.path === path)
      .map(({ method }) => method.toUpperCase());
    app.all(expressPath(path), (request, response) => {
      response.set('allow', allowed.join(', '));
      throw new RequestError('method-not-allowed', `${request.method} is not a method of this route`);
    });
  }
}

function handlerOf(operation: Operation | OpenOperation, mounting: Mounting): RequestHandler {
  return async (request, response) => {
    response.locals.route = operation.path;
    if ('answer' in operation) send(response, await operation.answer());
    else await handle(operation, request, response, mounting);
  };
}

async function handle(
  operation: Operation,
  request: Request,
  response: Response,
  mounting: Mounting,
): Promise<void> {
  const gateway = await admitRequest(request, response, operation.role, mounting);
  let held = 0;
  const hold = (bytes: number) => {
    mounting.budget.hold(bytes);
    held += bytes;
  };
  try {
    const body =
      operation.body === undefined ? undefined : await readJson(request, gateway.settings.bodyBytes, hold);
    const left = new AbortController();
    response.once('close', () => left.abort());
    const call: Call = {
      params: request.params,
      query: { ...request.query },
      body,
      idempotencyKey: request.get('idempotency-key'),
      gateway,
      signal: AbortSignal.any([left.signal, endOfAccess(gateway, response.locals.caller as Caller)]),
      request,
      response,
    };
    const reply = await operation.run(call);
    // The token may have been revoked while the request waited.
    if ('wait' in request.query) await authorize(request, gateway, operation.role);
    if (reply !== undefined) send(response, reply);
  } finally {
    mounting.budget.release(held);
  }
}

/** Sends a reply; a client that has gone needs none. */
export function send(response: Response, { status, body, headers = {} }: Reply): void {
  if (response.destroyed || response.headersSent) return;
  response.status(status).set({ 'cache-control': 'no-store', ...headers });
  if (body === undefined) response.end();
  else if (typeof body === 'string') response.send(body);
  else response.json(body);
}
