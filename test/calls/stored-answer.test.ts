import { inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { packAnswer, unpackAnswer } from '../../src/calls/ledger/stored-answer.js';
import type { ReceivedMessage } from '../../src/calls/message.js';

function answer(text: string): ReceivedMessage {
  return {
    id: 'msg_1',
    model: 'claude-sonnet-5-5',
    content: [{ type: 'text', text }],
    stopReason: 'end_turn',
    refusal: undefined,
    tokens: {
      inputTokens: 1,
      outputTokens: 1,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      cacheWrite1hTokens: 0,
    },
  };
}

describe('a kept answer', () => {
  it('comes back as it was, whatever its text and however it is stored', () => {
    const texts = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 2_000 }),
      fc.string({ maxLength: 400 }),
      // Close to the size from which answers are compressed.
      fc.integer({ min: 150, max: 450 }).map((length) => 'é'.repeat(length)),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const packed = packAnswer(answer(text));
        expect(unpackAnswer(packed)).toEqual({ value: answer(text) });
        expect(unpackAnswer(packed.subarray(0, -1)).broken).toBeDefined();
      }),
    );
  });

  it('is a deflate stream whatever its size, so that every version can expand it', () => {
    for (const text of ['', 'short', 'long '.repeat(1_000)]) {
      const expanded = inflateRawSync(packAnswer(answer(text))).toString('utf8');
      expect(JSON.parse(expanded)).toMatchObject({ content: [{ text }] });
    }
  });

  it('is compressed where it is long', () => {
    expect(packAnswer(answer('x = model.fit(train, labels)\n'.repeat(300))).length).toBeLessThan(1_000);
  });
});
