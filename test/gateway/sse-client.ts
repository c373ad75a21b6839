import { type ClientRequest, request } from 'node:http';

export interface ServerEvent {
  readonly id: string | undefined;
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at events of any shape
  readonly data: any;
}

/** A client of server-sent events that can vanish at any moment. */
export class SseClient {
  readonly events: ServerEvent[] = [];
  /** Resolves with the status once the headers are there. */
  readonly opened: Promise<number>;
  /** Resolves when the server has ended the stream. */
  readonly ended: Promise<void>;
  readonly #request: ClientRequest;
  readonly #waiting = new Set<() => void>();

  constructor(url: string, headers: Record<string, string> = {}) {
    this.#request = request(url, { headers: { accept: 'text/event-stream', ...headers }, agent: false });
    let finish: () => void;
    this.ended = new Promise((resolve) => {
      finish = resolve;
    });
    this.opened = new Promise((resolve, reject) => {
      this.#request.on('error', reject);
      this.#request.on('response', (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
          const parts = text.split('\n\n');
          text = parts.pop() ?? '';
          for (const part of parts) this.#take(part);
        });
        response.on('end', () => finish());
        response.on('error', () => finish());
        resolve(response.statusCode ?? 0);
      });
    });
    this.#request.end();
  }

  /** Resolves with the first event of a name that fits. */
  async seen(event: string, fits: (data: ServerEvent['data']) => boolean = () => true): Promise<ServerEvent> {
    for (;;) {
      const found = this.events.find((entry) => entry.event === event && fits(entry.data));
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  /** Cuts the connection, as a closed laptop does. */
  vanish(): void {
    this.#request.on('error', () => undefined);
    this.#request.destroy();
  }

  #take(part: string): void {
    const fields = new Map(
      part
        .split('\n')
        .filter((line) => !line.startsWith(':'))
        .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
    );
    const event = fields.get('event');
    if (event === undefined) return;
    this.events.push({ id: fields.get('id'), event, data: JSON.parse(fields.get('data') ?? 'null') });
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}
