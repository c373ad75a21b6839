import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { analyzeLeakage, repairLeak } from '../../src/leakage/index.js';
import { packagePath } from '../../src/package-root.js';

const folder = packagePath('examples', 'scripts');
const scripts = readdirSync(folder).filter((name) => name.endsWith('.py'));

/** What becomes of a script when its findings are repaired one after another. */
async function outcome(source: string): Promise<'clean' | 'corrected' | 'partly-corrected' | 'uncorrected'> {
  const { findings } = await analyzeLeakage(source);
  let text = source;
  let declined = 0;
  let repaired = 0;
  for (const { codeBlock } of findings) {
    if (!text.includes(codeBlock)) continue;
    const repair = await repairLeak(text, codeBlock);
    if (repair.ok) {
      text = text.replace(repair.codeBlock, () => repair.replacement);
      repaired += 1;
    } else declined += 1;
  }
  if (findings.length === 0) return 'clean';
  if (declined === 0) return 'corrected';
  return repaired === 0 ? 'uncorrected' : 'partly-corrected';
}

describe('example scripts', () => {
  it('are four leaky ones of different kinds and two clean ones', () => {
    expect(scripts.filter((name) => name.startsWith('leaky_'))).toHaveLength(4);
    expect(scripts.filter((name) => name.startsWith('clean_'))).toHaveLength(2);
  });

  it.each(scripts)('%s comes out as its first line says', async (name) => {
    const source = readFileSync(`${folder}/${name}`, 'utf8');
    const expected = /^# Expected: ([\w-]+)/.exec(source)?.[1];
    expect(await outcome(source)).toBe(expected);
  });
});
