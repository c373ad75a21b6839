import { describe, expect, it } from 'vitest';
import { analyzedOnce, IN_PLACE_ANALYST } from '../../src/agents/script-analyst.js';
import { CorrectedScript } from '../../src/processors/leakage-check/corrected-script.js';
import { validateCorrection } from '../../src/processors/leakage-check/validate-correction.js';
import { locateBlock } from '../../src/solution/index.js';
import { MODEL_CORRECTIONS, type ModelCorrections } from './model-corrections.js';

const analyst = analyzedOnce({ ...IN_PLACE_ANALYST, parses: async () => ({ ok: true, exact: true }) });

async function validated({ script, block }: ModelCorrections, answer: string) {
  const located = locateBlock(block, script);
  if (located === null) throw new Error('the block is not in the script');
  const context = { parsedBefore: true, analyst, runner: { name: 'anthropic' as const } };
  return validateCorrection(`\`\`\`python\n${answer}\n\`\`\``, located, new CorrectedScript(script), context);
}

describe.each(MODEL_CORRECTIONS)('corrections of $name', (one) => {
  it.each(Object.entries(one.right))('REQ-SF-019: right: %s', async (_, answer) => {
    expect(await validated(one, answer)).toMatchObject({ ok: true });
  });

  it.each(Object.entries(one.wrong))('REQ-SF-019: wrong: %s', async (_, answer) => {
    expect(await validated(one, answer)).toMatchObject({ ok: false });
  });
});
