import { once } from 'node:events';
import { connect, createServer, type NetConnectOpts, type Server, type Socket } from 'node:net';

/**
 * How the link behaves:
 * - `open`: bytes pass, each chunk `delayMs` later;
 * - `black-hole`: connections stay open and new ones are accepted, but no byte passes either way;
 * - `half-open`: the client's bytes pass, answers are swallowed;
 * - `refusing`: new connections are reset at once (open ones go on).
 */
export type LinkMode = 'open' | 'black-hole' | 'half-open' | 'refusing';

type Direction = 'request' | 'answer';

/**
 * Both ends of a connection, and in which directions bytes of it were swallowed: what follows a hole never arrives,
 * whatever the link does later, because TCP delivers all bytes before it or none.
 */
interface Pair {
  readonly client: Socket;
  readonly upstream: Socket;
  readonly torn: Set<Direction>;
}

/** A TCP proxy on a free loopback port before a Unix socket or a TCP port, for breaking the link on purpose. */
export class TcpProxy {
  mode: LinkMode = 'open';
  /** Added to every chunk in either direction, in milliseconds. */
  delayMs = 0;
  /** Called with each chunk of a client before it passes; it may change the mode. */
  onRequest: ((chunk: Buffer) => void) | undefined;
  /** Connections that have been accepted since the start. */
  accepted = 0;
  /** Bytes that have come in, both directions together, whatever became of them. */
  incomingBytes = 0;
  /** Bytes that did not pass because of the mode, both directions together. */
  swallowedBytes = 0;
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();

  private constructor(target: NetConnectOpts) {
    this.#server = createServer((client) => this.#join(client, target));
  }

  /** @param target `{path}` of a Unix socket, or `{host, port}`. */
  static async start(target: NetConnectOpts): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the proxy is not listening');
    return address.port;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  get openConnections(): number {
    return this.#pairs.size;
  }

  /** Resets every open connection, as a crashed router would; new ones are treated as `mode` says. */
  cut(): void {
    for (const { client, upstream } of this.#pairs) {
      client.resetAndDestroy();
      upstream.destroy();
    }
  }

  /** Resolves when the next connection has been accepted. */
  async nextConnection(): Promise<void> {
    await once(this.#server, 'connection');
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.cut();
    await closed;
  }

  #join(client: Socket, target: NetConnectOpts): void {
    this.accepted += 1;
    if (this.mode === 'refusing') {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect(target);
    const pair: Pair = { client, upstream, torn: new Set() };
    this.#pairs.add(pair);
    this.#carry(pair, client, upstream, 'request');
    this.#carry(pair, upstream, client, 'answer');
    const forget = () => {
      if (client.closed && upstream.closed) this.#pairs.delete(pair);
    };
    client.once('close', forget);
    upstream.once('close', forget);
  }

  #passes({ torn }: Pair, direction: Direction): boolean {
    // A link that is well again has forgotten a connection that it broke.
    if (this.mode === 'open' ? torn.size > 0 : torn.has(direction)) return false;
    return this.mode !== 'black-hole' && (this.mode !== 'half-open' || direction === 'request');
  }

  #carry(pair: Pair, from: Socket, to: Socket, direction: Direction): void {
    const delayed: Buffer[] = [];
    const sendNext = () => {
      const chunk = delayed.shift();
      if (chunk !== undefined && !to.destroyed) to.write(chunk);
    };
    from.on('data', (chunk: Buffer) => {
      this.incomingBytes += chunk.length;
      if (direction === 'request') this.onRequest?.(chunk);
      if (!this.#passes(pair, direction)) {
        pair.torn.add(direction);
        this.swallowedBytes += chunk.length;
        return;
      }
      if (this.delayMs === 0 && delayed.length === 0) {
        to.write(chunk);
        return;
      }
      // Each timer sends the oldest chunk, not its own: when the delay changes, no chunk overtakes another.
      delayed.push(chunk);
      setTimeout(sendNext, this.delayMs);
    });
    // One end's failure is the other end's, unless the link hides it: then that end learns nothing.
    const passEnd = () => {
      if (this.#passes(pair, direction)) to.destroy();
    };
    from.on('error', passEnd);
    from.on('close', passEnd);
  }
}
