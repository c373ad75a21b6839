import { expect, it } from 'vitest';
import { reportedFile } from '../../src/cli/check/print-outcomes.js';
import { colorsFor } from '../../src/cli/terminal/colors.js';
import { renderCheck } from '../../src/cli/terminal/render-check.js';
import type { SolutionCheckResult } from '../../src/queues/solution-check.js';
import { NO_USAGE } from '../../src/queues/usage.js';

const script = 'model.fit(X, y)\n';
const result: SolutionCheckResult = {
  status: 'corrected',
  solution: { content: script },
  solutionDigest: 'digest',
  findings: [
    {
      leakageStatus: 'Yes Data Leakage',
      codeBlock: 'model.fit(X, y)',
      outcome: 'corrected',
      source: 'analysis',
      reason: 'It is scored on its own rows.',
      notes: ['the correction prints less than the script did\u001b[2J'],
    },
  ],
  usage: NO_USAGE,
  agent: { runner: 'anthropic' },
};

it('a finding shows that static analysis found it, and what its correction changed besides', () => {
  const file = { file: 'a.py', text: script, script, result };
  const shown = renderCheck(file, colorsFor({ isTTY: false } as NodeJS.WriteStream));
  expect(shown).toContain('found by static analysis; the agent did not report it');
  expect(shown).toContain('note: the correction prints less');
  expect(shown).not.toContain('\u001b[2J');
  expect(reportedFile(file).findings[0]?.message).toContain(
    'It is scored on its own rows. Note: the correction prints less',
  );
});

it('without a model, nothing says so twice', () => {
  const offline = { ...result, agent: { runner: 'offline' as const } };
  const shown = renderCheck(
    { file: 'a.py', script, result: offline },
    colorsFor({ isTTY: false } as NodeJS.WriteStream),
  );
  expect(shown).not.toContain('found by static analysis');
});
