import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { UsageError } from '../errors.js';
import { createApp } from './app.js';
import type { GatewayOptions, ServerLimits } from './gateway-options.js';
import { Connections } from './http/connections.js';
import { FleetLink } from './link.js';

const LIMITS: ServerLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 120_000,
  headerBytes: 16_384,
  closeGraceMs: 5_000,
  bodyRate: { windowMs: 10_000, minBytes: 10_240 },
  sendIdleMs: 30_000,
  sendMs: 300_000,
};
/** Longer than the idle time of common proxies, so that they close a connection first. */
const KEEP_ALIVE_MS = 65_000;

export interface RunningGateway {
  readonly url: string;
  readonly port: number;
  /** Connections that are open now. */
  connections(): Promise<number>;
  /** Requests that are being handled now. */
  readonly openRequests: number;
  /** Listeners to the queues' events, one for each open event stream and each wait for a job of a pipeline queue. */
  readonly eventListeners: number;
  /** Queues that are open. */
  readonly openQueues: number;
  /** Accepts no new requests, ends waits and event streams, lets the other requests end, and disconnects from Redis. */
  close(): Promise<void>;
}

/**
 * Starts the HTTP gateway.
 * @throws RedisError `redis-unsuitable`; ConfigurationError if the host needs tokens and there are none; UsageError if it
 *   cannot listen.
 */
export async function startGateway(options: GatewayOptions): Promise<RunningGateway> {
  const limits = { ...LIMITS, ...options.limits };
  const link = new FleetLink(options);
  await link.open();
  const open = { count: 0 };
  const connections = new Connections(options.settings.maxConnections);
  const app = createApp(link, options, limits, connections, open);
  const server = createServer(
    {
      maxHeaderSize: limits.headerBytes,
      // Node's own interval, half a minute, would let a slow client have that much more time.
      connectionsCheckingInterval: limits.headersTimeoutMs / 2,
    },
    connections.bounded(app),
  );
  connections.watch(server);
  // By default Node drops headers after the 2,000th, and those in which a proxy or a browser reports the origin of a request
  // may be the last ones. Their size is still limited.
  server.maxHeadersCount = 0;
  server.headersTimeout = limits.headersTimeoutMs;
  server.requestTimeout = limits.requestTimeoutMs;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  // A client that asks before it sends a body that is too large gets the error instead of permission.
  server.on('checkContinue', (request, response) => {
    if (Number(request.headers['content-length'] ?? 0) <= options.settings.bodyBytes)
      response.writeContinue();
    server.emit('request', request, response);
  });
  // A keep-alive connection is idle only after its answer: without this, the client would delay the close.
  server.on('request', (_request, response) => {
    response.once('close', () => {
      if (link.closing.signal.aborted) setImmediate(() => server.closeIdleConnections());
    });
  });
  try {
    await listen(server, options);
  } catch (thrown) {
    await link.close();
    throw thrown;
  }
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  return {
    url: `http://${host}:${port}`,
    port,
    connections: () =>
      new Promise((resolve, reject) => {
        server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
      }),
    get openRequests() {
      return open.count;
    },
    get eventListeners() {
      return link.require().feed.listenerCount;
    },
    get openQueues() {
      return link.require().fleet.openQueues;
    },
    close: async () => {
      link.closing.abort();
      await closeServer(server, limits.closeGraceMs);
      await link.close();
    },
  };
}

function listen(server: Server, { host, port }: GatewayOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (cause: Error) => {
      reject(new UsageError('usage', `cannot listen on ${host}, port ${port}: ${cause.message}`, { cause }));
    };
    server.once('error', fail);
    server.listen(port, host, () => {
      server.off('error', fail);
      resolve();
    });
  });
}

async function closeServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  server.closeIdleConnections();
  const deadline = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(deadline);
}
