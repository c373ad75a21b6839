import type { Express } from 'express';
import { authorize } from '../auth/caller.js';
import { includesRole, type Role } from '../auth/roles.js';
import { assertOwnTenant, callerOf } from '../auth/tenant.js';
import type { ExtendProblem } from '../http/errors.js';
import { admitRequest, type Mounting, takeResource } from '../http/mount.js';
import { boardHeaders } from '../http/security-headers.js';
import { leadsToLogin } from '../pages/page-request.js';
import { guardBoard } from './board-guard.js';
import type { QueuesBoard } from './queues-board.js';

export const BOARD_PATH = '/board';
/** Who may change queues on the board. */
const WRITER: Role = 'admin';
const SAFE_METHODS = new Set(['GET', 'HEAD']);

/** What the page of the board reads of an error, besides the problem document. */
const boardError: ExtendProblem = ({ status, detail }) => ({
  error: { key: status >= 500 ? 'ERRORS.INTERNAL_SERVER_ERROR' : 'ERRORS.FORBIDDEN' },
  message: detail,
});

/**
 * Adds Bull Board, which is loaded when it is first asked for: a fifth of the start of a gateway, and most are never asked. A
 * caller who may only read gets a read-only board, and the server also rejects changes.
 */
export function mountBoard(app: Express, mounting: Mounting): void {
  let board: QueuesBoard | undefined;
  app.use(BOARD_PATH, boardHeaders(), async (request, response, next) => {
    response.locals.route = BOARD_PATH;
    response.locals.extendProblem = boardError;
    try {
      const needed = SAFE_METHODS.has(request.method) ? 'read' : WRITER;
      const gateway = await admitRequest(request, response, needed, mounting);
      await assertOwnTenant('board', {}, gateway, callerOf(response));
      // Jobs that the board puts back into a queue need room like any other submission; removing frees room.
      if (needed === WRITER && /\/(add|duplicate|retry)\b/.test(request.path)) {
        await gateway.fleet.memory.admit(0, 1);
      }
      if (board === undefined) {
        const module = await import('./queues-board.js');
        board ??= new module.QueuesBoard(gateway, BOARD_PATH);
      }
      await takeResource('board', response, mounting);
      const stillAllowed = () => authorize(request, gateway, needed);
      const reading = { rate: mounting.bodyRate, signal: gateway.closing, stillAllowed };
      if (await guardBoard(request, response, gateway, reading)) return;
      const handler = await board.handlerFor(includesRole(callerOf(response).role, WRITER));
      response.set('cache-control', 'no-store');
      request.url = boundQuery(request.url);
      await handler(request, response, next);
    } catch (thrown) {
      if (!leadsToLogin(thrown, request)) throw thrown;
      response.redirect(303, `/login?next=${encodeURIComponent(request.originalUrl)}`);
    }
  });
}

/** Largest values of parameters of the board. */
const MAX: Readonly<Record<string, number>> = {
  jobsPerPage: 100,
  page: 100_000,
  depth: 5,
  maxChildren: 50,
};

/** Jobs of each state on the page that shows the latest of all states. */
const MAX_LATEST = 20;

/** Parameters that hold a name in a form that is decoded once more. */
const ENCODED = new Set(['activeQueue', 'queueName']);

/**
 * The address of a request to the board with bounded parameters, each one once and under its plain name: the board itself
 * accepts any number.
 */
function boundQuery(url: string): string {
  const at = url.indexOf('?');
  if (at === -1) return url;
  const requested = new URLSearchParams(url.slice(at));
  const bounded = new URLSearchParams();
  for (const [name, value] of requested) {
    if (bounded.has(name) || !/^\w{1,50}$/.test(name)) continue;
    if (ENCODED.has(name) && !isDecodable(value)) continue;
    const most = MAX[name];
    if (most === undefined) bounded.set(name, value);
    else if (/^\d+$/.test(value)) bounded.set(name, String(Math.min(Math.max(Number(value), 1), most)));
  }
  const status = bounded.get('status') ?? 'latest';
  if (status === 'latest' && Number(bounded.get('jobsPerPage') ?? 0) > MAX_LATEST) {
    bounded.set('jobsPerPage', String(MAX_LATEST));
  }
  return `${url.slice(0, at)}?${bounded}`;
}

function isDecodable(value: string): boolean {
  try {
    decodeURIComponent(value);
    return true;
  } catch (thrown) {
    if (!(thrown instanceof URIError)) throw thrown;
    return false;
  }
}
