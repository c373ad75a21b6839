import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shortenOutput } from '../../src/ablation/index.js';

const halves = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

describe('shortening an output in its middle', () => {
  it('leaves an output that fits as it is', () => {
    expect(shortenOutput('Baseline: 0.9\n', 14)).toEqual({ text: 'Baseline: 0.9\n', removed: 0 });
  });

  it('REQ-P2O-010: keeps start and end, and says in between how much is missing', () => {
    const output = `start\n${'noise\n'.repeat(10_000)}Baseline: 0.9\nNo scaler: 0.8\n`;
    const { text, removed } = shortenOutput(output, 1000);
    expect(text.length).toBeLessThanOrEqual(1000);
    expect(text.startsWith('start\n')).toBe(true);
    expect(text.endsWith('Baseline: 0.9\nNo scaler: 0.8\n')).toBe(true);
    expect(text).toContain(`[... ${removed} characters in the middle of the output were left out here ...]`);
  });

  it('cuts between lines where one ends nearby', () => {
    const { text } = shortenOutput('a line of words\n'.repeat(1000), 2000);
    const [start, end] = text.split(/\n\n\[\.\.\. .* \.\.\.\]\n\n/);
    expect(start?.endsWith('a line of words\n')).toBe(true);
    expect(end?.startsWith('a line of words\n')).toBe(true);
  });

  it('never cuts a character in two, and keeps to the limit', () => {
    const signs = fc.constantFrom(['😀', 'a', '\n', '𝒳'], ['😀', '𝒳', 'a']);
    const text = signs.chain((some) =>
      fc.array(fc.constantFrom(...some), { minLength: 1, maxLength: 600, size: 'max' }),
    );
    fc.assert(
      fc.property(text, fc.nat({ max: 700 }), (parts, most) => {
        const output = parts.join('');
        const shortened = shortenOutput(output, most);
        expect(shortened.text.length).toBeLessThanOrEqual(Math.max(most, 0));
        expect(shortened.text).not.toMatch(halves);
        const kept = shortened.text.replace(/\n\n\[\.\.\. \d+ characters .* \.\.\.\]\n\n|^…/, '');
        expect(shortened.removed).toBe(output.length - kept.length);
      }),
      { numRuns: 60 },
    );
  });

  it('refuses a limit that is not a length', () => {
    expect(() => shortenOutput('abc', -1)).toThrow(
      /maxCharacters must be a whole number of at least 0, got -1/,
    );
    expect(() => shortenOutput('abc', 1.5)).toThrow(RangeError);
  });
});
