import type { Readable, Writable } from 'node:stream';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { ToolHost } from './tool-host.js';
import { toolServer } from './tool-server.js';

export interface StdioOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** Aborted when the process is to end. */
  readonly signal: AbortSignal;
  /** Writes a message for people, not to `output`. */
  log(message: string): void;
}

/** Serves tools by standard input and output until its end of the input is closed. */
export async function serveByStdio(
  host: ToolHost,
  { input, output, signal, log }: StdioOptions,
): Promise<void> {
  const transport = new StdioServerTransport(input, output);
  const ended = new Promise<void>((resolve) => {
    // The transport itself does not notice that its client is gone.
    input.once('end', resolve).once('close', resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const server = toolServer(host);
  server.server.onerror = (error) => log(error.message);
  await server.connect(transport);
  await ended;
  await server.close();
}
