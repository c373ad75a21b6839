import type { Express, Request, RequestHandler, Response } from 'express';
import { RequestError } from '../../errors.js';
import type { BodyRoom } from '../admission/body-room.js';
import type { Resource, ResourceLimits } from '../admission/resource-limits.js';
import { addressOf } from '../auth/address.js';
import { authorize, type Caller, endsOfAccess, identify, requireRole } from '../auth/caller.js';
import type { RequestRate } from '../auth/request-rate.js';
import type { Role } from '../auth/roles.js';
import { assertSameOrigin } from '../auth/same-origin.js';
import { assertOwnTenant } from '../auth/tenant.js';
import type { Gateway } from '../gateway.js';
import type { FleetLink } from '../link.js';
import type { Connections } from './connections.js';
import { firstAbort } from './first-abort.js';
import type { AnswerSlot, Call, OpenOperation, Operation, Outcome, Reply } from './operation.js';
import { readJson } from './read-json.js';
import { whenOver } from './request-log.js';
import type { TransferRate } from './transfer-watch.js';

export interface Mounting {
  readonly link: FleetLink;
  readonly rate: RequestRate;
  readonly connections: Connections;
  readonly bodies: BodyRoom;
  readonly bodyRate: TransferRate;
  readonly resources: ResourceLimits;
}

/** An OpenAPI path as Express writes it. */
function expressPath(path: string): string {
  return path.replaceAll(':', '\\:').replace(/\{(\w+)\}/g, ':$1');
}

/** Admits a request: checks its token (without tokens its host), origin, role and rate, in this order. */
export function admitRequest(
  request: Request,
  response: Response,
  role: Role,
  mounting: Admitting,
): Promise<Gateway> {
  return mounting.connections.whileAdmitting(request.socket, () => admit(request, response, role, mounting));
}

type Admitting = Pick<Mounting, 'link' | 'rate' | 'connections'>;

async function admit(
  request: Request,
  response: Response,
  role: Role,
  { link, rate, connections }: Admitting,
): Promise<Gateway> {
  const gateway = link.require();
  const caller = await identify(request, gateway).catch((thrown: unknown) => {
    if (isUnauthenticated(thrown)) rate.take(`address ${addressOf(request)}`);
    throw thrown;
  });
  response.locals.caller = caller;
  assertSameOrigin(request, caller.by);
  requireRole(caller, role);
  rate.take(caller.id);
  connections.letIn(request.socket, caller.id);
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

/** Answers the methods that the operations of a path do not have. */
export function rejectOtherMethods(app: Express, operations: readonly (Operation | OpenOperation)[]): void {
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
  const caller = response.locals.caller as Caller;
  await assertOwnTenant(operation.id, request.params, gateway, caller);
  const signal = firstAbort(whenOver(response), endsOfAccess(gateway, caller));
  const waits = 'wait' in request.query;
  const resource = operation.resource ?? (waits ? 'wait' : undefined);
  if (resource !== undefined) await takeResource(resource, response, mounting);
  const stillAllowed = () => authorize(request, gateway, operation.role);
  let room: Promise<void> | undefined;
  const roomForAnswer = () => {
    room ??= takeResource('answer', response, mounting);
    return room;
  };
  const tryRoomForAnswer = (): AnswerSlot | undefined => {
    const release = mounting.resources.tryTake('answer', caller.id);
    return release && { release, keep: () => releaseWhenOver(response, release) };
  };
  const withSlot = async <T>(part: Resource, work: () => Promise<T>) => {
    const release = await mounting.resources.take(part, caller.id, signal);
    try {
      await stillAllowed();
      return await work();
    } finally {
      release();
    }
  };
  const call = {
    ...{ params: request.params, query: { ...request.query }, gateway },
    ...{ stillAllowed, roomForAnswer, tryRoomForAnswer, withSlot },
  };
  const outcome = await runWithBody(operation, { ...call, signal, request, response }, mounting);
  const reply = outcome !== undefined && 'rest' in outcome ? await outcome.rest() : outcome;
  // The token may have been revoked while the request waited.
  if (waits) await stillAllowed();
  if (reply !== undefined) send(response, reply);
}

/** Takes a slot of the caller until the response is over. @throws RequestError `too-many-open`. */
export async function takeResource(
  resource: Resource,
  response: Response,
  { resources }: Pick<Mounting, 'resources'>,
): Promise<void> {
  const { id } = response.locals.caller as Caller;
  releaseWhenOver(response, await resources.take(resource, id, whenOver(response)));
}

function releaseWhenOver(response: Response, release: () => void): void {
  const over = whenOver(response);
  if (over.aborted) release();
  else over.addEventListener('abort', release, { once: true });
}

/**
 * Runs an operation; when this has resolved, nothing references the body any more. If the request waited for a slot or its
 * body, the token is checked again: it may have been revoked meanwhile.
 */
async function runWithBody(
  operation: Operation,
  call: Omit<Call, 'body' | 'idempotencyKey'>,
  { bodies, bodyRate }: Mounting,
): Promise<Outcome> {
  const { request, response, gateway, signal, stillAllowed } = call;
  const waited = operation.resource !== undefined || !request.complete;
  const reservation = bodies.open((response.locals.caller as Caller).id);
  try {
    const bounds = { limit: gateway.settings.bodyBytes, rate: bodyRate, reservation, signal };
    const body = operation.body === undefined ? undefined : await readJson(request, bounds);
    if (waited) await stillAllowed();
    return await operation.run({ ...call, body, idempotencyKey: request.get('idempotency-key') });
  } finally {
    reservation.release();
  }
}

/** Sends a reply, unless the client has left. */
function send(response: Response, { status, body, headers = {} }: Reply): void {
  if (response.destroyed || response.headersSent) return;
  response.status(status).set({ 'cache-control': 'no-store', ...headers });
  if (body === undefined) response.end();
  else if (typeof body === 'string' || Buffer.isBuffer(body)) response.send(body);
  else response.json(body);
}
