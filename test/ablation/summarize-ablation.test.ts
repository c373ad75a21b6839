import { readdir, readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evaluateOutputs } from '../../scripts/evaluation/ablation-outputs.js';
import { findUnsupportedNumbers, readAblation, summarizeAblation } from '../../src/ablation/index.js';

const outputs = new URL('outputs/', import.meta.url);
const summarize = (rawOutput: string, ablationCode = 'run()') =>
  summarizeAblation({ ablationCode, rawOutput });
const lineWith = (summary: string, words: string) =>
  summary.split('\n').find((line) => line.includes(words)) ?? '';

/** `first-1 2 last-3` as first-1, first-2, last-3. */
function idsOf(short: string): string[] {
  let file = '';
  return short.split(' ').map((id) => {
    if (id.includes('-')) [file = ''] = id.split('-');
    return `${file}-${id.split('-').at(-1)}`;
  });
}

describe('the offline summary', () => {
  it('REQ-P2O-011: names OneHotEncoder as the most impactful component of the acceptance example', async () => {
    const summary = await summarize(
      'Baseline: 0.8196, No StandardScaler: 0.8102, No OneHotEncoder: 0.7886, No Imputation: 0.8196',
    );
    const most = lineWith(summary, 'most impactful component is');
    const least = lineWith(summary, 'least impactful component is');
    expect(most).toMatch(/^The most impactful component is OneHotEncoder: .*0\.8196.*0\.7886.*-0\.0310/);
    expect(least).toMatch(/^The least impactful component is Imputation: /);
    expect(most).not.toContain('Imputation');
  });

  it('REQ-P2O-011: names a component as harmful whose removal improves the score', async () => {
    const summary = await summarize(
      'Baseline accuracy: 0.80\nNo stop words accuracy: 0.85\nNo bigrams accuracy: 0.79\n',
    );
    expect(lineWith(summary, 'most impactful component is')).toMatch(/stop words.*harmful/);
    expect(lineWith(summary, 'Harmful:')).toBe('Harmful: stop words.');
  });

  it('REQ-P2O-010: says of an empty output that there is no result', async () => {
    const summary = await summarize('');
    expect(summary).toContain('printed nothing');
    expect(summary).not.toMatch(/impactful component is/);
  });

  it('mentions a failed variant and a run that was cut short', async () => {
    const summary = await summarize('Baseline: 0.9\nNo cabin: nan\nNo fare: 0.8\nNo age: 0.89\nKilled\n');
    expect(summary).toMatch(/Not ranked.*cabin \(nan\)/);
    expect(summary).toMatch(/cut short.*Killed/);
  });

  it('says where the middle of a very long output was not read', async () => {
    const long = `${'some words about nothing\n'.repeat(50_000)}Baseline: 0.9\nNo cabin: 0.8\n`;
    expect(await summarize(long)).toMatch(/cabin[\s\S]*its middle was not read/);
    expect(await summarize('Baseline: 0.9\nNo cabin: 0.8\n')).not.toMatch(/not read/);
  });

  it('prints no number that neither occurs in the output nor follows from two of its numbers', async () => {
    const withoutScores: string[] = [];
    for (const file of await readdir(outputs)) {
      for (const line of (await readFile(new URL(file, outputs), 'utf8')).trim().split('\n')) {
        const row: { id: string; raw_output: string; ablation_code?: string } = JSON.parse(line);
        const input = { ablationCode: row.ablation_code ?? '', rawOutput: row.raw_output };
        const summary = await summarizeAblation(input);
        const { hasScores, ...numbers } = findUnsupportedNumbers({ ...input, summary });
        expect({ id: row.id, ...numbers }).toEqual({
          id: row.id,
          unsupported: [],
          rankingWithoutScores: false,
        });
        if (!hasScores) withoutScores.push(row.id);
      }
    }
    // These outputs are tracebacks, lines of other programs, and scores that are no numbers.
    const expected = 'first-23 24 25 second-20 third-20 21 fourth-21 22 24 fresh-15 last-13 14 unseen-19 20';
    expect(withoutScores.sort()).toEqual(idsOf(expected).sort());
  });

  it('REQ-P2O-011: ranks the recorded layouts that it was made with rightly', async () => {
    for (const file of [
      'first.jsonl',
      'second.jsonl',
      'third.jsonl',
      'fourth.jsonl',
      'unseen.jsonl',
      'last.jsonl',
      'fresh.jsonl',
    ]) {
      const evaluated = await evaluateOutputs(await readFile(new URL(file, outputs), 'utf8'));
      const wrong = evaluated.filter((one) => !(one.mostRight && one.leastRight && one.usableRight));
      // Of a study that prints nothing but differences below its baseline, nothing is ranked.
      const unranked = wrong.filter(
        ({ id, summary }) => id === 'fresh-16' && /nothing to rank/.test(summary),
      );
      expect(
        wrong.filter((one) => !unranked.includes(one)).map(({ id, summary }) => ({ id, summary })),
      ).toEqual([]);
    }
  });

  it('REQ-P2O-011: ranks generated studies rightly, whatever the scores', async () => {
    const names = [
      'scaler',
      'encoder',
      'imputer',
      'lag features',
      'target encoding',
      'class weights',
      'text length',
    ];
    const study = fc.record({
      baseline: fc.integer({ min: 5000, max: 9000 }),
      changes: fc.uniqueArray(
        fc.integer({ min: -3000, max: 900 }).filter((change) => change !== 0),
        {
          minLength: 2,
          maxLength: names.length,
          selector: (change) => Math.abs(change),
        },
      ),
      layout: fc.constantFrom('lines', 'table', 'json', 'csv', 'numbered'),
    });
    await fc.assert(
      fc.asyncProperty(study, async ({ baseline, changes, layout }) => {
        const number = (value: number): string => (value / 10_000).toFixed(4);
        const rows = changes.map((change, at) => ({
          name: names[at] ?? '',
          score: number(baseline + change),
          change,
        }));
        const print = {
          lines: () => [
            `Baseline: ${number(baseline)}`,
            ...rows.map((row) => `Without ${row.name}: ${row.score}`),
          ],
          table: () => [
            '| name | auc |',
            '|---|---|',
            `| full | ${number(baseline)} |`,
            ...rows.map((row) => `| no ${row.name} | ${row.score} |`),
          ],
          json: () => [
            `{"baseline": ${number(baseline)}, ${rows.map((row) => `"no ${row.name}": ${row.score}`).join(', ')}}`,
          ],
          csv: () => [
            'variant,auc',
            `baseline,${number(baseline)}`,
            ...rows.map((row) => `no ${row.name},${row.score}`),
          ],
          numbered: () => [
            `Baseline AUC: ${number(baseline)}`,
            ...rows.map((row, at) => `Ablation ${at + 1} (no ${row.name}) AUC: ${row.score}`),
          ],
        }[layout]();
        const reading = await readAblation({ ablationCode: '', rawOutput: print.join('\n') });
        const expected = rows
          .toSorted((a, b) => Math.abs(b.change) - Math.abs(a.change))
          .map((row) => row.name);
        expect(reading.variants.map((variant) => variant.component)).toEqual(expected);
      }),
      { numRuns: 25 },
    );
  });
});
