import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packagePath } from '../../src/package-root.js';
import { emptyFolder } from '../support/fleet-command.js';
import { PROGRAM_FLAGS, testProgram } from '../support/programs.js';

const MAIN = testProgram('src/cli/main');
const LEAKY = readFileSync(packagePath('examples', 'scripts', 'leaky_scaler.py'));

/** Runs a line of shell in which \`$fleet\` is the command; the status is that of the command, not of its reader. */
function shell(line: string): { status: number | null; stdout: string; stderr: string } {
  const cwd = emptyFolder();
  writeFileSync(join(cwd, 'leaky.py'), LEAKY);
  writeFileSync(join(cwd, 'clean.py'), 'print(1)\n');
  const script = `fleet() { "$NODE" ${PROGRAM_FLAGS.join(' ')} "$MAIN" "$@"; }; ${line}; exit "\${PIPESTATUS[0]}"`;
  const env = { ...process.env, NODE: process.execPath, MAIN };
  return spawnSync('bash', ['-c', script], { cwd, env, encoding: 'utf8' });
}

describe('a reader of standard output that has gone', () => {
  it.each([
    ['fleet check --json clean.py | true', 0],
    ['fleet check --json leaky.py | true', 1],
    ['fleet config | head -1', 0],
    ['fleet --help | true', 0],
  ])('%s ends quietly with exit %i', (line, status) => {
    const ended = shell(line);
    expect(ended.stderr).not.toMatch(/EPIPE|\bat /);
    expect(ended.status).toBe(status);
  });
});

describe('a standard output that cannot be written', () => {
  it.each(['fleet check --json clean.py > /dev/full', 'fleet config > /dev/full'])(
    '%s: one sentence, exit 2',
    (line) => {
      const { status, stderr } = shell(line);
      expect(status).toBe(2);
      expect(stderr.match(/standard output could not be written: .*ENOSPC/g)).toHaveLength(1);
      expect(stderr).not.toMatch(/\n\s+at /);
    },
  );
});
