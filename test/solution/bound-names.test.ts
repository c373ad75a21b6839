import { describe, expect, it } from 'vitest';
import { lostNames } from '../../src/solution/index.js';

function lost(block: string, correction: string, content: string): Promise<string[]> {
  const start = content.indexOf(block);
  return lostNames({ start, end: start + block.length, text: block }, correction, content);
}

describe('names that a correction loses', () => {
  it('are those that only the block bound and later code uses', async () => {
    const content = 'import numpy as np\na, b = f(), 1\nc: int = 2\nnp.sum(a)\nprint(c, unknown)\n';
    expect(await lost('a, b = f(), 1\nc: int = 2', 'c = 3', content)).toEqual(['a']);
  });

  it('are found in a script of more lines than a call can have arguments', async () => {
    const content = `x = 1\n${'0\n'.repeat(140_000)}print(x)\n`;
    expect(await lost('x = 1', 'y = 1', content)).toEqual(['x']);
  });
});
