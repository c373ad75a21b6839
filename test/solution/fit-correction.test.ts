import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitCorrection, locateBlock, replaceSpan } from '../../src/solution/index.js';

/** The script after the correction of a block was fitted and put in. */
function corrected(content: string, block: string, correction: string): string {
  const located = locateBlock(block, content);
  if (located === null) throw new Error('the block of this test is not in its script');
  return replaceSpan(content, located, fitCorrection(correction, located, content));
}

describe('fitCorrection, line breaks', () => {
  it.each([
    ['takes on those of Windows', 'a\r\nb\r\nc\r\n', 'b\r\n', 'x\ny\n', 'a\r\nx\r\ny\r\nc\r\n'],
    ['gives up those of Windows', 'a\nb\nc\n', 'b\n', 'x\r\ny\r\n', 'a\nx\ny\nc\n'],
    ['gets the final one that the block has', 'a\nb\nc\n', 'b\n', 'x', 'a\nx\nc\n'],
    ['loses the final one that the block does not have', 'a\nb\nc\n', 'b', 'x\n', 'a\nx\nc\n'],
    ['gets none at the end of a script without one', 'a\nb', 'b\n', 'x\n', 'a\nx'],
    ['keeps the blank lines around the block', 'a\n\nb\n\n\nc', '\nb\n\n\n', '\n\nx\n', 'a\n\nx\n\n\nc'],
    ['keeps a line break in front of the block', 'a\nb\nc', '\nb', 'x', 'a\nx\nc'],
    ['keeps the beginning of the next line', 'if a:\n  b\n  c\n', 'b\n  ', 'x\n', 'if a:\n  x\n  c\n'],
    ['drops trailing whitespace of the block', 'a\nb  \nc', 'b', 'x', 'a\nx  \nc'],
  ])('REQ-SF-019: %s', (_name, content, block, correction, expected) => {
    expect(corrected(content, block, correction)).toBe(expected);
  });
});

describe('fitCorrection, indentation', () => {
  const content = 'def f():\n    a = 1\n    if a:\n        b = 2\n    return b\n';
  const block = '    a = 1\n    if a:\n        b = 2\n';

  it.each([
    ['without any indentation', 'a = 3\nif a:\n    b = 4\n'],
    ['with too much', '        a = 3\n        if a:\n            b = 4\n'],
    ['with tabs', '\ta = 3\n\tif a:\n\t    b = 4\n'],
    ['with the right one', '    a = 3\n    if a:\n        b = 4\n'],
    ['with a first line that was trimmed', 'a = 3\n    if a:\n        b = 4'],
    ['with blank lines in front', '\n\na = 3\nif a:\n    b = 4\n'],
  ])('REQ-SF-019: a correction %s is indented like the block', (_name, correction) => {
    expect(corrected(content, block, correction)).toBe(
      'def f():\n    a = 3\n    if a:\n        b = 4\n    return b\n',
    );
  });

  it.each([
    ['the block begins after the indentation of its line', 'a = 1\n    if a:\n        b = 2\n'],
    ['the block begins within it', '  a = 1\n    if a:\n        b = 2\n'],
  ])('fits where %s', (_name, inLine) => {
    const expected = 'def f():\n    a = 3\n    if a:\n        b = 4\n    return b\n';
    expect(corrected(content, inLine, 'a = 3\nif a:\n    b = 4\n')).toBe(expected);
    expect(corrected(content, inLine, 'a = 3\n    if a:\n        b = 4\n')).toBe(expected);
    expect(corrected(content, inLine, '    a = 3\n    if a:\n        b = 4\n')).toBe(expected);
  });

  it.each([
    ['trimmed', 'for i in a:\n        b = 4\n    c = 5'],
    ['without indentation', 'for i in a:\n    b = 4\nc = 5'],
  ])('tells a first line that opens a suite apart: %s', (_name, correction) => {
    expect(corrected(content, block, correction)).toBe(
      'def f():\n    for i in a:\n        b = 4\n    c = 5\n    return b\n',
    );
  });

  it('does not take the body of a suite for a line that is right', () => {
    expect(corrected(content, block, 'for i in a:\n    b = 4\n')).toBe(
      'def f():\n    for i in a:\n        b = 4\n    return b\n',
    );
  });

  it.each([
    ['a string that ends a line with a colon', 'a = "" """Values:\n  one\n"""\n    b = 4\n'],
    ['brackets only', 'a = f(\n        1,\n    )\n'],
  ])('sees that only the first line was trimmed in front of %s', (_name, trimmed) => {
    const script = content.replace(block, `${block}    a = f(\n        1,\n    )\n`);
    expect(
      corrected(script, script.slice(script.indexOf('    a'), script.indexOf('    return')), trimmed),
    ).toBe(`def f():\n    ${trimmed}    return b\n`);
  });

  it('goes deeper and comes back with a block that does', () => {
    const script = 'for a in b:\n    for c in d:\n        e = 1\n    f = 2\n';
    expect(corrected(script, '        e = 1\n    f = 2\n', '    e = 3\nf = 4\n')).toBe(
      'for a in b:\n    for c in d:\n        e = 3\n    f = 4\n',
    );
  });

  it('does not touch the inside of a string', () => {
    expect(corrected(content, block, 'a = """\n  # one\ntwo\n"""\nif a:\n    b = "x" \\\n  "y"\n')).toBe(
      'def f():\n    a = """\n  # one\ntwo\n"""\n    if a:\n        b = "x" \\\n      "y"\n    return b\n',
    );
  });

  it('brings back the inside of a string that the answer moved with its code', () => {
    const script = 'if a:\n    q = """\n    SELECT\n    """\n    b = 1\n';
    const whole = '    q = """\n    SELECT\n    """\n    b = 1\n';
    expect(corrected(script, whole, 'q = """\nSELECT\n"""\nb = 2\n')).toBe(
      'if a:\n    q = """\n    SELECT\n    """\n    b = 2\n',
    );
  });

  it('leaves an answer alone whose indentation does not differ uniformly', () => {
    const script = 'if a:\n  b = 1\n';
    expect(corrected(script, '  b = 1\n', '    b = 2\n c = 3\n')).toBe('if a:\n    b = 2\n c = 3\n');
  });

  it('moves comments and lines within brackets as far as they can go', () => {
    const script = 'if a:\n  b = 1\n';
    expect(corrected(script, '  b = 1\n', '      b = f(\n  1,\n      )\n# note\n      c = 2\n')).toBe(
      'if a:\n  b = f(\n  1,\n  )\n# note\n  c = 2\n',
    );
  });

  it('takes a part of a line for a part of a line', () => {
    expect(corrected('    y = f(x) + 1\n', 'f(x)', '    g(x)\n')).toBe('    y = g(x) + 1\n');
    expect(corrected('return x\n', 'return ', 'yield\n')).toBe('yield x\n');
  });
});

describe('fitCorrection on any text', () => {
  it.each(['', '\n', ' \r\n\t '])('gives nothing for nothing: %j', (correction) => {
    expect(fitCorrection(correction, { start: 0, end: 1, text: 'a' }, 'a')).toBe('');
  });

  it('gives whole lines of a script back as they are', () => {
    const statement = fc.constantFrom(
      'x = 1',
      '    y = (1,',
      '  2)',
      '\tz',
      '# c',
      "s = '''",
      "'''",
      '',
      'if a:',
      '😀\ud800',
    );
    fc.assert(
      fc.property(
        fc.array(statement, { minLength: 1, maxLength: 10 }),
        fc.constantFrom('\n', '\r\n'),
        fc.nat(),
        fc.nat(),
        (lines, end, a, b) => {
          const content = lines.map((line) => line + end).join('');
          const from = a % lines.length;
          const block = lines
            .slice(from, from + 1 + (b % (lines.length - from)))
            .map((line) => line + end)
            .join('');
          const located = locateBlock(block, content);
          fc.pre(located !== null);
          expect(fitCorrection(block, located, content)).toBe(block);
        },
      ),
    );
  });

  it('takes a correction of 1 MiB', () => {
    const text = `s = '''\n${'a\n'.repeat(300_000)}'''`;
    expect(fitCorrection(text, { start: 6, end: 12, text: '    y\n' }, 'if a:\n    y\n')).toBe(
      `    ${text}\n`,
    );
    const correction = 'x = [\n    1,\n]\n'.repeat(75_000);
    const fitted = fitCorrection(correction, { start: 6, end: 12, text: '    y\n' }, 'if a:\n    y\n');
    expect(fitted.startsWith('    x = [\n        1,\n    ]\n    x = [')).toBe(true);
  });
});
