import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readWords } from '../../src/contamination/prose/words.js';
import { isProseLine } from '../../src/contamination/text/language.js';
import { testProgram } from '../support/programs.js';
import { MANY, OUTPUTS, STACK_MB } from './long-lists-thread.js';

describe('more items than a call can have arguments', () => {
  let thread: Worker;
  beforeAll(() => {
    const resourceLimits = { stackSizeMb: STACK_MB };
    thread = new Worker(testProgram('test/security/long-lists-thread'), { resourceLimits });
  });
  afterAll(() => thread.terminate());

  /** What reading a list of this name gives, or the error. */
  async function reading(name: string): Promise<{ value?: unknown; error?: string }> {
    thread.postMessage(name);
    return (await once(thread, 'message'))[0];
  }

  it('in one call they are an error', async () => {
    expect((await reading('one call')).error).toContain('Maximum call stack size exceeded');
  });

  it.each(Object.keys(OUTPUTS))('%s: the output is compared all the same', async (name) => {
    expect((await reading(name)).value).toBeGreaterThan(0);
  });

  it('lines of a script: a check and its correction are shown', async () => {
    expect((await reading('lines of a script')).value).toBeGreaterThan(MANY);
  });

  it('lines of a reason and of notes: a check is shown', async () => {
    expect((await reading('lines of a reason and of notes')).value).toBeGreaterThan(3 * MANY);
  });

  it('rows of a table: an ablation is read', async () => {
    expect((await reading('rows of a table')).value).toBeGreaterThan(0);
  });

  it('lines of a block: a refinement is shown', async () => {
    expect((await reading('lines of a block')).value).toContain('plan');
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
