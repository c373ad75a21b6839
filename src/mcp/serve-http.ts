import type { IncomingMessage, ServerResponse } from 'node:http';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { ToolHost } from './tool-host.js';
import { toolServer } from './tool-server.js';

/**
 * Answers one request of the streamable HTTP transport. There are no sessions: each request stands for itself, so any gateway of a
 * fleet may answer it, and its token counts for it alone.
 * @param body the message, parsed
 */
export async function answerByHttp(
  host: ToolHost,
  request: IncomingMessage,
  response: ServerResponse,
  body: unknown,
  signal: AbortSignal,
): Promise<void> {
  const server = toolServer(host, signal);
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
  try {
    // Its optional members are declared with `undefined`, which is the same to it.
    await server.connect(transport as Parameters<typeof server.connect>[0]);
    await transport.handleRequest(request, response, body);
  } finally {
    await server.close();
  }
}
