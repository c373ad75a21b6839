import { describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { checkAndFixLeakage } from '../../src/processors/leakage-check/check-and-fix-leakage.js';
import { manyLeaks } from '../support/many-leaks.js';
import { VALUE_BOMBS } from '../support/value-bombs.js';

const check = (content: string) => checkAndFixLeakage({ content }, createOfflineRunner());
/** Code that the analysis gives up on. */
const BOMB = VALUE_BOMBS.find(([kind]) => kind === 'keywords by **')?.[1](1_000) ?? '';

describe('a script whose leaks static analysis has not all seen', () => {
  it('is corrected as long as it has seen them all', async () => {
    const { status, notFollowed } = await check(manyLeaks(1));
    expect(status).toBe('corrected');
    expect(notFollowed).toBeUndefined();
  });

  it.each([
    ['because it has more than are listed', manyLeaks(51)],
    ['because it could not be followed to its end', `${manyLeaks(1)}${BOMB}`],
  ])('is not taken as corrected, %s', async (_why, content) => {
    const { status, solution, findings } = await check(content);
    expect(status).toBe('uncorrected');
    expect(solution.content).toBe(content);
    expect(findings.length).toBeGreaterThan(0);
    expect(findings.length).toBeLessThanOrEqual(50);
    for (const { outcome, reason } of findings) {
      expect(outcome).toBe('uncorrected');
      expect(reason).toContain('could not follow the script to its end');
    }
  });
});
