import { createBullBoard } from '@bull-board/api';
import type { Express, RequestHandler } from 'express';
import { authorize } from '../auth/caller.js';
import { includesRole, type Role } from '../auth/roles.js';
import { assertOwnTenant, callerOf } from '../auth/tenant.js';
import type { Gateway } from '../gateway.js';
import type { ExtendProblem } from '../http/errors.js';
import { admitRequest, type Mounting, takeResource } from '../http/mount.js';
import { boardHeaders } from '../http/security-headers.js';
import { leadsToLogin } from '../pages/page-request.js';
import { guardBoard } from './board-guard.js';
import { BoardQueue } from './board-queue.js';
import { BoardServer } from './board-server.js';

export const BOARD_PATH = '/board';
/** Who may change queues on the board. */
const WRITER: Role = 'admin';
/** How often the pipeline queues are looked up, in milliseconds. */
const REFRESH_MS = 5_000;
const SAFE_METHODS = new Set(['GET', 'HEAD']);

/** Bull Board over all queues of a fleet: one that is read-only and one that allows changes. */
class Board {
  readonly #gateway: Gateway;
  readonly #readOnly: ReturnType<typeof boardOf>;
  readonly #writable: ReturnType<typeof boardOf>;
  #refreshedAt = 0;

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
    this.#readOnly = boardOf(gateway, true);
    this.#writable = boardOf(gateway, false);
  }

  async handlerFor(role: Role): Promise<RequestHandler> {
    if (Date.now() - this.#refreshedAt >= REFRESH_MS) await this.#refresh();
    return includesRole(role, WRITER) ? this.#writable.handler : this.#readOnly.handler;
  }

  async #refresh(): Promise<void> {
    const { fleet, pipelineQueues } = this.#gateway;
    const names = new Set([...fleet.kinds.names, ...(await pipelineQueues.list())]);
    const queues = [...names].map((name) => fleet.queue(name));
    this.#readOnly.show(queues);
    this.#writable.show(queues);
    this.#refreshedAt = Date.now();
  }
}

function boardOf({ fleet }: Gateway, readOnlyMode: boolean) {
  const server = new BoardServer();
  server.setBasePath(BOARD_PATH);
  const board = createBullBoard({
    queues: [],
    serverAdapter: server,
    options: {
      uiConfig: {
        boardTitle: 'solution-fleet',
        miscLinks: [
          { text: 'Overview', url: '/' },
          { text: 'Runs', url: '/runs' },
        ],
      },
    },
  });
  // An error of the board is handled like any other: one line in the log, and a problem document.
  server.setErrorHandler((thrown) => {
    throw thrown;
  });
  const router = server.getRouter() as Express;
  router.disable('x-powered-by').disable('etag');
  return {
    handler: router as RequestHandler,
    show: (queues: readonly ReturnType<Gateway['fleet']['queue']>[]) => {
      board.setQueues(
        queues.map((queue) => {
          const adapter = new BoardQueue(fleet, queue, { readOnlyMode });
          adapter.setFormatter('data', shorten);
          adapter.setFormatter('returnValue', shorten);
          adapter.setFormatter('progress', shorten);
          return adapter;
        }),
      );
    },
  };
}

/** What the page of the board reads of an error, besides the problem document. */
const boardError: ExtendProblem = ({ status, detail }) => ({
  error: { key: status >= 500 ? 'ERRORS.INTERNAL_SERVER_ERROR' : 'ERRORS.FORBIDDEN' },
  message: detail,
});

/** Adds Bull Board. A caller who may only read gets a read-only board, and the server also rejects changes. */
export function mountBoard(app: Express, mounting: Mounting): void {
  let board: Board | undefined;
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
      board ??= new Board(gateway);
      await takeResource('board', response, mounting);
      const stillAllowed = () => authorize(request, gateway, needed);
      const reading = { rate: mounting.bodyRate, signal: gateway.closing, stillAllowed };
      if (await guardBoard(request, response, gateway, reading)) return;
      const handler = await board.handlerFor(callerOf(response).role);
      response.set('cache-control', 'no-store');
      request.url = boundQuery(request.url);
      await handler(request, response, next);
    } catch (thrown) {
      if (!leadsToLogin(thrown, request)) throw thrown;
      response.redirect(303, `/login?next=${encodeURIComponent(request.originalUrl)}`);
    }
  });
}

/** Longest text that the board shows, in characters; the API gives the whole. */
const MAX_TEXT_LENGTH = 2_000;
const MAX_ITEMS = 50;
const DEEPEST = 6;
/** Characters of one value's texts and keys together. */
const MAX_VALUE_LENGTH = 20_000;

interface Room {
  left: number;
}

/** A value cut to what a page can show: a megabyte of script or ten thousand items make a board unusable. The cut is shown. */
function shorten(value: unknown): unknown {
  return shortenWithin(value, DEEPEST, { left: MAX_VALUE_LENGTH });
}

function shortenText(text: string, room: Room): string {
  const length = Math.min(MAX_TEXT_LENGTH, Math.max(room.left, 0));
  room.left -= Math.min(text.length, length);
  return text.length <= length ? text : `${text.slice(0, length)}… (${text.length} characters in all)`;
}

function shortenWithin(value: unknown, depth: number, room: Room): unknown {
  if (typeof value === 'string') return shortenText(value, room);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return '… (nested deeper)';
  if (Array.isArray(value)) {
    const items = value.slice(0, MAX_ITEMS).map((item) => shortenWithin(item, depth - 1, room));
    return value.length <= MAX_ITEMS ? items : [...items, `… (${value.length} items in all)`];
  }
  const entries = Object.entries(value);
  const shown = entries.slice(0, MAX_ITEMS).map(([key, item]) => {
    return [shortenText(key, room), shortenWithin(item, depth - 1, room)];
  });
  if (entries.length > MAX_ITEMS) shown.push(['…', `(${entries.length} fields in all)`]);
  return Object.fromEntries(shown);
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
