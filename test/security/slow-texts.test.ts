import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SHORT_TEXTS } from '../../scripts/regexps/short-texts.js';
import { metricAtEnd } from '../../src/ablation/metric-names.js';
import { testProgram } from '../support/programs.js';
import { READERS } from './slow-texts-thread.js';

let thread: Worker;
beforeAll(() => {
  thread = new Worker(testProgram('test/security/slow-texts-thread'));
});
afterAll(() => thread.terminate());

describe('texts on which expressions take forever', () => {
  it.each(Object.keys(READERS))(
    '%s: four times the text is no more than a dozen times the work',
    async (reader) => {
      thread.postMessage(reader);
      expect(await once(thread, 'message')).toEqual([[]]);
    },
  );

  it('an expression that may be slow gets no more characters than are declared', () => {
    const [short, ...others] = SHORT_TEXTS;
    expect(others).toEqual([]);
    const phrase = metricAtEnd(`${'validation '.repeat(100)}rmse`);
    expect(phrase?.end).toBe(1_104);
    expect(phrase?.start).toBeGreaterThanOrEqual(1_104 - (short?.max ?? 0));
    // It reads that far: the bound is met, not undercut by something else.
    expect(phrase?.start).toBeLessThan(1_104 - (short?.max ?? 0) + 'validation '.length);
  });
});
