import { describe, expect, it } from 'vitest';
import { PayloadError } from '../../src/errors.js';
import { CONTRACT_VERSION } from '../../src/queues/common.js';
import { KIND_NAMES, KINDS, type KindName } from '../../src/queues/registry.js';
import { checkTextSizes, completePayload, parsePayload } from '../../src/queues/validate.js';

const testCase = { id: 't1', name: 'Add', difficulty: 'easy' };
const COMPLETE: Record<KindName, Record<string, unknown>> = {
  'solution-check': { solution: { content: 'x = 1\n' } },
  summarize: { ablationCode: 'print(1)', rawOutput: '' },
  extract: { solution: { content: 'x = 1\n' }, summary: 'x matters', previousBlocks: [] },
  contamination: { output: 'x = 1', testCase },
  'refinement-loop': {
    solution: { content: 'x = 1\n' },
    score: 0.5,
    direction: 'higher',
    ablationCode: 'print(1)',
    rawOutput: '',
    previousBlocks: [],
    rounds: 4,
    newBlock: { queue: 'coder', data: { task: 'digits' } },
    evaluation: { queue: 'evaluate', attempts: 2 },
  },
};

/** The PayloadError that `action` throws. */
function rejection(action: () => unknown): PayloadError {
  try {
    action();
  } catch (thrown) {
    if (thrown instanceof PayloadError) return thrown;
    throw thrown;
  }
  throw new Error('nothing was rejected');
}

describe('payload contracts', () => {
  it.each(KIND_NAMES)('%s: a complete payload passes unchanged', (kind) => {
    expect(parsePayload(kind, COMPLETE[kind])).toEqual(COMPLETE[kind]);
  });

  it.each(KIND_NAMES)('%s: an unknown field is rejected with its path', (kind) => {
    const error = rejection(() => parsePayload(kind, { ...COMPLETE[kind], color: 'red' }));
    expect(error.code).toBe('invalid-payload');
    expect(error.field).toBe('color');
    expect(error.message).toBe(`${kind}: color: unknown field`);
  });

  it.each([
    ['at the top', { solutoin: { content: 'x' } }, 'solutoin', 'solution'],
    ['deep inside', { solution: { contnet: 'x' } }, 'solution.contnet', 'content'],
  ])(
    'a missing field and its misspelled name, %s: the error names the misspelled one',
    (_where, payload, field, meant) => {
      const error = rejection(() => parsePayload('solution-check', payload));
      expect(error.field).toBe(field);
      expect(error.message).toBe(`solution-check: ${field}: unknown field; did you mean "${meant}"?`);
    },
  );

  it('names an unknown field deep inside', () => {
    const payload = { solution: { content: 'x', path: '/etc' } };
    expect(rejection(() => parsePayload('solution-check', payload)).field).toBe('solution.path');
  });

  it.each([null, undefined, 7, 'text', [], true])('rejects %j, which is not an object', (data) => {
    expect(rejection(() => parsePayload('solution-check', data)).code).toBe('invalid-payload');
  });

  it('REQ-SF-013: rejects an empty script', () => {
    const error = rejection(() => parsePayload('solution-check', { solution: { content: '' } }));
    expect(error.field).toBe('solution.content');
    expect(error.message).toContain('the script is empty');
  });

  it('REQ-P2O-010: rejects empty ablation code, accepts empty output', () => {
    expect(rejection(() => parsePayload('summarize', { ablationCode: '', rawOutput: '' })).field).toBe(
      'ablationCode',
    );
    expect(parsePayload('summarize', { ablationCode: 'x', rawOutput: '' }).rawOutput).toBe('');
  });

  it('REQ-P2O-016: rejects an empty summary, accepts an empty list of previous blocks', () => {
    const payload = COMPLETE.extract;
    expect(rejection(() => parsePayload('extract', { ...payload, summary: '' })).field).toBe('summary');
    expect(parsePayload('extract', payload).previousBlocks).toEqual([]);
  });

  it('names an item of a list by its index', () => {
    const payload = { ...COMPLETE.extract, previousBlocks: ['a', 2] };
    expect(rejection(() => parsePayload('extract', payload)).field).toBe('previousBlocks[1]');
  });

  it('SPEC-SIL-009: rejects an unknown difficulty', () => {
    const payload = { output: 'x', testCase: { ...testCase, difficulty: 'brutal' } };
    expect(rejection(() => parsePayload('contamination', payload)).field).toBe('testCase.difficulty');
  });

  it('rejects tags that are not flat text', () => {
    const payload = { ...COMPLETE['solution-check'], tags: { run: { id: 1 } } };
    expect(rejection(() => parsePayload('solution-check', payload)).field).toBe('tags.run');
  });

  it('a key named __proto__ changes no prototype', () => {
    const payload = JSON.parse('{"solution":{"content":"x"},"tags":{"__proto__":"y"}}');
    const parsed = parsePayload('solution-check', payload);
    expect(Object.getPrototypeOf(parsed.tags)).toBe(Object.prototype);
    expect(({} as { y?: unknown }).y).toBeUndefined();
  });

  it('a newer contract version is distinguished from an invalid payload', () => {
    const newer = { v: CONTRACT_VERSION + 1, somethingNew: true };
    expect(rejection(() => parsePayload('solution-check', newer)).code).toBe('newer-contract');
    expect(rejection(() => parsePayload('solution-check', { v: 0 })).code).toBe('invalid-payload');
  });
});

describe('fields that a child supplies', () => {
  const usage = {
    calls: 1,
    reusedCalls: 0,
    inputTokens: 1,
    outputTokens: 1,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    costUsd: null,
  };
  const summarized = { summary: 'the scaler matters', usage, agent: { runner: 'offline' } };
  const withoutSummary = { solution: { content: 'x = 1\n' }, previousBlocks: [] };

  it('extract takes its summary from a summarize child', () => {
    const payload = parsePayload('extract', withoutSummary);
    const complete = completePayload('extract', payload, [{ kind: 'summarize', result: summarized }]);
    expect(complete.summary).toBe('the scaler matters');
    expect(complete).not.toHaveProperty('withoutScores');
  });

  it('extract takes from it too that the ablation printed no score', () => {
    const payload = parsePayload('extract', withoutSummary);
    const result = { ...summarized, withoutScores: true };
    expect(completePayload('extract', payload, [{ kind: 'summarize', result }]).withoutScores).toBe(true);
  });

  it('a field of the payload is not replaced', () => {
    const payload = parsePayload('extract', { ...withoutSummary, summary: 'mine' });
    const complete = completePayload('extract', payload, [{ kind: 'summarize', result: summarized }]);
    expect(complete.summary).toBe('mine');
  });

  it('a child of another kind supplies nothing, and the missing field is named', () => {
    const payload = parsePayload('extract', withoutSummary);
    const children = [{ kind: 'solution-check', result: summarized }];
    expect(rejection(() => completePayload('extract', payload, children)).field).toBe('summary');
  });

  it('contamination takes its output from any child that returns text', () => {
    const payload = parsePayload('contamination', { testCase });
    const complete = completePayload('contamination', payload, [{ kind: 'generate', result: 'the answer' }]);
    expect(complete.output).toBe('the answer');
  });
});

describe('size limits', () => {
  const limits = { textBytes: 100, largeTextBytes: 1_000 };

  it('counts bytes of UTF-8, not characters', () => {
    const content = 'é'.repeat(51);
    const error = rejection(() => checkTextSizes('solution-check', { solution: { content } }, limits));
    expect(error.code).toBe('payload-too-large');
    expect(error.field).toBe('solution.content');
    expect(error.message).toContain('102 bytes');
    expect(error.message).toContain('100 bytes');
  });

  it('accepts a text of exactly the limit and rejects one byte more', () => {
    checkTextSizes('solution-check', { solution: { content: 'x'.repeat(100) } }, limits);
    rejection(() => checkTextSizes('solution-check', { solution: { content: 'x'.repeat(101) } }, limits));
  });

  it('allows more for the fields with long texts, and for no others', () => {
    const rawOutput = 'x'.repeat(1_000);
    checkTextSizes('summarize', { ablationCode: 'x', rawOutput }, limits);
    const error = rejection(() =>
      checkTextSizes('summarize', { ablationCode: rawOutput, rawOutput }, limits),
    );
    expect(error.field).toBe('ablationCode');
  });

  it('finds a text deep in a list', () => {
    const payload = { previousBlocks: ['a', 'x'.repeat(101)] };
    expect(rejection(() => checkTextSizes('extract', payload, limits)).field).toBe('previousBlocks[1]');
  });
});

describe('the registry', () => {
  it('names every kind by its queue', () => {
    for (const name of KIND_NAMES) expect(KINDS[name].name).toBe(name);
  });
});
