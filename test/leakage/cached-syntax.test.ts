import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { analyzeInDetail, analyzeLeakage } from '../../src/leakage/analyze.js';
import { repairLeak } from '../../src/leakage/repair/repair-leak.js';
import { proveCorrection } from '../../src/leakage/score-flow/prove-correction.js';
import { parseModule } from '../../src/leakage/syntax/parse-module.js';
import { packagePath } from '../../src/package-root.js';

const folder = packagePath('examples', 'scripts');
const SCRIPTS = readdirSync(folder).map((name) => [name, readFileSync(`${folder}/${name}`, 'utf8')] as const);

/** Freezes plain data, also what leads in a circle. */
function frozen(value: unknown, seen = new Set<unknown>()): void {
  if (typeof value !== 'object' || value === null || seen.has(value)) return;
  seen.add(value);
  for (const inner of Object.values(value)) frozen(inner, seen);
  Object.freeze(value);
}

describe('the syntax of a script', () => {
  it.each(SCRIPTS)('is cached for the next step and changed by none: %s', async (_name, script) => {
    const analysis = await analyzeInDetail(script);
    frozen(analysis);
    const { findings } = await analyzeLeakage(script);
    for (const { codeBlock, kind } of findings) {
      const repaired = await repairLeak(script, codeBlock);
      if (!repaired.ok) continue;
      const corrected = script.replace(codeBlock, () => repaired.replacement);
      frozen(await analyzeInDetail(corrected));
      expect((await proveCorrection(script, corrected, [kind])).outcome).toBe('proven');
    }
    // After corrections of several leaks, other analyses may have taken its place.
    if (findings.length <= 1) expect(await analyzeInDetail(script)).toBe(analysis);
    expect((await analyzeInDetail(script)).findings).toEqual(analysis.findings);
  });

  it('of long scripts, and of others than the last three, is not cached', async () => {
    const first = await parseModule('a = 1\n');
    expect(await parseModule('a = 1\n')).toBe(first);
    for (const text of ['b = 1\n', 'c = 1\n', 'd = 1\n']) await parseModule(text);
    expect(await parseModule('a = 1\n')).not.toBe(first);
    const long = `x = 1\n${'# more\n'.repeat(10_000)}`;
    expect(await parseModule(long)).not.toBe(await parseModule(long));
  });
});
