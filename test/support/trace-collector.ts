import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface ReceivedSpans {
  readonly path: string | undefined;
  readonly type: string | undefined;
  /** Protobuf; names and values can be read in it. */
  readonly body: string;
}

export interface TraceCollector {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly url: string;
  readonly received: readonly ReceivedSpans[];
  close(): void;
}

/** An HTTP server that takes what a collector of traces takes by OTLP. */
export async function startTraceCollector(host = '127.0.0.1'): Promise<TraceCollector> {
  const received: ReceivedSpans[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('latin1');
      received.push({ path: request.url, type: request.headers['content-type'], body });
      response.end();
    });
  });
  server.listen(0, host);
  await once(server, 'listening');
  const url = `http://${host}:${(server.address() as AddressInfo).port}`;
  return { url, received, close: () => server.close() };
}
