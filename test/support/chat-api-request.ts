/** The body of a request to the Chat Completions API, as far as tests look at it. */
export interface ChatBody {
  readonly model: string;
  readonly max_completion_tokens?: number;
  readonly max_tokens?: number;
  readonly stream?: boolean;
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly tool_choice?: string;
  readonly response_format?: {
    readonly type: string;
    readonly json_schema?: { readonly schema: Record<string, unknown>; readonly strict: boolean };
  };
}

interface ChatMessage {
  readonly role: string;
  readonly content: string | null;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

/** The same request in the form of the Messages API, so that a test can look at requests of both. */
export function asMessagesBody(body: ChatBody) {
  const system = body.messages.filter(({ role }) => role === 'system');
  const schema = body.response_format?.json_schema?.schema;
  return {
    model: body.model,
    max_tokens: body.max_completion_tokens ?? body.max_tokens ?? 0,
    ...(body.stream === undefined ? {} : { stream: body.stream }),
    ...(system.length === 0 ? {} : { system: system.map(({ content }) => ({ text: content ?? '' })) }),
    messages: body.messages.filter(({ role }) => role !== 'system').map(asMessage),
    ...(body.tools === undefined ? {} : { tools: body.tools.map((tool) => ({ name: tool.function.name })) }),
    ...(body.tool_choice === undefined ? {} : { tool_choice: { type: body.tool_choice } }),
    ...(schema === undefined ? {} : { output_config: { format: { type: 'json_schema', schema } } }),
  };
}

function asMessage({ role, content, tool_call_id, tool_calls = [] }: ChatMessage) {
  if (role === 'tool') {
    return { role: 'user', content: [{ type: 'tool_result', tool_use_id: tool_call_id, content }] };
  }
  if (role === 'user') return { role, content: content ?? '' };
  const text = content === null ? [] : [{ type: 'text', text: content }];
  const uses = tool_calls.map(({ id, function: { name, arguments: json } }) => ({
    type: 'tool_use',
    id,
    name,
    input: JSON.parse(json) as unknown,
  }));
  return { role, content: [...text, ...uses] };
}
