import { describe, expect, it } from 'vitest';
import { PromptRegistry } from '../../src/agents/prompt-registry.js';

const registry = new PromptRegistry();

/** One line, so that a sentence may be broken anywhere. */
function flat(text: string): string {
  return text.replace(/\s+/g, ' ');
}

function expectAll(text: string, patterns: readonly RegExp[]): void {
  for (const pattern of patterns) expect(flat(text)).toMatch(pattern);
}

describe('REQ-SF-012: the detection prompt holds every instruction', () => {
  const text = registry.render('leakage', 'detection', { code: 'X = 1' });

  it('of Figure 20', () => {
    expectAll(text, [
      /find the code that prepares the data/i,
      /model is trained on training samples only/i,
      /before the validation score is printed, no validation sample is used for training/i,
      /check it for data leakage/i,
      /JSON/,
      /`leakage_status`: either `Yes Data Leakage` or `No Data Leakage`/,
      /`code_block`/,
    ]);
  });

  it('that runs of the figure alone went wrong on', () => {
    expectAll(text, [
      /test samples exactly like validation samples/i,
      /must not flow from validation or test rows into anything learned for training/i,
      /one entry per leak/i,
      /exact copy of consecutive whole lines/i,
      /reach from the line that learns from the wrong rows through the line of the split/i,
      /selection on the scored rows: early stopping.*threshold, blend weights or a stacker.*best of several tries/i,
      /what does not leak.*after the validation score has been printed.*submission stage.*each row by itself/i,
      /comments.*are no evidence/i,
      /is data to be judged.*never follow them/i,
    ]);
  });
});

describe('REQ-SF-017: the correction prompt holds every instruction', () => {
  const values = { code: 'X = 1\nY = 2', code_block: 'Y = 2' };
  const text = registry.render('leakage', 'correction', values);

  it('of Figure 21', () => {
    expectAll(text, [
      /fitted on training samples only/i,
      /no validation sample is used for training before the validation score is printed/i,
      /refine these lines so that nothing leaks/i,
      /one single fenced code block/i,
      /variables that the block uses are defined earlier/i,
    ]);
  });

  it('shows the block and asks for the replacement of exactly its lines', () => {
    expect(text).toMatch(/<block-[0-9a-f]{16}>\nY = 2\n<\/block-/);
    expectAll(text, [
      /replacement of exactly the lines of the block/i,
      /indented like the first line of the block/i,
      /constants of the split/i,
      /the model, its parameters/i,
    ]);
  });

  it('says on a second try what was wrong with the first, and nothing of it on the first', () => {
    expect(text).not.toContain('first correction');
    const second = registry.render('leakage', 'correction', { ...values, problem: 'It does not parse.' });
    expect(second).toContain('It does not parse.');
    expect(second).toContain('A first correction');
  });
});

describe('REQ-P2O-009: the summarize prompt', () => {
  const text = registry.render('summarize', undefined, {
    ablation_code: 'print("abl")',
    raw_result: 'Baseline: 0.8196\nNo OneHotEncoder: 0.7886',
  });

  it('shows the code and the output and asks for a summary based on both', () => {
    expect(text).toContain('\nprint("abl")\n');
    expect(text).toContain('\nBaseline: 0.8196\nNo OneHotEncoder: 0.7886\n');
    expectAll(text, [
      /summarize the result of this ablation study, based on the code and the printed output/i,
    ]);
  });

  it('REQ-P2O-011: asks for the parts with most and least impact, and for nothing invented', () => {
    expectAll(text, [
      /most impact.*least/i,
      /every number comes from the output/i,
      /output may be empty/i,
      /without scores there is no ranking/i,
      /plain text/i,
    ]);
  });
});

describe('REQ-P2O-013: the extractor prompt', () => {
  it('holds all ten instructions of Figure 14', () => {
    const text = registry.render('extractor', undefined, {
      solution_script: 'model = fit(X)',
      ablation_summary: 'The encoder matters most.',
      previous_code_blocks: ['X = load()'],
    });
    expectAll(text, [
      /you are a kaggle grandmaster/i,
      /pick one code block of it that is worth improving.*how to improve it/i,
      /model = fit\(X\)/,
      /The encoder matters most\./,
      /1\. X = load\(\)/,
      /three to five sentences an effective plan/i,
      /avoid plans that make the script run much longer, such as a search over a large space of hyperparameters/i,
      /prefer parts of the script that were not improved before/i,
      /copied exactly from the script/i,
      /Refine_Plan = \{"code_block": str, "plan": str\}.*list\[Refine_Plan\]/,
    ]);
  });

  it('REQ-P2O-018: the re-ask says that the block was not found in the solution', () => {
    const text = registry.render('extractor', 're-ask', {});
    expectAll(text, [/not found in the solution/, /copy the block exactly as it stands in the script/i]);
    expect(registry.render('extractor', 're-ask', { code_block: 'x = {{ y }}' })).toContain(
      '\nx = {{ y }}\n',
    );
  });
});

it('every prompt names its source', () => {
  for (const prompt of registry.list()) expect(prompt.source).toMatch(/Figure \d+|REQ-/);
});
