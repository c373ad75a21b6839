import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BlockNotFoundError } from '../../src/errors.js';
import { replaceBlock } from '../../src/solution/index.js';

describe('replaceBlock', () => {
  it('REQ-SF-021: replaces the first occurrence only, in a new object', () => {
    const solution = Object.freeze({ content: 'a\nb\na\n' });
    const replaced = replaceBlock(solution, 'a', 'c');
    expect(replaced).toEqual({ content: 'c\nb\na\n' });
    expect(replaceBlock(solution, 'a', 'a')).not.toBe(solution);
  });

  it.each(['$&', '$1', '$$', "$'", '$`', '\\1', '$<name>'])('takes %s literally in both texts', (text) => {
    expect(replaceBlock({ content: 'x = old' }, 'old', text).content).toBe(`x = ${text}`);
    expect(replaceBlock({ content: `x = ${text}.*` }, `${text}.*`, 'new').content).toBe('x = new');
  });

  it('replaces any text by any text', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', '$&', '$1', '(', '.*', '\n', '\r', '😀', '\ud800', '\0'),
    });
    fc.assert(
      fc.property(text, text, text, text, (before, old, after, replacement) => {
        fc.pre(old !== '' && (before + old).indexOf(old) === before.length);
        expect(replaceBlock({ content: before + old + after }, old, replacement)).toEqual({
          content: before + replacement + after,
        });
      }),
    );
  });

  it.each([
    ['empty', ''],
    ['not in the solution', 'c'],
    ['different by a blank', 'a '],
  ])('REQ-SF-021: throws a typed error where the block is %s', (_name, block) => {
    const attempt = () => replaceBlock({ content: 'a\nb' }, block, 'x');
    expect(attempt).toThrow(BlockNotFoundError);
    expect(attempt).toThrow(expect.objectContaining({ code: 'block-not-found', field: 'oldBlock' }));
  });
});
