import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UnclosedFenceError } from '../../src/errors.js';
import { extractCodeBlock } from '../../src/solution/index.js';

describe('extractCodeBlock', () => {
  it.each([
    ['a language tag', 'Here:\n```python\nx = 1\n```\nDone.', 'x = 1'],
    ['no language tag', '```\nx = 1\n```', 'x = 1'],
    ['more words after the fence', '``` python title="a b"\nx = 1\n```', 'x = 1'],
    ['tildes, with backticks after them', '~~~ `py`\nx = 1\n~~~', 'x = 1'],
    ['a longer closing fence', '```\nx = 1\n`````', 'x = 1'],
    ['blanks after the closing fence', '```\nx = 1\n``` \t\nend', 'x = 1'],
    ['a shorter fence inside', '````md\n```python\nx = 1\n```\n````', '```python\nx = 1\n```'],
    ['a fence of the other kind inside', '~~~\n```\nx = 1\n~~~', '```\nx = 1'],
    ['what looks like a closing fence with text', '```\nx\n``` y\nz\n```', 'x\n``` y\nz'],
    ['a closing fence that is too far in', '```\nx\n    ```\n```', 'x\n    ```'],
    ['indented fences', '   ```python\n   if x:\n       y\n  z\n w\n   ```', 'if x:\n    y\nz\nw'],
    ['a closing fence indented differently', '```\nx\n   ```', 'x'],
    ['Windows line breaks', '```python\r\nx = 1\r\ny = 2\r\n```\r\n', 'x = 1\r\ny = 2'],
    ['blank lines at both ends', '```\n\nx\n\n```', '\nx\n'],
    ['the longest of several', '```\na\n```\n\n```\nlonger\n```\n```\nb\n```', 'longer'],
    ['the first of equally long ones', '```\na\n```\n```\nb\n```', 'a'],
    ['an empty fence', 'Nothing:\n```\n```', ''],
    ['an empty fence beside a full one', '```\n```\n```\nx\n```', 'x'],
    ['indentation of the code', '```\n    x = 1\n```', '    x = 1'],
    ['a line separator, which is not a line break', '```\na\u2028```\n```', 'a\u2028```'],
  ])('REQ-SF-019: reads %s', (_name, text, code) => {
    expect(extractCodeBlock(text)).toBe(code);
  });

  it.each([
    ['plain code', '\n  x = 1\ny = 2  \n', 'x = 1\ny = 2'],
    ['a fence that is indented like code', '    ```\n    x\n    ```', '```\n    x\n    ```'],
    ['a tab in front of the fence', '\t```\nx', '```\nx'],
    ['backticks after the backticks of a fence', '```x = 1```', '```x = 1```'],
    ['two backticks', '``\nx\n``', '``\nx\n``'],
    ['nothing', ' \n ', ''],
  ])('REQ-SF-019: takes the whole text, trimmed, where there is no fence: %s', (_name, text, code) => {
    expect(extractCodeBlock(text)).toBe(code);
  });

  it.each([
    ['the only fence', '```python\nx = 1\ny ='],
    ['the last of several', '```\nx = 1\n```\nAnd:\n```\ny ='],
    ['a fence that is closed by too short a one', '````\nx\n```'],
    ['a fence that is closed by another kind', '```\nx\n~~~'],
    ['a fence on the last line', 'So:\n```python'],
    ['a tag with Windows line breaks', '```python\r\nx = 1\r\n'],
  ])('REQ-SF-019: an answer that does not close %s was cut off', (_name, text) => {
    const attempt = () => extractCodeBlock(text);
    expect(attempt).toThrow(UnclosedFenceError);
    expect(attempt).toThrow(expect.objectContaining({ code: 'unclosed-fence', rawAnswer: text }));
  });

  it('gives back what was fenced', () => {
    const code = fc
      .array(
        fc.constantFrom('', 'x = 1', '    y', '\t z ', '```', '~~~~ py', '````` `', '😀', '\ud800', '$&'),
      )
      .chain((lines) => fc.constantFrom('\n', '\r\n').map((end) => lines.join(end)));
    const prose = fc.constantFrom('', 'Here it is:\n\n', 'Use `x`:\r\n');
    fc.assert(
      fc.property(
        code,
        prose,
        fc.constantFrom('`', '~'),
        fc.constantFrom('', 'python', ' py x'),
        (x, before, character, tag) => {
          const fence = character.repeat(6);
          expect(extractCodeBlock(`${before}${fence}${tag}\n${x}\n${fence}\n${before}`)).toBe(x);
        },
      ),
    );
  });
});
