import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import { tooManyOpen } from '../admission/resource-limits.js';

/** Largest fraction of the connections for one token, and for all connections without a token together. */
const TOKEN_FRACTION = 0.5;
const STRANGER_FRACTION = 0.25;

/**
 * How many requests a client may pipeline on one connection. Node emits all that arrive in one chunk, which may be more than
 * a thousand, and each costs memory and time before any answer is read.
 */
const MAX_SENT_AHEAD = 128;

/**
 * Limits the connections of a gateway: in all, of one token, and of those without a valid token. If there are too many of the
 * last, the oldest is closed: clients with a token send it within milliseconds. A connection whose token is being checked is
 * not closed: the check may wait for Redis, and many clients of one token may start at the same time.
 */
export class Connections {
  readonly #max: number;
  readonly #strangers = new Set<Socket>();
  readonly #tokens = new Map<Socket, string>();
  readonly #counts = new Map<string, number>();
  /** Requests under way. */
  readonly #requests = new WeakMap<Socket, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Handles requests, and closes a connection on which too many wait for their answers. */
  bounded(handle: RequestListener): RequestListener {
    return (request, response) => {
      const { socket } = request;
      const count = (this.#requests.get(socket) ?? 0) + 1;
      this.#requests.set(socket, count);
      // Node still emits the requests that it read in the same chunk.
      if (socket.destroyed) return;
      if (count > MAX_SENT_AHEAD) {
        socket.destroy();
        return;
      }
      response.once('close', () => this.#requests.set(socket, (this.#requests.get(socket) ?? 1) - 1));
      handle(request, response);
    };
  }

  watch(server: Server): void {
    server.maxConnections = this.#max;
    server.on('connection', (socket) => {
      // Each pipelined request listens for the end of its connection.
      socket.setMaxListeners(0);
      socket.once('close', () => {
        this.#strangers.delete(socket);
        this.#leave(socket);
      });
      this.#addStranger(socket);
    });
  }

  /** Runs what admits a request on a connection; meanwhile the connection is not closed as one without a token. */
  async whileAdmitting<T>(socket: Socket, admit: () => Promise<T>): Promise<T> {
    if (!this.#strangers.delete(socket)) return admit();
    try {
      return await admit();
    } finally {
      if (!socket.destroyed && !this.#tokens.has(socket)) this.#addStranger(socket);
    }
  }

  #addStranger(socket: Socket): void {
    this.#strangers.add(socket);
    if (this.#strangers.size <= Math.max(1, this.#max * STRANGER_FRACTION)) return;
    const [oldest] = this.#strangers;
    if (oldest === undefined) return;
    // Its close is emitted later; the next of many connections that come at once must not choose it again.
    this.#strangers.delete(oldest);
    oldest.destroy();
  }

  /**
   * A request on a connection was admitted with a token. A proxy's connection has the token of its last request.
   * @throws RequestError `too-many-open` if the token has too many.
   */
  letIn(socket: Socket, token: string): void {
    if (socket.destroyed || this.#tokens.get(socket) === token) return;
    const max = Math.max(1, Math.floor(this.#max * TOKEN_FRACTION));
    const count = this.#counts.get(token) ?? 0;
    if (count >= max) throw tooManyOpen(max, 'connections');
    this.#strangers.delete(socket);
    this.#leave(socket);
    this.#tokens.set(socket, token);
    this.#counts.set(token, count + 1);
  }

  #leave(socket: Socket): void {
    const token = this.#tokens.get(socket);
    if (token === undefined) return;
    this.#tokens.delete(socket);
    const left = (this.#counts.get(token) ?? 1) - 1;
    if (left === 0) this.#counts.delete(token);
    else this.#counts.set(token, left);
  }
}
