import { describe, expect, it } from 'vitest';
import { readAblation } from '../../src/ablation/index.js';
import { colorsFor } from '../../src/cli/terminal/colors.js';
import { renderCheck } from '../../src/cli/terminal/render-check.js';
import { renderRefinement } from '../../src/cli/terminal/render-refinement.js';
import { ContaminationDetector } from '../../src/contamination/index.js';
import { readWords } from '../../src/contamination/prose/words.js';
import { isProseLine } from '../../src/contamination/text/language.js';
import type { ExtractResult } from '../../src/queues/extract.js';
import type { SolutionCheckResult } from '../../src/queues/solution-check.js';
import { NO_USAGE } from '../../src/queues/usage.js';

/** More than a call can have arguments. */
const MANY = 140_000;
const colors = colorsFor({}, {});

describe('more items than a call can have arguments', () => {
  it.each([
    ['names that a statement binds', `${'a,'.repeat(MANY)}b = 1\n`],
    ['names that a pattern of JavaScript binds', `const {${'a,'.repeat(MANY)}b} = x;\n`],
    ['lines', 'x\n'.repeat(MANY)],
  ])('%s: the output is compared all the same', async (_, output) => {
    const detector = new ContaminationDetector();
    detector.addToTrainingSet('task', output.slice(0, 1_000));
    const testCase = { id: 'task', name: 'task', difficulty: 'easy' as const };
    expect((await detector.checkContamination(output, testCase)).confidence).toBeGreaterThan(0);
  });

  it('lines of a script: a check and its correction are shown', () => {
    const script = 'x\n'.repeat(MANY);
    const result: SolutionCheckResult = {
      status: 'corrected',
      solution: { content: 'x\n' },
      solutionDigest: '',
      findings: [
        { leakageStatus: 'Yes Data Leakage', codeBlock: script, outcome: 'corrected', source: 'analysis' },
      ],
      usage: NO_USAGE,
      agent: { runner: 'offline' },
    };
    const shown = renderCheck({ file: 'a.py', script, result }, colors, { explain: true });
    expect(shown.split('\n').length).toBeGreaterThan(MANY);
  });

  it('lines of a reason and of notes: a check is shown', () => {
    const many = 'x\n'.repeat(MANY);
    const result: SolutionCheckResult = {
      status: 'uncorrected',
      solution: { content: 'x\n' },
      solutionDigest: '',
      findings: [
        {
          leakageStatus: 'Yes Data Leakage',
          codeBlock: 'x',
          outcome: 'uncorrected',
          source: 'agent',
          reason: many,
          notes: [many],
        },
      ],
      notes: [many],
      usage: NO_USAGE,
      agent: { runner: 'offline' },
    };
    const shown = renderCheck({ file: 'a.py', script: 'x\n', result }, colors);
    expect(shown.split('\n').length).toBeGreaterThan(3 * MANY);
  });

  it('rows of a table: an ablation is read', async () => {
    const rows = Array.from({ length: MANY }, (_, row) => `without step${row}   0.${1_000 + row}`);
    const rawOutput = ['variant   accuracy', 'baseline   0.9', ...rows].join('\n');
    const reading = await readAblation({ rawOutput, ablationCode: '' });
    expect(reading).toBeDefined();
  });

  it('lines of a block: a refinement is shown', () => {
    const codeBlock = 'x\n'.repeat(MANY);
    const extracted: ExtractResult = {
      outcome: 'selected',
      codeBlock,
      plan: 'plan',
      attempts: 1,
      plans: [],
      solutionDigest: '',
      usage: NO_USAGE,
      agent: { runner: 'offline' },
    };
    expect(renderRefinement(codeBlock, 'summary', extracted, colors)).toContain('plan');
  });
});

describe('a word of more letters than the stack of an expression holds', () => {
  it.each([
    ['a word', 'é'.repeat(6_000_000)],
    ['a quotation without an end', `x "${'.'.repeat(16_700_000)}`],
  ])('%s is read', (_, text) => {
    expect(readWords(text).hash.length).toBeGreaterThan(0);
    expect(isProseLine(text)).toBe(false);
  });
});
