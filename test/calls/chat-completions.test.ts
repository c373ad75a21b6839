import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/calls/clock.js';
import { toolUsesOf } from '../../src/calls/message.js';
import { chatError } from '../../src/calls/openai/chat-error.js';
import { type ChatDialect, chatRequest } from '../../src/calls/openai/chat-request.js';
import { chatTransport } from '../../src/calls/openai/chat-transport.js';
import { isStrict } from '../../src/calls/openai/strict-schema.js';
import { DEFAULT_CALL_LIMITS, sendCall } from '../../src/calls/send-call.js';
import type { CallRequest } from '../../src/calls/transport.js';
import { type MessagesApi, type RawReply, startMessagesApi } from '../support/messages-api.js';

const DIALECT: ChatDialect = { tokenLimit: 'max_completion_tokens', format: 'json_schema' };
const REQUEST: CallRequest = {
  model: 'gpt-5',
  max_tokens: 100,
  system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
  messages: [{ role: 'user', content: 'hello' }],
};
const SCHEMA = {
  type: 'object',
  properties: { answer: { type: 'string' } },
  required: ['answer'],
  additionalProperties: false,
};
const STRUCTURED: CallRequest = {
  ...REQUEST,
  output_config: { format: { type: 'json_schema', schema: SCHEMA } },
};

let api: MessagesApi | undefined;
afterEach(async () => {
  await api?.close();
  api = undefined;
});

async function send(...replies: RawReply[]) {
  api = await startMessagesApi({ reply: replies });
  const transport = chatTransport({ apiKey: 'k', baseURL: api.url });
  return sendCall(REQUEST, transport, DEFAULT_CALL_LIMITS, systemClock);
}

function raw(contentType: string, body: string): RawReply {
  return { kind: 'raw', status: 200, headers: { 'content-type': contentType }, body };
}

function stream(...chunks: object[]): RawReply {
  return raw('text/event-stream', chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(''));
}

const chunk = (delta: object, finish_reason: string | null = null) => ({
  choices: [{ delta, finish_reason }],
});

describe('a request for the Chat Completions API', () => {
  it('has the instructions as the system message, asks for a stream with its counts, and has no cache control', () => {
    expect(chatRequest(REQUEST, DIALECT)).toEqual({
      model: 'gpt-5',
      max_completion_tokens: 100,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'hello' },
      ],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('names the token limit as the server knows it', () => {
    const request = chatRequest(REQUEST, { ...DIALECT, tokenLimit: 'max_tokens' });
    expect(request).toMatchObject({ max_tokens: 100 });
    expect(request).not.toHaveProperty('max_completion_tokens');
  });

  it('has the schema of the answer as a strict format, or as text for a server without schemas', () => {
    expect(chatRequest(STRUCTURED, DIALECT).response_format).toEqual({
      type: 'json_schema',
      json_schema: { name: 'answer', schema: SCHEMA, strict: true },
    });
    const asText = chatRequest(STRUCTURED, { ...DIALECT, format: 'json_object' });
    expect(asText.response_format).toEqual({ type: 'json_object' });
    expect(asText.messages[0]?.content).toMatch(
      /^Be brief\.\n\nAnswer with one JSON document .*"required":\["answer"\]/s,
    );
  });

  it('repeats tool calls and their results, several of one turn, and what the server keeps in them', () => {
    const extra_content = { google: { thought_signature: 'c2ln' } };
    const uses = [
      { type: 'tool_use', id: 'a', name: 'Read', input: { file_path: 'x' }, extra_content },
      { type: 'tool_use', id: 'b', name: 'Read', input: '{"file_pa' },
    ];
    const results = [
      { type: 'tool_result', tool_use_id: 'a', content: 'text' },
      { type: 'tool_result', tool_use_id: 'b', content: 'The input does not fit', is_error: true },
    ];
    const messages = [
      { role: 'assistant', content: [{ type: 'text', text: 'I look.' }, ...uses] },
      { role: 'user', content: results },
    ] as CallRequest['messages'];
    expect(chatRequest({ ...REQUEST, system: [], messages }, DIALECT).messages).toEqual([
      {
        role: 'assistant',
        content: 'I look.',
        tool_calls: [
          {
            id: 'a',
            type: 'function',
            function: { name: 'Read', arguments: '{"file_path":"x"}' },
            extra_content,
          },
          { id: 'b', type: 'function', function: { name: 'Read', arguments: '{"file_pa' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: 'text' },
      { role: 'tool', tool_call_id: 'b', content: 'The input does not fit' },
    ]);
  });
});

it.each([
  ['every property required, none added', SCHEMA, true],
  ['an optional property', { ...SCHEMA, required: [] }, false],
  ['further properties', { ...SCHEMA, additionalProperties: undefined }, false],
  [
    'an optional property deep inside',
    {
      ...SCHEMA,
      properties: { answer: { type: 'array', items: { anyOf: [SCHEMA, { ...SCHEMA, required: [] }] } } },
    },
    false,
  ],
  [
    'an optional property in a definition',
    { ...SCHEMA, $defs: { part: { ...SCHEMA, required: [] } } },
    false,
  ],
  ['parts that all hold', { ...SCHEMA, properties: { answer: { allOf: [SCHEMA, SCHEMA] } } }, false],
  ['a list at its top', { type: 'array', items: SCHEMA }, false],
  [
    'a property that is named like a keyword',
    { ...SCHEMA, properties: { properties: SCHEMA }, required: ['properties'] },
    true,
  ],
])('a schema with %s is strict: %s', (_, schema, strict) => {
  expect(isStrict(schema)).toBe(strict);
});

describe('an answer', () => {
  it('of a server that sends no end event is whole by its finish reason; its cost is not known without counts', async () => {
    const outcome = await send(stream(chunk({ content: 'hi' }), chunk({}, 'stop')));
    expect(outcome).toMatchObject({
      class: 'answered',
      message: { content: [{ type: 'text', text: 'hi' }] },
    });
    expect(outcome.tokens).toMatchObject({ inputTokens: 0, outputTokens: 0 });
  });

  it('counts cached input once', async () => {
    const usage = { prompt_tokens: 100, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 60 } };
    const outcome = await send(stream(chunk({ content: 'hi' }, 'stop'), { choices: [], usage }));
    expect(outcome.tokens).toMatchObject({ inputTokens: 40, cacheReadTokens: 60, outputTokens: 7 });
  });

  it('with whole tool calls without index and id, ended by `stop`, calls tools', async () => {
    const call = (path: string) => ({
      function: { name: 'Read', arguments: JSON.stringify({ file_path: path }) },
    });
    const { message } = await send(
      stream(chunk({ tool_calls: [call('a')] }), chunk({ tool_calls: [call('b')] }, 'stop')),
    );
    expect(message?.stopReason).toBe('tool_use');
    expect(message && toolUsesOf(message)).toMatchObject([
      { id: 'call_0', name: 'Read', input: { file_path: 'a' } },
      { id: 'call_1', name: 'Read', input: { file_path: 'b' } },
    ]);
  });

  const piece = (text: string, fields: object = {}, name?: string) => ({
    ...fields,
    function: { ...(name === undefined ? {} : { name }), arguments: text },
  });
  it.each<[string, object[][]]>([
    [
      'that take turns',
      [
        [piece('{"file', { index: 0, id: 'a' }, 'Read'), piece('{"file', { index: 1, id: 'b' }, 'Read')],
        [piece('_path":"b"}', { index: 1 }), piece('_path":"a"}', { index: 0 })],
      ],
    ],
    [
      'in pieces without an index',
      [
        [piece('', { id: 'a' }, 'Read'), piece('{"file_path":')],
        [piece('"a"}'), piece('{"file_path":"b"}', { id: 'b' }, 'Read')],
      ],
    ],
    [
      'that all have the index 0',
      [
        [piece('{"file_path":"a"}', { index: 0, id: 'a' }, 'Read')],
        [piece('{"file_path":"b"}', { index: 0, id: 'b' }, 'Read')],
      ],
    ],
    [
      'that repeat their name and id, the id empty at first',
      [
        [piece('', { index: 0, id: '' }, 'Read'), piece('{"file_path":"a"}', { index: 0, id: 'a' }, 'Read')],
        [piece('', { index: 0, id: 'a' }, 'Read'), piece('{"file_path":"b"}', { index: 1, id: 'b' }, 'Read')],
      ],
    ],
  ])('with tool calls %s', async (_, deltas) => {
    const { message } = await send(
      stream(...deltas.map((tool_calls) => chunk({ tool_calls })), chunk({}, 'tool_calls')),
    );
    expect(message && toolUsesOf(message)).toMatchObject([
      { id: 'a', name: 'Read', input: { file_path: 'a' } },
      { id: 'b', name: 'Read', input: { file_path: 'b' } },
    ]);
  });

  it('with an empty finish reason in every chunk, no name of its model, and counts without choices', async () => {
    const usage = { prompt_tokens: 5, completion_tokens: 1 };
    const base = { id: '', model: '' };
    const { class: outcomeClass, message } = await send(
      stream({ ...base, ...chunk({ content: 'hi' }, '') }, { ...base, ...chunk({}, 'stop') }, { usage }),
    );
    expect(outcomeClass).toBe('answered');
    expect(message).toMatchObject({ id: undefined, model: undefined, tokens: { inputTokens: 5 } });
    await api?.close();
    expect((await send(stream(chunk({ content: 'hi' }, '')))).class).toBe('incomplete');
  });

  it.each<[string, RawReply, object]>([
    [
      'counted wrongly',
      stream(chunk({ content: 'hi' }, 'stop'), { choices: [], usage: { prompt_tokens: -1 } }),
      {},
    ],
    [
      'counted in every chunk, and not in the last',
      stream(
        { ...chunk({ content: 'h' }), usage: { prompt_tokens: 9, completion_tokens: 1 } },
        { ...chunk({ content: 'i' }, 'stop'), usage: { prompt_tokens: 9, completion_tokens: 2 } },
        { choices: [], usage: { prompt_tokens: 0, completion_tokens: 0 } },
      ),
      { inputTokens: 9, outputTokens: 2 },
    ],
    [
      'with empty events, and without a line after the last one',
      raw('text/event-stream', `data:\n\ndata: ${JSON.stringify(chunk({ content: 'hi' }, 'stop'))}`),
      {},
    ],
    [
      'whose counts are cut',
      raw('text/event-stream', `data: ${JSON.stringify(chunk({ content: 'hi' }, 'stop'))}\n\ndata: {"cho`),
      {},
    ],
    [
      'in parts, with thoughts',
      stream(
        chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }] }),
        chunk({ content: [{ type: 'text', text: 'hi' }] }, 'stop'),
      ),
      {},
    ],
  ])('%s is an answer', async (_, reply, tokens) => {
    const outcome = await send(reply);
    expect(outcome).toMatchObject({ class: 'answered', message: { content: [{ text: 'hi' }] } });
    expect(outcome.tokens).toMatchObject(tokens);
  });

  it('that is whole is not lost if the connection then breaks', async () => {
    const broken = (reply: RawReply): RawReply => ({
      ...reply,
      headers: { ...reply.headers, 'content-length': '9999', connection: 'close' },
    });
    expect(await send(broken(stream(chunk({ content: 'hi' }), chunk({}, 'stop'))))).toMatchObject({
      class: 'answered',
      message: { stopReason: 'end_turn' },
    });
    await api?.close();
    expect((await send(broken(stream(chunk({ content: 'hi' }))))).class).toBe('incomplete');
  });

  it.each([
    ['an error without a field of that name', { object: 'error', message: 'busy', code: 503 }, 'overloaded'],
    ['the filter of the provider', chunk({}, 'content_filter'), 'refused'],
    ['a cut chunk', { choices: 'cut' }, 'incomplete'],
    ['an error with a status as its code', { error: { message: 'slow down', code: 429 } }, 'rate-limited'],
    [
      'an error beside a choice',
      { ...chunk({}, 'error'), error: { message: 'upstream failed', code: 502 } },
      'overloaded',
    ],
  ])('can end with %s', async (_, last, outcomeClass) => {
    expect((await send(stream(chunk({ content: 'hi' }), last))).class).toBe(outcomeClass);
  });

  it('that is no chat completion, or an error under 200, is told apart', async () => {
    expect((await send(raw('application/json', '{"ok":true}'))).class).toBe('incomplete');
    await api?.close();
    const error = JSON.stringify({ error: { message: 'model is loading', type: 'server_error' } });
    expect((await send(raw('application/json', error))).class).toBe('overloaded');
  });
});

describe('errors, as servers word them', () => {
  it.each([
    [
      429,
      { message: 'You exceeded your current quota', type: 'insufficient_quota', code: 'insufficient_quota' },
      'no-credit',
    ],
    [429, { message: 'Rate limit reached', type: 'tokens', code: 'rate_limit_exceeded' }, 'rate-limited'],
    [
      429,
      [{ error: { code: 429, message: 'Resource exhausted', status: 'RESOURCE_EXHAUSTED' } }],
      'rate-limited',
    ],
    [
      402,
      { message: 'Insufficient Balance', type: 'unknown_error', code: 'invalid_request_error' },
      'no-credit',
    ],
    [
      400,
      { message: "This model's maximum context length is 8192 tokens.", code: 'context_length_exceeded' },
      'context-exceeded',
    ],
    [
      400,
      {
        object: 'error',
        message: 'This model’s maximum context length is 4096 tokens. However, you requested 5000',
        type: 'BadRequestError',
        code: 400,
      },
      'context-exceeded',
    ],
    [
      400,
      {
        message: "Unsupported parameter: 'max_tokens'",
        type: 'invalid_request_error',
        code: 'unsupported_parameter',
      },
      'bad-request',
    ],
    [400, { message: 'The response was filtered', code: 'content_filter' }, 'refused'],
    [
      401,
      { message: 'Incorrect API key provided', type: 'invalid_request_error', code: 'invalid_api_key' },
      'unauthorized',
    ],
    [403, { message: 'Country not supported' }, 'unauthorized'],
    [
      404,
      { message: 'The model `nope` does not exist', type: 'invalid_request_error', code: 'model_not_found' },
      'unknown-model',
    ],
    [
      404,
      { message: 'model "nope" not found, try pulling it first', type: 'api_error', param: null, code: null },
      'unknown-model',
    ],
    [404, '404 page not found', 'bad-request'],
    [500, { message: 'The server had an error', type: 'server_error' }, 'overloaded'],
    [503, 'upstream connect error', 'overloaded'],
    [404, { error: 'model "nope" not found, try pulling it first' }, 'unknown-model'],
    [404, [{ error: { code: 404, message: 'models/nope is not found' } }], 'unknown-model'],
    [404, { detail: 'Not Found' }, 'bad-request'],
    [
      429,
      {
        message: 'Request too large for gpt-5 on tokens per min (TPM): Limit 30000, Requested 33834.',
        type: 'tokens',
        code: 'rate_limit_exceeded',
      },
      'context-exceeded',
    ],
  ])('%i %j is %s', (status, body, outcomeClass) => {
    const outcome = chatError(body, status, {});
    expect(outcome.class).toBe(outcomeClass);
    expect(outcome.detail).toContain(`HTTP ${status}: `);
  });

  it.each([
    ['in a list', [{ error: { code: 404, message: 'models/nope is not found' } }], 'unknown-model'],
    [
      'at the top',
      { object: 'error', message: 'maximum context length is 4096', code: 400 },
      'context-exceeded',
    ],
    ['as a text', { error: 'model "nope" not found' }, 'bad-request'],
    ['in a field of another name', { detail: 'no such route' }, 'bad-request'],
  ])('and place them: %s', async (_, body, outcomeClass) => {
    const status = outcomeClass === 'unknown-model' ? 404 : 400;
    const outcome = await send({ ...raw('application/json', JSON.stringify(body)), status });
    expect(outcome.class).toBe(outcomeClass);
    expect(outcome.detail).toMatch(/not found|context length|no such route/);
  });

  it('are told apart by their status if their body breaks off', async () => {
    const headers = { 'content-type': 'application/json', 'content-length': '9999', connection: 'close' };
    expect(await send({ kind: 'raw', status: 503, headers, body: '{"err' })).toMatchObject({
      class: 'overloaded',
      status: 503,
    });
  });
});
