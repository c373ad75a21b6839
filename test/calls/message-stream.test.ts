import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { textOf, toolUsesOf } from '../../src/calls/message.js';
import { MessageStream } from '../../src/calls/message-stream.js';
import { CallFault } from '../../src/calls/outcome.js';
import { messageReply, textReply } from '../support/messages-api.js';
import { type StreamEvent, streamEvents } from '../support/messages-api-stream.js';

function read(events: readonly StreamEvent[]) {
  const stream = new MessageStream();
  for (const { event, data } of events) stream.accept(event, data);
  return stream.finish();
}

function faultOf(action: () => unknown) {
  try {
    action();
  } catch (error) {
    expect(error).toBeInstanceOf(CallFault);
    return (error as CallFault).outcome;
  }
  throw new Error('nothing was thrown');
}

const BLOCKS = [
  { type: 'thinking', thinking: 'let me see', signature: 'c2ln' },
  { type: 'text', text: 'The 😀 answer' },
  { type: 'tool_use', id: 'toolu_1', name: 'Read', input: { file_path: 'ä "b".py', offset: 2 } },
  { type: 'tool_use', id: 'toolu_2', name: 'Read', input: {} },
  { type: 'a_block_of_tomorrow', payload: { x: [1] } },
];

it('puts blocks of every type together as they were', () => {
  const message = read(streamEvents(messageReply(BLOCKS, { stopReason: 'tool_use', deltaSize: 3 }), 'm'));
  expect(message.content).toEqual(BLOCKS);
  expect(toolUsesOf(message).map((use) => use.input)).toEqual([{ file_path: 'ä "b".py', offset: 2 }, {}]);
});

it('text arrives whole, however it is cut into deltas', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 9 }), (text, deltaSize) => {
      expect(textOf(read(streamEvents(textReply(text, { deltaSize }), 'm')))).toBe(text);
    }),
  );
});

it('counts of the last delta are cumulative and leave the others as they were', () => {
  const usage = {
    input_tokens: 7,
    output_tokens: 90,
    cache_read_input_tokens: 5,
    cache_creation_input_tokens: 3,
  };
  expect(read(streamEvents(textReply('x', { usage }), 'm')).tokens).toEqual({
    inputTokens: 7,
    outputTokens: 90,
    cacheReadTokens: 5,
    cacheWriteTokens: 3,
    cacheWrite1hTokens: 0,
  });
});

it('passes over events and deltas that it does not know', () => {
  const events = streamEvents(textReply('x'), 'm');
  const strange = [
    { event: 'ping', data: '' },
    { event: 'of_tomorrow', data: 'not even JSON' },
    {
      event: 'content_block_delta',
      data: '{"type":"content_block_delta","index":0,"delta":{"type":"of_tomorrow"}}',
    },
  ];
  expect(textOf(read([...events.slice(0, 3), ...strange, ...events.slice(3)]))).toBe('x');
});

describe('a stream that is not whole is incomplete', () => {
  const events = streamEvents(textReply('some text'), 'm');

  it('wherever it is cut', () => {
    for (let cut = 0; cut < events.length; cut += 1) {
      expect(faultOf(() => read(events.slice(0, cut))).class).toBe('incomplete');
    }
    expect(read(events).stopReason).toBe('end_turn');
  });

  it('and what it had used by then is known', () => {
    expect(faultOf(() => read(events.slice(0, 3))).tokens).toMatchObject({
      inputTokens: 100,
      outputTokens: 1,
    });
  });

  it.each([
    ['an event that is cut', [{ event: 'message_start', data: events[0]?.data.slice(0, -2) ?? '' }]],
    ['an event of another shape', [{ event: 'message_start', data: '{"type":"message_start"}' }]],
    ['deltas without a start', events.slice(1)],
    ['a lost block start', [...events.slice(0, 1), ...events.slice(2)]],
    ['a second message', [...events.slice(0, 1), ...events]],
    ['no stop reason', streamEvents(textReply('x', { stopReason: null }), 'm')],
  ])('as with %s', (_, broken) => {
    expect(faultOf(() => read(broken)).class).toBe('incomplete');
  });
});

it('input of a tool that is cut off stays a text, and __proto__ stays a plain field', () => {
  const cut = streamEvents(
    messageReply([{ type: 'tool_use', id: 't', name: 'Read', input: { file_path: 'abc' } }], {
      deltaSize: 8,
    }),
    'm',
  );
  const shorter = cut.filter((_, index) => index !== 3);
  expect(toolUsesOf(read(shorter))[0]?.input).toBeTypeOf('string');

  const hostile = JSON.parse('{"type":"text","text":"x","__proto__":{"polluted":true}}');
  const message = read(streamEvents(messageReply([hostile]), 'm'));
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  expect(Object.getPrototypeOf(message.content[0])).toBe(Object.prototype);
});

it('takes no count back', () => {
  const delta = (usage: Record<string, number>) => ({
    event: 'message_delta',
    data: JSON.stringify({ type: 'message_delta', delta: {}, usage }),
  });
  const usage = { input_tokens: 100_000, output_tokens: 50_000, cache_read_input_tokens: 7 };
  const [start, ...rest] = streamEvents(textReply('x', { usage }), 'm');
  if (start === undefined) throw new Error('the stream has no start');
  const smaller = delta({ input_tokens: 0, output_tokens: 1, cache_read_input_tokens: 0 });
  const end = rest.pop();
  const { tokens } = read([start, ...rest, smaller, ...(end ? [end] : [])]);
  expect(tokens).toMatchObject({ inputTokens: 100_000, outputTokens: 50_000, cacheReadTokens: 7 });
});
