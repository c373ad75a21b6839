import type { Tool, ToolResultBlockParam } from '@anthropic-ai/sdk/resources/messages';
import { z } from 'zod';
import type { ToolUse } from '../calls/message.js';
import type { WorkLog } from './agent-runner.js';
import { openInWorkspace, WorkspaceRefusal } from './workspace-file.js';

/** Most bytes that are looked at of one file. */
export const LARGEST_SCAN_BYTES = 4 * 1024 * 1024;
/** Most characters that one call hands out; data files are far longer, and an agent pays for each of them. */
export const LARGEST_READ_CHARACTERS = 64 * 1024;
const DEFAULT_LINES = 2_000;

/** The tool as it is offered to the model (REQ-SF-011, REQ-SF-016, REQ-P2O-012). */
export const READ_TOOL: Tool = {
  name: 'Read',
  description:
    'Reads a text file of the workspace, in whole or some of its lines. Nothing outside the workspace can be read. Long files are cut; ask for the lines that are needed.',
  input_schema: {
    type: 'object',
    properties: {
      file_path: { type: 'string', description: 'Path of the file, relative to the workspace.' },
      offset: { type: 'integer', description: 'Number of the first line wanted, from 1. Default: 1.' },
      limit: { type: 'integer', description: `How many lines. Default: ${DEFAULT_LINES}.` },
    },
    required: ['file_path'],
    additionalProperties: false,
  },
};

const ReadInputSchema = z.object({
  file_path: z.string(),
  offset: z.int().positive().nullish(),
  limit: z.int().positive().nullish(),
});
type ReadInput = z.infer<typeof ReadInputSchema>;

/**
 * Carries out the tool calls of a message. A call that is refused gets an error as its result, and the agent
 * goes on. Every read and every refusal is logged.
 *
 * @param root real path of the workspace; null where the tool is not offered
 */
export async function runTools(
  uses: readonly ToolUse[],
  root: string | null,
  log: WorkLog | undefined,
): Promise<ToolResultBlockParam[]> {
  const results: ToolResultBlockParam[] = [];
  for (const use of uses) {
    try {
      results.push({ type: 'tool_result', tool_use_id: use.id, content: await runTool(use, root, log) });
    } catch (error) {
      if (!(error instanceof WorkspaceRefusal)) throw error;
      log?.warn(`tool ${printable(use.name)} refused: ${error.message}`);
      results.push({ type: 'tool_result', tool_use_id: use.id, content: error.message, is_error: true });
    }
  }
  return results;
}

async function runTool(use: ToolUse, root: string | null, log: WorkLog | undefined): Promise<string> {
  if (use.name !== READ_TOOL.name || root === null) {
    throw new WorkspaceRefusal(`There is no tool "${printable(use.name)}" here.`);
  }
  const input = ReadInputSchema.safeParse(use.input);
  if (!input.success) throw new WorkspaceRefusal(`The input does not fit: ${z.prettifyError(input.error)}`);
  const path = printable(input.data.file_path);
  try {
    const text = await readLines(root, input.data);
    log?.info(`tool Read: ${path} (${text.length} characters)`);
    return text === '' ? '(the file is empty)' : text;
  } catch (error) {
    if (error instanceof WorkspaceRefusal) {
      throw new WorkspaceRefusal(`${path} cannot be read: ${error.message}.`);
    }
    throw error;
  }
}

async function readLines(root: string, { file_path, offset, limit }: ReadInput): Promise<string> {
  const handle = await openInWorkspace(root, file_path);
  let bytes: Buffer;
  let size: number;
  try {
    size = (await handle.stat()).size;
    const buffer = Buffer.alloc(Math.min(size, LARGEST_SCAN_BYTES));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    bytes = buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
  if (bytes.includes(0)) throw new WorkspaceRefusal('it is a binary file');

  const lines = bytes.toString('utf8').split('\n');
  const from = (offset ?? 1) - 1;
  const to = from + (limit ?? DEFAULT_LINES);
  const wanted = lines.slice(from, to).join('\n');
  if (from >= lines.length) {
    throw new WorkspaceRefusal(
      `it has no line ${from + 1} in what can be read of it (${lines.length} lines)`,
    );
  }
  const text = wanted.slice(0, LARGEST_READ_CHARACTERS).replace(/\p{Surrogate}$/u, '');
  const isCut = text.length < wanted.length || to < lines.length || size > bytes.length;
  return isCut ? `${text}\n(cut here; the file has ${size} bytes)` : text;
}

/** A word of the model's as one short line without control characters. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '?').slice(0, 200);
}
