import { expect, it } from 'vitest';
import { jsonEntry, reportedFile } from '../../src/cli/check/print-outcomes.js';
import { colorsFor } from '../../src/cli/terminal/colors.js';
import { renderCheck } from '../../src/cli/terminal/render-check.js';
import { readNotebook, toGithubAnnotations, toSarif } from '../../src/leakage/index.js';
import type { Finding, SolutionCheckResult } from '../../src/queues/solution-check.js';
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

it.each([
  [{ objection: 'the agent sees no leak here' }, 'objection: the agent sees no leak here'],
  [{ agreedBy: ['analysis', 'agent'] as const }, 'found by static analysis; the agent agrees'],
  [
    { source: 'agent' as const, agreedBy: ['agent'] as const },
    'found by the agent; static analysis sees no leak',
  ],
])('a finding shows who found it and who agrees: %j', (more, line) => {
  const findings = result.findings.map((finding) => ({ ...finding, ...more }) as Finding);
  const file = { file: 'a.py', text: script, script, result: { ...result, findings } };
  expect(renderCheck(file, colorsFor({ isTTY: false } as NodeJS.WriteStream))).toContain(line);
});

it('a finding in a notebook is named by cell and line in every format, the most severe one first', () => {
  const cells = [
    ['import pandas as pd\n', 'scale(X)'],
    ['y = 1\n', '\n', 'model.fit(X, y)\n', 'score(X, y)'],
  ];
  const text = JSON.stringify({ cells: cells.map((source) => ({ cell_type: 'code', source })) }, null, 1);
  const notebook = readNotebook(text);
  const finding = { leakageStatus: 'Yes Data Leakage', outcome: 'uncorrected', source: 'analysis' } as const;
  const findings: Finding[] = [
    {
      ...finding,
      severity: 'low',
      codeBlock: 'scale(X)',
      reason: 'It is fitted (line 2) and scored at line 6.',
    },
    {
      ...finding,
      severity: 'high',
      codeBlock: 'model.fit(X, y)\nscore(X, y)',
      reason: 'It trains (line 5).',
    },
  ];
  const notFollowed = [{ line: 4, reason: 'a call' }];
  const inNotebook = { ...result, findings, coverage: 'partial' as const, notFollowed };
  const file = { file: 'a.ipynb', text, script: notebook.source, notebook, result: inNotebook };

  const shown = renderCheck(file, colorsFor({ isTTY: false } as NodeJS.WriteStream), { explain: true });
  expect(shown).toMatch(
    /leak high .*cell 2 lines 3-4[\s\S]*It trains \(cell 2 line 3\)[\s\S]*leak low .*cell 1 line 2/,
  );
  expect(shown).toContain('It is fitted (cell 1 line 2) and scored at cell 2 line 4.');
  expect(shown).toMatch(/ 3 \| model\.fit/);
  expect(shown).toContain('not followed: cell 2 line 2: a call');

  const { findings: reported, notices = [] } = reportedFile(file);
  expect(reported.map(({ severity, line, endLine }) => [severity, line, endLine])).toEqual([
    ['high', lineOf('model.fit', text), lineOf('score(X', text)],
    ['low', lineOf('scale(X', text), lineOf('scale(X', text)],
  ]);
  expect(reported[0]?.message).toMatch(/^cell 2 lines 3-4: It trains \(cell 2 line 3\)/);
  expect(notices).toMatchObject([{ level: 'warning', line: lineOf('"y = 1', text) + 1 }]);
  expect(jsonEntry(file)).toMatchObject({
    findings: [
      { severity: 'high', cell: 2, startLine: 3, endLine: 4 },
      { severity: 'low', cell: 1, startLine: 2, endLine: 2 },
    ],
    notFollowed: [{ cell: 2, line: 2 }],
  });
});

it('lines that several leaks have in common are shown once', () => {
  const text = 'scale(X)\nscale(X)\n';
  const [first, second] = [{ codeBlock: 'scale(X)' }, { codeBlock: 'scale(X)\nscale(X)' }];
  const findings = [first, first, second].map((more) => ({ ...result.findings[0], ...more }) as Finding);
  const file = { file: 'a.py', text, script: text, result: { ...result, findings } };
  const shown = renderCheck(file, colorsFor({ isTTY: false } as NodeJS.WriteStream), { explain: true });
  expect(shown.match(/1 \| scale/g)).toHaveLength(2);
  expect(shown.match(/the lines are shown above/g)).toHaveLength(1);
});

it('what the agent objects is in every format, escaped, and with the lines of the cells', () => {
  const text = JSON.stringify({
    cells: [{ cell_type: 'code', source: ['x = 1\n', 'y = 2\n', 'model.fit(X, y)'] }],
  });
  const notebook = readNotebook(text);
  const objection = 'the agent sees no leak here: see line 2 (because of: a = 1\n::error::\u202e%0Ab)';
  const findings = result.findings.map((finding) => ({ ...finding, objection }));
  const file = { file: 'a.ipynb', text, script: notebook.source, notebook, result: { ...result, findings } };
  const shown = renderCheck(file, colorsFor({ isTTY: false } as NodeJS.WriteStream));
  expect(shown).toContain('objection: the agent sees no leak here: see cell 1 line 2 (because of: a = 1');
  expect(shown).toContain('::error::\\u{202e}');
  const [message = ''] = reportedFile(file).findings.map((finding) => finding.message);
  expect(message).toContain('Objection: the agent sees no leak here: see cell 1 line 2');
  expect(toSarif([reportedFile(file)]).runs[0]?.results[0]?.message.text).toBe(message);
  const annotation = toGithubAnnotations([reportedFile(file)]);
  expect(annotation.trimEnd().split('\n')).toHaveLength(1);
  expect(annotation).toContain('a = 1%0A::error::');
  expect(annotation).toContain('%250Ab');
  expect(jsonEntry(file)).toMatchObject({
    findings: [{ objection: expect.stringContaining('see cell 1 line 2') }],
  });
});

const lineOf = (part: string, text: string): number => text.slice(0, text.indexOf(part)).split('\n').length;

it('without a model, nothing says so twice', () => {
  const offline = { ...result, agent: { runner: 'offline' as const } };
  const shown = renderCheck(
    { file: 'a.py', script, result: offline },
    colorsFor({ isTTY: false } as NodeJS.WriteStream),
  );
  expect(shown).not.toContain('found by static analysis');
});
