import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blockFromWholeScript, fitCorrection, locateBlock, replaceSpan } from '../../src/solution/index.js';

const content = [
  'import pandas as pd',
  'from sklearn.model_selection import train_test_split',
  '',
  'data = pd.read_csv("train.csv")',
  'scaled = scaler.fit_transform(data)',
  'train, valid = train_test_split(scaled)',
  'model = fit(train)',
  '',
  'print(f"Final Validation Performance: {score(model, valid)}")',
  '',
].join('\n');
const block = 'scaled = scaler.fit_transform(data)\ntrain, valid = train_test_split(scaled)\n';
const correction =
  'train, valid = train_test_split(data)\ntrain = scaler.fit_transform(train)\nvalid = scaler.transform(valid)\n';

function answer(correctedScript: string, script = content, asked = block) {
  const located = locateBlock(asked, script);
  if (located === null) throw new Error('the block of this test is not in its script');
  const result = blockFromWholeScript(script, located, correctedScript);
  const applied =
    result.kind === 'block'
      ? replaceSpan(script, located, fitCorrection(result.block, located, script))
      : undefined;
  return { ...result, applied };
}

describe('blockFromWholeScript', () => {
  const whole = content.replace(block, correction);

  it.each([
    ['as it is', whole],
    ['without the last line break', whole.trimEnd()],
    ['with line breaks of Windows', whole.replaceAll('\n', '\r\n')],
    ['with trailing whitespace', whole.replaceAll('\n', '  \n')],
    ['with other blank lines', `\n${whole.replaceAll('\n\n', '\n\n\n')}`],
  ])('REQ-SF-019: takes the block out of the whole script %s', (_name, text) => {
    const { kind, applied } = answer(text);
    expect(kind).toBe('block');
    expect(applied?.replace(/ +$/gm, '')).toBe(whole);
  });

  it('takes what is in the place of a block at either end', () => {
    const first = 'import pandas as pd\n';
    expect(answer(content.replace(first, 'import polars as pd\n'), content, first)).toMatchObject({
      kind: 'block',
      applied: content.replace(first, 'import polars as pd\n'),
    });
    const last = content.slice(content.indexOf('print('));
    expect(answer(content.replace(last, 'print(1)\n'), content, last)).toMatchObject({
      kind: 'block',
      applied: content.replace(last, 'print(1)\n'),
    });
  });

  it('takes a part of a line for a part of a line', () => {
    expect(answer(content.replace('fit(train)', 'fit(train, 1)'), content, 'fit(train)')).toMatchObject({
      kind: 'block',
      block: 'fit(train, 1)',
    });
    expect(
      answer(content.replace('model = fit(train)', 'm = fit(train, 1)'), content, 'fit(train)').kind,
    ).toBe('changes-more');
  });

  it('takes the code after the indentation of its line', () => {
    const script = 'import a\nimport b\nif a:\n    x = 1\n    y = 2\n';
    expect(answer(script.replace('x = 1', 'x = 3'), script, 'x = 1\n    y = 2')).toMatchObject({
      kind: 'block',
      applied: script.replace('x = 1', 'x = 3'),
    });
  });

  it.each([
    ['a line in front of the block', whole.replace('train.csv', 'test.csv')],
    ['a line after the block', whole.replace('fit(train)', 'fit(train + valid)')],
    ['a new import', `import numpy\n${whole}`],
    ['a line that is missing', whole.replace('model = fit(train)\n', '')],
    ['a line at either end', `# corrected\n${whole}# end\n`],
    ['a line within the line of the block', whole.replace('model = ', 'm = ')],
  ])('REQ-SF-019: says that the whole script changes more: %s', (_name, text) => {
    expect(answer(text).kind).toBe('changes-more');
  });

  it.each([
    ['from the block on to the end', 'after'],
    ['from the beginning to the block', 'before'],
  ])('says that a script which repeats one side only changes more: %s', (_name, side) => {
    const context = (name: string) =>
      Array.from({ length: 4 }, (_, index) => `${name}_${index} = 1\n`).join('');
    const [long, short] = [context('long') + context('more'), context('short')];
    const [before, after] = side === 'after' ? [long, short] : [short, long];
    const text = side === 'after' ? correction + after : before + correction;
    expect(answer(text, before + block + after).kind).toBe('changes-more');
  });

  it.each([
    ['the corrected block', correction],
    ['the corrected block and one line of the script', `import pandas as pd\n${correction}`],
    ['nothing', ''],
    ['another script', 'a = 1\nb = 2\n'],
  ])('says that the answer is not a whole script: %s', (_name, text) => {
    expect(answer(text).kind).toBe('not-whole-script');
  });

  it('has nothing to take out where the block is the script', () => {
    expect(answer('x = 1\n', block, block).kind).toBe('not-whole-script');
  });

  it('gives back any block that was put into a script of different lines', () => {
    const lines = fc.uniqueArray(
      fc.constantFrom('a = 1', '  b = 2', 'c = f(', ')', "d = '😀'", '# e', '$&', 'g = 7', 'h = 8'),
      { minLength: 3 },
    );
    const replacement = fc.array(fc.constantFrom('new_a = 1', '    new_b = 2', '\tnew_c', '# $1'), {
      minLength: 1,
    });
    fc.assert(
      fc.property(lines, replacement, fc.nat(), fc.constantFrom('\n', '\r\n'), (script, code, at, end) => {
        const text = script.map((line) => line + end).join('');
        const index = at % script.length;
        const asked = script[index] + end;
        const put = code.map((line) => line + end).join('');
        const start = script.slice(0, index).join(end).length + (index === 0 ? 0 : end.length);
        const located = { start, end: start + asked.length, text: asked };
        const result = blockFromWholeScript(text, located, replaceSpan(text, located, put));
        expect(result).toEqual({ kind: 'block', block: put });
      }),
    );
  });
});
