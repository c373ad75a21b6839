import { describe, expect, it } from 'vitest';
import { UsageError } from '../../src/errors.js';
import {
  analyzeLeakage,
  cellOfLine,
  readNotebook,
  repairLeak,
  replaceInNotebook,
} from '../../src/leakage/index.js';
import { withSource } from '../../src/leakage/notebook.js';

const lines = (text: string): string[] => text.split(/(?<=\n)/);
const code = (text: string) => ({
  cell_type: 'code',
  execution_count: 3,
  metadata: { tags: ['kept'] },
  outputs: [{ output_type: 'stream', name: 'stdout', text: ['kept\n'] }],
  source: lines(text),
});

const notebook = `${JSON.stringify(
  {
    cells: [
      { cell_type: 'markdown', metadata: {}, source: ['# Title\n', 'text'] },
      code('%load_ext autoreload\nimport pandas as pd\nfrom sklearn.linear_model import LogisticRegression'),
      code('%%bash\nls -la'),
      code(
        'from sklearn.model_selection import train_test_split\nfrom sklearn.preprocessing import StandardScaler',
      ),
      code(
        "df = pd.read_csv('train.csv')\ny = df.pop('t')\nsc = StandardScaler()\n%time X = sc.fit_transform(df)",
      ),
      code('a, b, ya, yb = train_test_split(X, y, random_state=0)'),
      code('lr = LogisticRegression().fit(a, ya)\nprint(lr.score(b, yb))'),
    ],
    metadata: { kernelspec: { name: 'python3' } },
    nbformat: 4,
    nbformat_minor: 5,
  },
  null,
  1,
)}\n`;

describe('notebooks', () => {
  it('give their Python cells in order as one script', async () => {
    const { source, cells } = readNotebook(notebook);
    expect(cells.map(({ cell }) => cell)).toEqual([2, 4, 5, 6, 7]);
    expect(source).not.toContain('ls -la');
    expect((await analyzeLeakage(source)).parsed).toBe(true);
  });

  it('name the cell and the line of a finding', async () => {
    const script = readNotebook(notebook);
    const [finding] = (await analyzeLeakage(script.source)).findings;
    expect(finding?.kind).toBe('scaling');
    expect(cellOfLine(script, finding?.line ?? 0)).toEqual({ cell: 5, line: 4 });
    expect(cellOfLine(script, finding?.endLine ?? 0)).toEqual({ cell: 6, line: 1 });
  });

  it('keep the order of all fields: a correction changes no line but its own', () => {
    const file = `${JSON.stringify(
      {
        nbformat: 4,
        cells: [
          { attachments: {}, source: [], metadata: {}, cell_type: 'markdown' },
          { outputs: [], source: ['x = 1\n', 'y = 2'], __proto__field: 1, cell_type: 'code' },
        ],
      },
      null,
      1,
    )}\n`;
    expect(replaceInNotebook(file, { start: 0, end: 5 }, 'x = 3')).toBe(file.replace('x = 1', 'x = 3'));
  });

  it('take the line break between two cells for no part of either', () => {
    const file = JSON.stringify({ cells: [code('x = 1'), code('y = 2'), code('z = 3')] });
    expect(replaceInNotebook(file, { start: 0, end: 6 }, 'x = 1\n')).toBe(file);
    const { source } = readNotebook(replaceInNotebook(file, { start: 0, end: 12 }, 'x = 4\n'));
    expect(source).toBe('x = 4\nz = 3');
  });

  it('keep each line in its cell, and lose a cell only with its last line', () => {
    const cells = [
      code('a = 1\nb = fit(a)'),
      { cell_type: 'markdown', source: ['# Split'] },
      code('c = fit(b)'),
      code('d = split(c)\nprint(d)'),
    ];
    const file = JSON.stringify({ cells, nbformat: 4 }, null, 1);
    const written = withSource(file, 'import m\na = 1\nd = split(a)\nb = fit(d)\nc = fit(b, d)\nprint(d)');
    const { cells: now } = JSON.parse(written) as { cells: { source: string }[] };
    expect(now.map(({ source }) => [source].flat().join(''))).toEqual([
      'import m\na = 1',
      '# Split',
      'd = split(a)\nb = fit(d)\nc = fit(b, d)\nprint(d)',
    ]);
    expect(Object.keys(JSON.parse(written) as object)).toEqual(['cells', 'nbformat']);
  });

  it('keep outputs, metadata and the other cells when a block is replaced', async () => {
    const { source } = readNotebook(notebook);
    const [finding] = (await analyzeLeakage(source)).findings;
    const repair = await repairLeak(source, finding?.codeBlock ?? '');
    if (!repair.ok || finding === undefined) throw new Error('the block is expected to be repaired');
    const written = replaceInNotebook(notebook, finding, repair.replacement);
    const [before, after] = [JSON.parse(notebook), JSON.parse(written)] as {
      cells: Record<string, unknown>[];
    }[];
    expect(after?.cells.map(({ source: _source, ...rest }) => rest)).toEqual(
      before?.cells.map(({ source: _source, ...rest }) => rest),
    );
    expect([0, 1, 2, 3, 6].map((at) => after?.cells[at])).toEqual(
      [0, 1, 2, 3, 6].map((at) => before?.cells[at]),
    );
    expect((await analyzeLeakage(readNotebook(written).source)).findings).toEqual([]);
    expect(written.startsWith('{\n "cells"')).toBe(true);
    expect(written.endsWith('}\n')).toBe(true);
  });

  it('are refused with one sentence where they are none', () => {
    expect(() => readNotebook('print(1)')).toThrow(UsageError);
    expect(() => readNotebook('{"a": 1}')).toThrow(/no list of cells/);
  });

  it('keep their numbers as they were written where a block is replaced', () => {
    const numbers = '[12345678901234567890, 1.0, -0, 1E5, 1e400, "2.50", "a\\"7"]';
    const text = `{"cells":[{"cell_type":"code","source":"x = 1","outputs":${numbers}}],"nbformat":4}`;
    const replaced = replaceInNotebook(text, { start: 0, end: 5 }, 'y = 20.0');
    expect(replaced).toBe(text.replace('x = 1', 'y = 20.0'));
  });
});
