import { z } from 'zod';
import type { NamedLeak } from '../../agents/analysis-answer.js';
import { inCells } from '../../leakage/notebook.js';
import { coverageFields } from '../../processors/leakage-check/coverage-fields.js';
import { SEVERITIES } from '../../queues/solution-check.js';
import { scriptOf } from '../arguments.js';
import { pageField, pageFields, pageOf } from '../page.js';
import { tool } from '../tool.js';

/** Of what was not followed, so many are named: the first ones say most. */
const MAX_NOT_FOLLOWED = 3;

export const checkLeakage = tool({
  name: 'check_leakage',
  description:
    'Finds data leakage in a Python ML script or notebook by static analysis: the model or its preparation learns from rows that it is scored on. No model is asked. Call it before you trust a validation score.',
  input: z.strictObject({
    script: z.string().optional().describe('Text of the script'),
    scriptFile: z.string().optional().describe('Or its path (.py, .ipynb)'),
    page: pageField,
  }),
  fileFields: ['scriptFile'],
  output: z.object({
    status: z.enum(['clean', 'leaky', 'not-checked']),
    leaks: z.array(z.object({ kind: z.string(), severity: z.string(), where: z.string(), why: z.string() })),
    ...pageFields,
    coverage: z.string().optional(),
    notFollowed: z.array(z.string()).optional(),
  }),
  role: 'submit',
  submits: false,
  handle: async ({ script, scriptFile, page }, call) => {
    const names = { text: 'script', file: 'scriptFile' };
    const { content, notebook } = await scriptOf({ text: script, file: scriptFile }, names, call);
    const asRead = (sentence: string) => (notebook === undefined ? sentence : inCells(sentence, notebook));
    const analysis = await (await call.host.analysis()).analyze(content, call.signal);
    const { coverage, notAnalyzed } = coverageFields(analysis, {
      opinion: 'analysis',
      detectedBy: 'analysis',
      isPython: analysis.parsed,
    });
    const { shown, ...pages } = pageOf(bySeverity(analysis.findings), page);
    const withoutLeaks: 'clean' | 'not-checked' = notAnalyzed === undefined ? 'clean' : 'not-checked';
    const notFollowed = analysis.notFollowed
      .slice(0, MAX_NOT_FOLLOWED)
      .map(({ line, reason }) => asRead(`line ${line}: ${reason}`));
    return {
      status: analysis.findings.length > 0 ? ('leaky' as const) : withoutLeaks,
      leaks: shown.map(({ kind, severity, line, endLine, explanation, whatToDo }) => ({
        kind,
        severity,
        where: asRead(line === endLine ? `line ${line}` : `line ${line} to line ${endLine}`),
        why: `${asRead(explanation)} ${whatToDo}`,
      })),
      ...pages,
      coverage,
      ...(notFollowed.length === 0 ? {} : { notFollowed }),
    };
  },
});

function bySeverity(leaks: readonly NamedLeak[]): NamedLeak[] {
  return leaks.toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));
}
