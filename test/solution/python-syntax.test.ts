import { expect, it } from 'vitest';
import { parsePython } from '../../src/solution/python-syntax.js';

it('a tree is its caller’s own, whoever else parsed the same text and whatever was parsed since', async () => {
  const source = 'x = [1, 2]\n';
  const [one, other] = [await parsePython(source), await parsePython(source)];
  one.delete();
  for (const text of ['a = 1\n', 'b = 2\n', 'c = 3\n']) (await parsePython(text)).delete();
  expect(other.rootNode.descendantsOfType('integer').map(({ text }) => text)).toEqual(['1', '2']);
  other.delete();
  const again = await parsePython(source);
  expect(again.rootNode.text).toBe(source);
  again.delete();
});

it('a text that was parsed in parts of another one, or with an error, is parsed for itself', async () => {
  for (const [source, hasError] of [
    ['x = (\n', true],
    ['x = (1)\n', false],
    ['x = (\n', true],
  ] as const) {
    const tree = await parsePython(source);
    expect(tree.rootNode.hasError).toBe(hasError);
    tree.delete();
  }
});
