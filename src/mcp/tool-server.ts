import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { toFleetError } from '../errors.js';
import type { Tool } from './tool.js';
import type { ToolHost } from './tool-host.js';
import { TOOLS } from './tools/all.js';

/** A server of the Model Context Protocol with all tools. It speaks once it is connected to a transport. */
export function toolServer(host: ToolHost, signal?: AbortSignal): McpServer {
  const server = new McpServer({ name: 'solution-fleet', version: host.version });
  for (const tool of TOOLS) register(server, tool, host, signal);
  return server;
}

function register(server: McpServer, tool: Tool, host: ToolHost, ended: AbortSignal | undefined): void {
  const { name, description, output, role, submits } = tool;
  const isReadOnly = !submits || host.jobs === undefined;
  const annotations = isReadOnly ? { readOnlyHint: true } : { readOnlyHint: false, destructiveHint: false };
  const config = { description, inputSchema: inputOf(tool, host), outputSchema: output, annotations };
  const registered = server.registerTool(
    name,
    config,
    async (args: unknown, { signal }: { readonly signal: AbortSignal }) => {
      try {
        host.assertRole(role);
        const call = { host, signal: ended === undefined ? signal : AbortSignal.any([signal, ended]) };
        const structuredContent = await tool.run(args, call);
        // Clients that do not read structured content read the text.
        return {
          structuredContent,
          content: [{ type: 'text' as const, text: JSON.stringify(structuredContent) }],
        };
      } catch (thrown) {
        const { message, code } = toFleetError(thrown);
        return { isError: true, content: [{ type: 'text' as const, text: `${message} (${code})` }] };
      }
    },
  );
  // It says what is so without it, and every agent would read it.
  delete registered.execution;
}

/** The arguments of a tool, without those that name files where there are none. */
function inputOf({ input, fileFields }: Tool, { files }: ToolHost): z.ZodObject {
  if (files !== undefined) return input;
  const shape = Object.entries(input.shape).filter(([name]) => !fileFields.includes(name));
  return z.strictObject(Object.fromEntries(shape));
}
