import { once } from 'node:events';
import { connect, createServer, type NetConnectOpts, type Server, type Socket } from 'node:net';

/**
 * How the link behaves:
 * - `open`: bytes pass, each chunk `delayMs` later;
 * - `black-hole`: connections stand and new ones are accepted, but no byte passes either way;
 * - `half-open`: the client's bytes pass, answers are swallowed;
 * - `refusing`: new connections are reset at once (standing ones go on).
 */
export type LinkMode = 'open' | 'black-hole' | 'half-open' | 'refusing';

/** Both ends of a connection; a stream from which bytes were swallowed cannot go on, whatever the link does later. */
interface Pair {
  readonly client: Socket;
  readonly upstream: Socket;
  torn: boolean;
}

/** A TCP proxy on a free loopback port before a Unix socket or a TCP port, for breaking the link on purpose. */
export class TcpProxy {
  mode: LinkMode = 'open';
  /** Added to every chunk in either direction, in milliseconds. */
  delayMs = 0;
  /** Connections that have been accepted since the start. */
  accepted = 0;
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

  /** Resets every standing connection, as a crashed router would; new ones are treated as `mode` says. */
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
    const pair: Pair = { client, upstream, torn: false };
    this.#pairs.add(pair);
    this.#carry(pair, client, upstream, 'request');
    this.#carry(pair, upstream, client, 'answer');
    const forget = () => {
      if (client.closed && upstream.closed) this.#pairs.delete(pair);
    };
    client.once('close', forget);
    upstream.once('close', forget);
  }

  #passes(pair: Pair, direction: 'request' | 'answer'): boolean {
    if (pair.torn && this.mode === 'open') return false;
    return this.mode !== 'black-hole' && (this.mode !== 'half-open' || direction === 'request');
  }

  #carry(pair: Pair, from: Socket, to: Socket, direction: 'request' | 'answer'): void {
    from.on('data', (chunk) => {
      if (!this.#passes(pair, direction)) {
        pair.torn = true;
        this.swallowedBytes += chunk.length;
        return;
      }
      if (this.delayMs === 0) to.write(chunk);
      // Equal delays keep the order of chunks: timers of one duration fire in the order they were set.
      else setTimeout(() => !to.destroyed && to.write(chunk), this.delayMs);
    });
    // One end's failure is the other end's, unless the link hides it: then that end learns nothing.
    const passEnd = () => {
      if (this.#passes(pair, direction)) to.destroy();
    };
    from.on('error', passEnd);
    from.on('close', passEnd);
  }
}
