import { describe, expect, it } from 'vitest';
import { IN_PLACE_ANALYST } from '../../src/agents/script-analyst.js';
import { CorrectedScript } from '../../src/processors/leakage-check/corrected-script.js';
import { leaksMissedBy } from '../../src/processors/leakage-check/missed-leaks.js';
import { manyLeaks } from '../support/many-leaks.js';

/** Processor time of the process, in milliseconds; checking each occurrence separately took minutes. */
const MAX_CPU_MS = 10_000;

async function cpuMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

describe('a block that is nearly everywhere in a script', () => {
  it.each([
    ['of one character', 'a'.repeat(2 ** 18), 'a'.repeat(2 ** 19)],
    ['of two characters', 'ab'.repeat(2 ** 16), 'ab'.repeat(2 ** 18)],
  ])('is looked for in one pass: %s', async (_kind, block, content) => {
    expect(await cpuMs(() => new CorrectedScript(content).locate(block))).toBeLessThan(MAX_CPU_MS);
  });

  it('names no leak that it does not overlap, and needs no memory for each occurrence', async () => {
    const content = `${manyLeaks(1)}${'# z\n'.repeat(2 ** 17)}`;
    const answers = Array.from({ length: 50 }, () => ({
      leakage_status: 'Yes Data Leakage' as const,
      code_block: 'z',
    }));
    const analysis = await IN_PLACE_ANALYST.analyze(manyLeaks(1));
    const findings = analysis.findings.map((leak) => ({ ...leak, severity: 'high' as const }));
    const analyst = { ...IN_PLACE_ANALYST, analyze: async () => ({ ...analysis, findings }) };
    expect(findings).toHaveLength(1);
    const missed = await leaksMissedBy(answers, content, analyst);
    expect(missed.map(({ code_block }) => code_block)).toEqual(
      findings.map(({ uniqueBlock }) => uniqueBlock),
    );
    const named = await leaksMissedBy(
      [{ leakage_status: 'Yes Data Leakage', code_block: 'StandardScaler().fit_transform(X)' }],
      content,
      analyst,
    );
    expect(named).toEqual([]);
  });
});
