import type { Response } from 'express';

/** A client that does not read is cut off once so many bytes wait for it. */
const MOST_UNREAD = 8 * 2 ** 20;

/** A response of server-sent events. */
export class EventStream {
  readonly #response: Response;
  readonly #ping: NodeJS.Timeout;
  readonly #ended: Promise<void>;

  /**
   * @param pingMs How often a comment is sent, so that proxies do not cut a silent stream, in milliseconds.
   * @param stillAllowed Asked as often; the stream ends when it throws: the token may have been revoked.
   */
  constructor(response: Response, pingMs: number, stillAllowed: () => Promise<unknown>) {
    this.#response = response;
    response.status(200).set({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      // Proxies that collect answers before they pass them on would hold events back.
      'x-accel-buffering': 'no',
    });
    response.flushHeaders();
    this.#ping = setInterval(() => {
      stillAllowed().then(
        () => this.#write(': still here\n\n'),
        () => this.end(),
      );
    }, pingMs);
    this.#ended = new Promise((resolve) => {
      response.once('close', () => {
        clearInterval(this.#ping);
        resolve();
      });
    });
  }

  /** Sends one event; `id` is where a client that lost the connection goes on. */
  send(event: string, data: unknown, id?: string): void {
    const place = id === undefined ? '' : `id: ${id}\n`;
    // JSON has no raw line breaks, so it is one line of data.
    this.#write(`${place}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  end(): void {
    clearInterval(this.#ping);
    this.#response.end();
  }

  /** Resolves when the connection is over, whoever ended it. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  #write(text: string): void {
    if (this.#response.destroyed || this.#response.writableEnded) return;
    this.#response.write(text);
    if (this.#response.writableLength > MOST_UNREAD) this.#response.destroy();
  }
}
