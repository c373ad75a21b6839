import type { Response } from 'express';
import { RequestError } from '../../errors.js';
import type { Gateway } from '../gateway.js';
import { logFailure } from '../http/errors.js';
import { whenOver } from '../http/request-log.js';

/**
 * Unread bytes at which a client is disconnected instead of getting another event; it reconnects with its Last-Event-ID. One
 * event may be larger, so a stream may use this and one event.
 */
const MAX_UNREAD_BYTES = 256 * 2 ** 10;

/** A response of server-sent events. */
export class EventStream {
  readonly #response: Response;
  readonly #gateway: Pick<Gateway, 'settings' | 'logger'>;
  readonly #ping: NodeJS.Timeout;
  readonly #ended: Promise<void>;
  /** Unread bytes at the last ping. */
  #unread = 0;

  /** @param stillAllowed Called with every ping; the stream ends when it throws: the token may have been revoked. */
  constructor(
    response: Response,
    gateway: Pick<Gateway, 'settings' | 'logger'>,
    stillAllowed: () => Promise<unknown>,
  ) {
    this.#response = response;
    this.#gateway = gateway;
    response.status(200).set({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      // Proxies that buffer answers would delay events.
      'x-accel-buffering': 'no',
    });
    response.flushHeaders();
    this.#ping = setInterval(() => {
      if (!this.#isRead()) return this.cutOff();
      stillAllowed().then(
        () => this.#write(': still here\n\n'),
        (thrown: unknown) => this.fail(thrown),
      );
    }, gateway.settings.streamPingMs);
    this.#ended = new Promise((resolve) => {
      const over = () => {
        clearInterval(this.#ping);
        resolve();
      };
      if (whenOver(response).aborted) over();
      else whenOver(response).addEventListener('abort', over, { once: true });
    });
  }

  /** Sends one event; a client that lost the connection resumes after `id`. */
  send(event: string, data: unknown, id?: string): void {
    const idLine = id === undefined ? '' : `id: ${id}\n`;
    // JSON has no raw line breaks, so it is one line of data.
    this.#write(`${idLine}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** Resolves when more can be sent without buffering, or the connection is over. */
  async drained(): Promise<void> {
    const response = this.#response;
    const over = whenOver(response);
    if (over.aborted || !response.writableNeedDrain) return;
    await new Promise<void>((resolve) => {
      const settle = () => {
        response.off('drain', settle);
        over.removeEventListener('abort', settle);
        resolve();
      };
      response.on('drain', settle);
      over.addEventListener('abort', settle, { once: true });
    });
  }

  /** Disconnects a client that does not read; it may reconnect with its Last-Event-ID. */
  cutOff(): void {
    const { route } = this.#response.locals;
    this.#gateway.logger.debug({ route }, 'an event stream is cut off: its client does not read');
    this.#response.destroy();
  }

  end(): void {
    clearInterval(this.#ping);
    this.#response.end();
  }

  /** Ends the stream because of an error; the status is already sent, so only the log can report it. */
  fail(thrown: unknown): void {
    if (!(thrown instanceof RequestError)) logFailure(this.#gateway.logger, thrown, this.#response);
    this.end();
  }

  /** Resolves when the connection has ended, from either side. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /** Whether nothing is unread, or less than at the last ping. */
  #isRead(): boolean {
    const before = this.#unread;
    this.#unread = this.#response.writableLength;
    return this.#unread === 0 || before === 0 || this.#unread < before;
  }

  #write(text: string): void {
    if (this.#response.destroyed || this.#response.writableEnded) return;
    if (this.#response.writableLength > MAX_UNREAD_BYTES) this.cutOff();
    else this.#response.write(text);
  }
}
