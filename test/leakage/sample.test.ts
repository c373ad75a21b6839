import { describe, expect, it } from 'vitest';
import { evaluateLeakage, isRightBlock } from '../../src/leakage/evaluate.js';
import { analyzeLeakage } from '../../src/leakage/index.js';
import { labelledScripts } from './labelled-scripts.js';

const scripts = labelledScripts('sample.jsonl');

describe('the sample of labelled scripts', () => {
  it.each(scripts.filter(({ leaky }) => leaky))(
    'REQ-SF-014: $id ($kind) is found, at the right block',
    async (script) => {
      const { findings } = await analyzeLeakage(script.script);
      expect(findings.some((finding) => isRightBlock(finding, script))).toBe(true);
      for (const { codeBlock, start, end } of findings)
        expect(script.script.slice(start, end)).toBe(codeBlock);
    },
  );

  it.each(scripts.filter(({ leaky }) => !leaky))('$id ($kind) is clean', async ({ script }) => {
    expect((await analyzeLeakage(script)).findings).toEqual([]);
  });

  it.each(scripts.filter(({ fixed }) => typeof fixed === 'string'))(
    '$id ($kind), fixed, is clean',
    async ({ fixed }) => {
      expect((await analyzeLeakage(fixed ?? '')).findings).toEqual([]);
    },
  );

  it('REQ-SF-019: what is rewritten is not leaky any more', async () => {
    const { corrected, stillLeaky } = await evaluateLeakage(scripts);
    expect(stillLeaky.count).toBe(0);
    expect(corrected.value).toBeGreaterThanOrEqual(0.4);
  });
});
