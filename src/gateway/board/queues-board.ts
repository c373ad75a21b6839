import { createBullBoard } from '@bull-board/api';
import type { Express, RequestHandler } from 'express';
import type { Gateway } from '../gateway.js';
import { BoardQueue } from './board-queue.js';
import { BoardServer } from './board-server.js';

/** How often the pipeline queues are looked up, in milliseconds. */
const REFRESH_MS = 5_000;

/** Bull Board over all queues of a fleet: one that is read-only and one that allows changes. */
export class QueuesBoard {
  readonly #gateway: Gateway;
  readonly #readOnly: ReturnType<typeof boardOf>;
  readonly #writable: ReturnType<typeof boardOf>;
  #refreshedAt = 0;

  /** @param path Where the board is mounted. */
  constructor(gateway: Gateway, path: string) {
    this.#gateway = gateway;
    this.#readOnly = boardOf(gateway, path, true);
    this.#writable = boardOf(gateway, path, false);
  }

  async handlerFor(mayWrite: boolean): Promise<RequestHandler> {
    if (Date.now() - this.#refreshedAt >= REFRESH_MS) await this.#refresh();
    return mayWrite ? this.#writable.handler : this.#readOnly.handler;
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

function boardOf({ fleet }: Gateway, path: string, readOnlyMode: boolean) {
  const server = new BoardServer();
  server.setBasePath(path);
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
