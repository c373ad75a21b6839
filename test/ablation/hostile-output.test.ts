import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  findUnsupportedNumbers,
  planRefinement,
  readAblation,
  summarizeAblation,
} from '../../src/ablation/index.js';

const pieces = fc.constantFrom(
  'Baseline',
  'No ',
  'without ',
  ': ',
  '=',
  '|',
  '{',
  '}',
  '[',
  ']',
  '(',
  ')',
  '"',
  "'",
  ',',
  '\n',
  '\r',
  '\r\n',
  '\t',
  '0.81',
  '1e-3',
  '-',
  '%',
  '±',
  'nan',
  'only',
  '->',
  'Ablation 1',
  'Traceback (most recent call last):',
  'fold 1',
  '😀',
  '\ud800',
  '\u0000',
  '\u001b[31m',
  'é',
  '归一化',
  'accuracy',
  'RMSE',
  '  ',
  '+---+',
  '---',
  'True',
  'None',
  '1,234.5',
  '0,81',
);
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 400, size: 'max' }),
  fc.array(pieces, { maxLength: 80, size: 'max' }).map((parts) => parts.join('')),
);

describe('outputs and summaries that nobody meant to be read', () => {
  it('reads any text without an error and ranks only what has a score', async () => {
    await fc.assert(
      fc.asyncProperty(text, async (rawOutput) => {
        const reading = await readAblation({ ablationCode: rawOutput, rawOutput });
        for (const variant of reading.variants) {
          expect(Number.isFinite(variant.impact)).toBe(true);
          expect(variant.component).not.toBe('');
        }
        expect(reading.unusable === undefined).toBe(reading.variants.length > 0);
      }),
      { numRuns: 30 },
    );
  });

  it('writes for any text a summary whose numbers the output supports', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(pieces, { maxLength: 60, size: 'max' }), async (parts) => {
        const rawOutput = parts.join('');
        const summary = await summarizeAblation({ ablationCode: '', rawOutput });
        expect(findUnsupportedNumbers({ summary, rawOutput, ablationCode: '' }).unsupported).toEqual([]);
      }),
      { numRuns: 30 },
    );
  });

  it('REQ-P2O-017: plans for any text only exact substrings of it', async () => {
    await fc.assert(
      fc.asyncProperty(text, text, async (solution, summary) => {
        for (const { code_block } of await planRefinement({ solution, summary, previousBlocks: [] })) {
          expect(code_block).not.toBe('');
          expect(solution.includes(code_block)).toBe(true);
        }
      }),
      { numRuns: 50 },
    );
  });

  /** Linear work grows by 10 and a little, quadratic work by 100. */
  const MAX_GROWTH = 20;

  /** Texts that take so little that only long ones can be measured. */
  const QUICK = /noise|words|lines|progress/;

  /** Processor time of a run, in microseconds; growth is asserted, not time. */
  async function timeOf(run: () => Promise<unknown>): Promise<number> {
    const start = process.cpuUsage();
    await run();
    const used = process.cpuUsage(start);
    return used.user + used.system;
  }

  it.each([
    ['library noise', '[LightGBM] [Warning] No further splits with positive gain, best gain: -inf\n'],
    ['names and scores', 'No part: 0.5123\n'],
    ['table rows', '| a part | 0.5 | 3 |\n'],
    ['open brackets', '{"a": [1, \n'],
    ['one long line of words', 'the drop of accuracy to 0.5, '],
    ['blank lines', '\n'],
    ['progress of one line', '10%|#  | 1/9 [00:01<00:08, 1.1it/s]\r'],
    ['statements on one line of a script', 'x = 1; '],
    ['names of one assignment', 'x = '],
  ])('needs for ten times as much of %s less than twenty times the work', async (what, unit) => {
    const ofSize = (size: number): string => unit.repeat(Math.ceil(size / unit.length));
    const base = QUICK.test(what) ? 6_000 : 2_000;
    const [small, large] = [ofSize(base), ofSize(10 * base)];
    const run = (text: string) => () =>
      /statement|assignment/.test(what)
        ? planRefinement({ solution: text, summary: '', previousBlocks: [] })
        : summarizeAblation({ ablationCode: '', rawOutput: text });
    await run(small)();
    let growth = Number.POSITIVE_INFINITY;
    // A collection of garbage can make a growth of its own: then a second measurement has to agree.
    for (let attempt = 0; attempt < 2 && growth >= MAX_GROWTH; attempt += 1) {
      const before = await timeOf(run(small));
      const grown = await timeOf(run(large));
      // A floor of 20 ms keeps the noise of a very short run out of the quotient.
      growth = grown / Math.max(before, 20_000);
    }
    expect(growth).toBeLessThan(MAX_GROWTH);
  });

  it('reads the scores at the end of an output of 16 MiB', async () => {
    const noise = 'Epoch 1/3 - loss: 0.61 - val_accuracy: 0.7551\n'.repeat(350_000);
    const reading = await readAblation({
      ablationCode: '',
      rawOutput: `${noise}Baseline: 0.9\nNo scaler: 0.8\nNo encoder: 0.85\n`,
    });
    expect(reading.variants.map((variant) => variant.component)).toEqual(['scaler', 'encoder']);
  });
});
