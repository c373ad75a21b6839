import { describe, expect, it } from 'vitest';
import { findUnsupportedNumbers } from '../../src/ablation/index.js';

const OUTPUT = 'Baseline: 0.8196, No StandardScaler: 0.8102, No OneHotEncoder: 0.7886, No Imputation: 0.8196';
const unsupported = (summary: string, rawOutput = OUTPUT, ablationCode = '') =>
  findUnsupportedNumbers({ summary, rawOutput, ablationCode }).unsupported;
const CRASH =
  'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\nValueError: bad input\n';

describe('finding unsupported numbers of a summary', () => {
  it.each([
    ['standing in the output', 'Accuracy fell from 0.8196 to 0.7886.'],
    ['rounded to fewer digits', 'Accuracy fell from 0.82 to 0.789.'],
    ['as percentages', 'Accuracy fell from 81.96% to 78.9 %.'],
    ['a difference', 'A drop of 0.0310, or -0.031, or 3.1 percentage points.'],
    ['a relative change', 'A loss of 3.78%, about 3.8 percent.'],
    ['a ratio', 'It keeps 96.2% of the score, a ratio of 0.962.'],
    ['a range', 'Scores lie in 0.7886-0.8196.'],
  ])('REQ-P2O-011: lets pass what the output supports: %s', (_what, summary) => {
    expect(unsupported(summary)).toEqual([]);
  });

  it.each([
    ['an invented score', 'Accuracy fell to 0.7512.', ['0.7512']],
    ['an invented change', 'A loss of 8.3%.', ['8.3%']],
    ['wrong rounding', 'Accuracy fell to 0.788.', ['0.788']],
    ['a whole number as a score', 'RMSE fell to 5.', ['5']],
    ['each number once', 'It is 0.5512, again 0.5512 and 0.4417.', ['0.5512', '0.4417']],
  ])('REQ-P2O-011: names %s', (_what, summary, named) => {
    expect(unsupported(summary)).toEqual(named);
  });

  it.each([
    'All 3 components were tested; the top 2 matter.',
    '1. OneHotEncoder\n2. StandardScaler\n3) Imputation',
    'Ablation 2 and experiment 4 removed KMeans40 and lag_7.',
    'The F1 and R2 scores of 5-fold cross-validation over 10 seeds.',
    'Of the 4 variants, 2 of 4 ran; step 1 is first, the 2nd is next.',
    'The study of 2024-05-01 took 12:30:01.',
  ])('does not cry over counts, enumerations and names: %s', (summary) => {
    expect(unsupported(summary)).toEqual([]);
  });

  it('lets settings of the script pass, and only as settings', () => {
    const code = 'model = Ridge(alpha=0.37)\nvec = TfidfVectorizer(max_df=0.95)\n';
    expect(unsupported('Ridge with alpha 0.37 and max_df=0.95 was used.', OUTPUT, code)).toEqual([]);
    expect(unsupported('Accuracy fell to 0.37.', OUTPUT, code)).toEqual(['0.37']);
  });

  it('reads thousands separators and decimal commas', () => {
    expect(
      unsupported('RMSE rose from 57,390.0 to 71144,99.', 'Baseline: 57390.01\nNo x: 71144.9902\n'),
    ).toEqual([]);
  });

  it('does not take a chance pair of a long listing as support for a number', () => {
    const listing = Array.from(
      { length: 3000 },
      (_, at) => `epoch ${at} loss 0.${1000 + ((at * 7919) % 8999)}`,
    ).join('\n');
    expect(unsupported('A drop of 0.00317.', `${listing}\nBaseline: 0.9\nNo x: 0.8\n`)).toEqual(['0.00317']);
  });

  it.each([
    ['OneHotEncoder is the most impactful component (0.031).', CRASH, true],
    ['Removing the scaler caused the largest drop.', '', true],
    ['Target encoding contributes the most.', 'Loading data...\nDone in 3.1 s\n', true],
    ['The run crashed, so no most impactful component can be named.', CRASH, false],
    ['The most impactful component cannot be determined.', '', false],
    ['OneHotEncoder is the most impactful component.', OUTPUT, false],
  ])('REQ-P2O-011: sees a ranking without scores: %s', (summary, rawOutput, expected) => {
    expect(findUnsupportedNumbers({ summary, rawOutput, ablationCode: '' }).rankingWithoutScores).toBe(
      expected,
    );
  });
});
