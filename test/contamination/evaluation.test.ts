import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, describe, expect, it } from 'vitest';
import { proportion } from '../../scripts/evaluation/labeled-pairs.js';
import { readKnownSolutions, readPairs } from '../../scripts/evaluation/read-pairs.js';
import { testProgram } from '../support/programs.js';
import { buildPairs } from './pairs/build-pairs.js';

const folder = mkdtempSync(join(tmpdir(), 'contamination-'));
afterAll(() => rmSync(folder, { recursive: true }));

const pairs = buildPairs('tuning');
const few = [
  ...pairs.filter(({ kind }) => kind === 'renamed').slice(0, 3),
  ...pairs.filter(({ kind }) => kind === 'different-task').slice(0, 4),
];
const lines = (rows: readonly unknown[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const file = (name: string, content: string): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};
const evaluate = (...args: string[]) =>
  execa(process.execPath, [testProgram('scripts/evaluation/contamination'), ...args], { reject: false });

describe('SPEC-SIL-009: evaluation of labeled pairs', () => {
  it('SPEC-SIL-009: an interval holds the fraction, also at its ends', () => {
    expect(proportion(0, 31)).toMatchObject({ fraction: 0, low: 0 });
    expect(proportion(0, 31).high).toBeCloseTo(0.11, 2);
    expect(proportion(35, 35)).toMatchObject({ fraction: 1, high: 1 });
    expect(proportion(50, 100).low).toBeCloseTo(0.404, 3);
    expect(proportion(0, 0)).toMatchObject({ low: 0, high: 1 });
  });

  it('SPEC-SIL-009: broken rows are named by their line and left out', () => {
    const text = `${lines(few.slice(0, 2))}\n{"id": "x"\n${JSON.stringify({ ...few[2], label: 'maybe' })}\n[]\n`;
    const { rows, broken } = readPairs(text);
    expect(rows).toHaveLength(2);
    expect(broken.map(({ line }) => line)).toEqual([4, 5, 6]);
    expect(broken[1]?.problem).toMatch(/label/);
    expect(readKnownSolutions('{"testCaseId": "a", "solution": ""}').broken[0]?.problem).toMatch(/solution/);
  });

  it('SPEC-SIL-009: the command prints rates, intervals and what it could not read', async () => {
    const background = pairs.slice(0, 200).map(({ task, known }) => ({ testCaseId: task, solution: known }));
    const path = file('pairs.jsonl', `${lines(few)}not JSON\n`);
    const { stdout, stderr, exitCode } = await evaluate(
      path,
      '--background',
      file('known.jsonl', lines(background.slice(-3))),
      '--json',
    );
    expect(exitCode).toBe(0);
    expect(String(stderr)).toMatch(/pairs\.jsonl:8: /);
    expect(String(stderr)).toMatch(/1 of 8 rows cannot be read/);
    const report = JSON.parse(String(stdout));
    expect(report).toMatchObject({
      recall: { count: 3, of: 3 },
      falsePositives: { count: 0, of: 4 },
      unread: 1,
    });
  });

  it('SPEC-SIL-009: the table names every kind and the wrong rows', async () => {
    const wrong = { ...few[0], id: 'mislabeled', label: 'clean' };
    const { stdout } = await evaluate(file('table.jsonl', lines([...few, wrong])));
    expect(String(stdout)).toMatch(/renamed +3\/3 +100\.0 %/);
    expect(String(stdout)).toMatch(/clean different-task +0\/4/);
    expect(String(stdout)).toMatch(/mislabeled {2}renamed {2}confidence/);
  });

  it('SPEC-SIL-009: nothing to read is an error with exit code 2', async () => {
    expect((await evaluate(file('empty.jsonl', '\n'))).exitCode).toBe(2);
    expect((await evaluate(join(folder, 'missing.jsonl'))).exitCode).toBe(2);
    expect((await evaluate()).exitCode).toBe(2);
  });
});
