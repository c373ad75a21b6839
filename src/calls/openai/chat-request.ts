import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
  ChatCompletionTool,
} from 'openai/resources/chat/completions';
import { type ContentBlock, toolUseOf } from '../message.js';
import type { CallRequest } from '../transport.js';
import { isStrict } from './strict-schema.js';

/** How servers differ that all speak the Chat Completions API. */
export interface ChatDialect {
  /** Field of the token limit: OpenAI's own models take only the first, older servers only the second. */
  readonly tokenLimit: 'max_completion_tokens' | 'max_tokens';
  /** How an answer's JSON schema is sent: enforced by the server, or as text beside "answer in JSON". */
  readonly format: 'json_schema' | 'json_object';
}

/** The same request for the Chat Completions API. Cache control is left out: there the server caches by itself. */
export function chatRequest(request: CallRequest, dialect: ChatDialect): ChatCompletionCreateParamsStreaming {
  const schema = request.output_config?.format?.schema;
  const asText = schema !== undefined && dialect.format === 'json_object';
  const system = [systemText(request.system), ...(asText ? [formatInstruction(schema)] : [])].filter(Boolean);
  const tools = request.tools?.flatMap(chatTool) ?? [];
  return {
    model: request.model,
    [dialect.tokenLimit]: request.max_tokens,
    messages: [
      ...(system.length === 0 ? [] : [{ role: 'system' as const, content: system.join('\n\n') }]),
      ...request.messages.flatMap(chatMessages),
    ],
    ...(tools.length === 0 ? {} : { tools }),
    ...(request.tool_choice?.type === 'none' ? { tool_choice: 'none' as const } : {}),
    ...(schema === undefined ? {} : { response_format: responseFormat(schema, dialect) }),
    stream: true,
    stream_options: { include_usage: true },
  };
}

type Schema = Readonly<Record<string, unknown>>;

function responseFormat(
  schema: Schema,
  { format }: ChatDialect,
): NonNullable<ChatCompletionCreateParamsStreaming['response_format']> {
  if (format === 'json_object') return { type: 'json_object' };
  return { type: 'json_schema', json_schema: { name: 'answer', schema, strict: isStrict(schema) } };
}

function formatInstruction(schema: Schema): string {
  return `Answer with one JSON document that fits this JSON schema, and nothing else:\n${JSON.stringify(schema)}`;
}

function systemText(system: CallRequest['system']): string {
  if (system === undefined || typeof system === 'string') return system ?? '';
  return system.map(({ text }) => text).join('\n\n');
}

function chatTool(tool: NonNullable<CallRequest['tools']>[number]): ChatCompletionTool[] {
  if (!('input_schema' in tool)) return [];
  const { name, description, input_schema } = tool;
  return [
    {
      type: 'function',
      function: {
        name,
        ...(description === undefined ? {} : { description }),
        parameters: { ...input_schema },
      },
    },
  ];
}

function chatMessages({ role, content }: CallRequest['messages'][number]): ChatCompletionMessageParam[] {
  const blocks: readonly ContentBlock[] =
    typeof content === 'string' ? [{ type: 'text', text: content }] : content.map((block) => ({ ...block }));
  if (role === 'assistant') return [assistantMessage(blocks)];
  const text = blocks.map(textIn).join('');
  return [...blocks.flatMap(toolResult), ...(text === '' ? [] : [{ role: 'user' as const, content: text }])];
}

function assistantMessage(blocks: readonly ContentBlock[]): ChatCompletionAssistantMessageParam {
  const text = blocks.map(textIn).join('');
  const calls = blocks.flatMap(toolCall);
  return {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

function toolCall(block: ContentBlock): ChatCompletionMessageFunctionToolCall[] {
  const use = toolUseOf(block);
  if (use === undefined) return [];
  const { id, name, input } = use;
  // An input that was no JSON is repeated as the model wrote it.
  const call = { name, arguments: typeof input === 'string' ? input : JSON.stringify(input) };
  // Gemini rejects a tool call that comes back without its signature, which is in this field.
  const extra = block.extra_content === undefined ? {} : { extra_content: block.extra_content };
  return [{ id, type: 'function', function: call, ...extra }];
}

function toolResult(block: ContentBlock): ChatCompletionMessageParam[] {
  if (block.type !== 'tool_result' || typeof block.tool_use_id !== 'string') return [];
  const content = typeof block.content === 'string' ? block.content : JSON.stringify(block.content ?? '');
  return [{ role: 'tool', tool_call_id: block.tool_use_id, content }];
}

function textIn(block: ContentBlock): string {
  return block.type === 'text' && typeof block.text === 'string' ? block.text : '';
}
