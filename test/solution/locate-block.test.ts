import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { locateBlock, replaceBlock, replaceSpan, validateCodeBlock } from '../../src/solution/index.js';

/** Scripts from few different lines, so that blocks repeat and nearly match, with every kind of line break. */
const lineBreak = fc.constantFrom('\n', '\r\n', '\n', ' \n', '\t\r\n');
const line = fc.constantFrom(
  '',
  'x = 1',
  '    y = 2',
  '\ty = 2',
  "s = '😀'",
  "re.sub(r'$1', '$&', t)",
  'é\u00a0',
  '\ud800',
  'a\0b',
);
const script = fc
  .array(fc.tuple(line, lineBreak), { maxLength: 12 })
  .chain((lines) => fc.tuple(fc.constant(lines.map(([text, end]) => text + end).join('')), line))
  .map(([text, last]) => text + last);

describe('locateBlock, exact substring', () => {
  it('REQ-P2O-018: finds the exact text and says so', () => {
    const content = 'import numpy\nscaler = StandardScaler()\nX = scaler.fit_transform(X)\n';
    expect(locateBlock('scaler = StandardScaler()\nX = scaler', content)).toEqual({
      start: 13,
      end: 49,
      text: 'scaler = StandardScaler()\nX = scaler',
      matched: 'exact',
      occurrences: 1,
    });
  });

  it('takes the first of several places and counts them without overlaps', () => {
    expect(locateBlock('aa', 'aaaaa')).toMatchObject({ start: 0, occurrences: 2 });
    expect(locateBlock('x = 1\n', 'x = 1\ny\nx = 1\nx = 1\n')).toMatchObject({ start: 0, occurrences: 3 });
  });

  it('prefers the exact place to an earlier one that matches except for whitespace', () => {
    expect(locateBlock('a\nb', 'a \nb\na\nb')).toMatchObject({ start: 5, matched: 'exact', occurrences: 1 });
  });

  it('finds every part of a script that holds code, and the found text is that part', () => {
    fc.assert(
      fc.property(script, fc.nat(), fc.nat(), (content, a, b) => {
        const block = content.slice(
          ...[a % (content.length + 1), b % (content.length + 1)].sort((x, y) => x - y),
        );
        fc.pre(block.trim() !== '');
        const located = locateBlock(block, content);
        expect(located).toMatchObject({ text: block, matched: 'exact', start: content.indexOf(block) });
        expect(located?.occurrences).toBe(content.split(block).length - 1);
      }),
    );
  });
});

describe('locateBlock, whole lines without trailing whitespace', () => {
  it.each([
    ['trailing blanks in the script', 'a\nb', 'x\na  \nb\t\nc', 'a  \nb\t'],
    ['trailing blanks in the block', 'a  \nb \n', 'x\na\nb\nc', 'a\nb\n'],
    ['Windows line breaks in the script', 'a\nb\n', 'x\r\na\r\nb\r\nc', 'a\r\nb\r\n'],
    ['Windows line breaks in the block', 'a\r\nb\r\n', 'x\na\nb\nc', 'a\nb\n'],
    ['no line break taken that the block does not have', 'a\nb', 'x\r\na\r\nb\r\nc', 'a\r\nb'],
    ['a final line break that the script does not have', 'a\nb\n', 'x\na\nb', 'a\nb'],
    ['a block that is the whole script', 'a\nb\n', 'a \nb ', 'a \nb '],
    ['blanks after the final line break', 'a\nb\n    ', 'a\nb\nc', 'a\nb\n'],
    ['blank lines inside', 'a\n\nb', 'a\n   \nb\n', 'a\n   \nb'],
    ['a blank line at the end', 'b \n\n', 'a\nb\n  ', 'b\n  '],
  ])('REQ-P2O-018, REQ-SF-021: %s', (_name, block, content, text) => {
    expect(locateBlock(block, content)).toEqual({
      start: content.indexOf(text),
      end: content.indexOf(text) + text.length,
      text,
      matched: 'whitespace',
      occurrences: 1,
    });
  });

  it.each([
    ['different indentation', '  a\nb ', '    a\nb'],
    ['tabs for spaces', '\ta \nb', '    a\nb'],
    ['part of a line', 'a = 1 \nb', 'aa = 1\nb'],
    ['a line cut short', 'a = 1 \nb', 'a = 1\nbb'],
    ['a blank line that the script does not have', 'b \n\n', 'a\nb\n'],
    ['whitespace inside of a line', 'a =  1', 'a = 1'],
    ['nothing', '', 'a'],
    ['a line break, though the script has one', '\n', 'a\n\nb'],
    ['blanks, though the script has them', '  ', 'if a:\n  b'],
    ['a block longer than the script', 'a\nb\nc', 'a \nb'],
    ['anything in an empty script', 'a', ''],
  ])('finds nothing for %s', (_name, block, content) => {
    expect(locateBlock(block, content)).toBeNull();
  });

  it('counts the places without overlaps', () => {
    expect(locateBlock('a \na', 'a\na\na\na\na')).toMatchObject({ start: 0, occurrences: 2 });
  });

  it('brings back the original of a block whose trailing whitespace was damaged', () => {
    const damage = fc.constantFrom('', ' ', '\t', '\r', '  \r');
    fc.assert(
      fc.property(script, fc.nat(), fc.nat(), damage, fc.boolean(), (content, a, b, blanks, dropBreak) => {
        const lines = content.split(/(?<=\n)/);
        const from = a % lines.length;
        const original = lines.slice(from, from + 1 + (b % (lines.length - from))).join('');
        fc.pre(original.trim() !== '');
        const withoutBreak = original.replace(/\r?\n$/, '');
        const wanted = dropBreak ? withoutBreak : original;
        const damaged = wanted.replace(/[ \t\r]*(?=\n)|[ \t\r]*$/g, blanks);
        const located = locateBlock(damaged, content);
        expect(located).not.toBeNull();
        const stripped = (text: string) => text.split('\n').map((one) => one.trimEnd());
        expect(stripped(located?.text ?? '')).toEqual(stripped(wanted));
      }),
    );
  });
});

describe('locate, then replace', () => {
  it('is the identity for the located text, and the text is a span of the script', () => {
    fc.assert(
      fc.property(script, fc.oneof(script, line), (content, block) => {
        const located = locateBlock(block, content);
        fc.pre(located !== null);
        const { start, end, text } = located;
        expect(content.slice(start, end)).toBe(text);
        expect(validateCodeBlock(text, { content })).toBe(true);
        expect(replaceBlock({ content }, text, text)).toEqual({ content });
        expect(replaceSpan(content, located, text)).toBe(content);
      }),
      { numRuns: 100 },
    );
  });

  it('puts the text into the located lines, not into an earlier part of a line', () => {
    const content = 'xx = 1\nx = 1\n';
    const located = locateBlock('x = 1 ', content);
    expect(located).toMatchObject({ start: 7, matched: 'whitespace' });
    expect(located && replaceSpan(content, located, 'y')).toBe('xx = 1\ny\n');
  });
});

describe('validateCodeBlock', () => {
  const content = 'scaler = StandardScaler()\nX_train = scaler.fit_transform(X_train)';

  it('REQ-P2O-017: true for an exact substring', () => {
    expect(validateCodeBlock(content, { content })).toBe(true);
    expect(validateCodeBlock('X_train)', { content })).toBe(true);
  });

  it.each([
    ['a trailing blank', `${content} `],
    ['a line break of Windows', content.replace('\n', '\r\n')],
    ['another case', content.toUpperCase()],
    ['nothing', ''],
  ])('REQ-P2O-017: false for %s', (_name, block) => {
    expect(validateCodeBlock(block, { content })).toBe(false);
  });
});
