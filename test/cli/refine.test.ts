import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { emptyFolder, fleetCommand } from '../support/fleet-command.js';

const SOLUTION = [
  'from sklearn.preprocessing import OneHotEncoder, StandardScaler',
  'encoder = OneHotEncoder(handle_unknown="ignore")',
  'scaler = StandardScaler()',
  '',
].join('\n');
const OUTPUT = 'Baseline: 0.8196\nNo StandardScaler: 0.8102\nNo OneHotEncoder: 0.7886\n';

function project(output = OUTPUT): string {
  const folder = emptyFolder();
  writeFileSync(join(folder, 's.py'), SOLUTION);
  writeFileSync(join(folder, 'a.py'), 'print(score)\n');
  writeFileSync(join(folder, 'out.txt'), output);
  writeFileSync(join(folder, 'previous.txt'), 'encoder = OneHotEncoder(handle_unknown="ignore")\n');
  return folder;
}

const ARGS = ['refine', '--solution', 's.py', '--ablation', 'a.py', '--output', 'out.txt'];

describe('fleet refine', () => {
  it('REQ-P2O-015: prints summary, block with its line numbers, and plan', async () => {
    const { stdout, exitCode } = await fleetCommand(ARGS, { cwd: project() });
    expect(exitCode).toBe(0);
    expect(stdout).toContain('OneHotEncoder');
    expect(stdout).toContain('block (line 2)\n2 | encoder = OneHotEncoder(handle_unknown="ignore")\n');
    expect(stdout).toMatch(/plan\n\S/);
  });

  it('--json is the extract result and the summary', async () => {
    const { stdout, exitCode } = await fleetCommand([...ARGS, '--json'], { cwd: project() });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      outcome: 'selected',
      codeBlock: expect.stringContaining('OneHotEncoder'),
      summary: expect.stringContaining('OneHotEncoder'),
      attempts: 1,
    });
  });

  it('a block refined before yields to another', async () => {
    const { stdout } = await fleetCommand([...ARGS, '--previous', 'previous.txt', '--json'], {
      cwd: project(),
    });
    expect(JSON.parse(stdout).codeBlock).not.toContain('encoder = OneHotEncoder');
  });

  it('REQ-P2O-018: asks for no block if the output has no score, and says so', async () => {
    const { exitCode, stdout } = await fleetCommand(ARGS, { cwd: project('') });
    expect(exitCode).toBe(1);
    expect(stdout).not.toMatch(/most impactful/i);
    expect(stdout).toContain('no block was selected: the ablation printed no score');
  });

  it('a missing file is named', async () => {
    const { stderr, exitCode } = await fleetCommand([
      'refine',
      '--solution',
      'no.py',
      '--ablation',
      'a.py',
      '--output',
      'o',
    ]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('no.py does not exist');
  });
});
