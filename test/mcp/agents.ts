import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { emptyFolder } from '../support/fleet-command.js';
import { testProgram } from '../support/programs.js';

/** What a tool answered. */
export interface Called {
  // biome-ignore lint/suspicious/noExplicitAny: tests look at answers of any shape
  readonly structured: any;
  readonly text: string;
  /** The text of an error; undefined if it is none. */
  readonly error: string | undefined;
}

/** An agent that is connected to tools. */
export interface Agent {
  readonly client: Client;
  call(name: string, args: object): Promise<Called>;
}

export interface StdioAgent extends Agent {
  /** What the process has written to standard error. */
  stderr(): string;
}

/** An agent that has started `fleet mcp`. */
export async function startAgent(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<StdioAgent> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [testProgram('src/cli/main'), 'mcp', ...args],
    env: { ...env },
    cwd: emptyFolder(),
    stderr: 'pipe',
  });
  let stderr = '';
  transport.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  return { ...(await connected(transport)), stderr: () => stderr };
}

/** An agent that sends its messages to a gateway. */
export function agentOfGateway(url: string, token?: string): Promise<Agent> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers } });
  return connected(transport as Parameters<Client['connect']>[0]);
}

async function connected(transport: Parameters<Client['connect']>[0]): Promise<Agent> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  return { client, call: (name, args) => called(client, name, args) };
}

/** Calls a tool. The client validates what it answers against the schema of its output. */
async function called(client: Client, name: string, args: object): Promise<Called> {
  const answer = await client.callTool({ name, arguments: { ...args } });
  const [first] = answer.content as { readonly text?: string }[];
  const text = first?.text ?? '';
  return { structured: answer.structuredContent, text, error: answer.isError === true ? text : undefined };
}
