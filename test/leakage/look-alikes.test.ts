import { describe, expect, it } from 'vitest';
import { isRightBlock } from '../../scripts/evaluation/labeled-scripts.js';
import { analyzeLeakage } from '../../src/leakage/index.js';
import { labeledScripts } from './labeled-scripts.js';

describe.each(['look-alikes.txt', 'divided-rows.txt'])('clean scripts of %s', (file) => {
  it.each(labeledScripts(file))('$id ($kind) is clean', async ({ script }) => {
    const { findings, parsed } = await analyzeLeakage(script);
    expect(parsed).toBe(true);
    expect(findings.map(({ explanation }) => explanation)).toEqual([]);
  });
});

describe('leaks in other words', () => {
  it.each(labeledScripts('disguises.txt'))(
    'REQ-SF-014: $id ($kind) is found, at the right block',
    async (script) => {
      const { findings } = await analyzeLeakage(script.script);
      expect(findings.some((finding) => isRightBlock(finding, script))).toBe(true);
    },
  );
});
