import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packagePath } from '../../src/package-root.js';

const COMPILER = packagePath('node_modules', 'typescript', 'bin', 'tsc');

/** A strict project of somebody else's, whose compiler also looks into the declarations of its libraries. */
function compile(code: string): { status: number | null; stdout: string } {
  const project = mkdtempSync(join(tmpdir(), 'declarations-'));
  mkdirSync(join(project, 'node_modules'));
  symlinkSync(packagePath(), join(project, 'node_modules', 'solution-fleet'));
  writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module', private: true }));
  writeFileSync(join(project, 'use.ts'), code);
  const options = ['--strict', '--exactOptionalPropertyTypes', '--module', 'nodenext', '--target', 'es2023'];
  const types = ['--types', 'node', '--typeRoots', packagePath('node_modules', '@types')];
  // Each further checker checks the declarations of the standard library again.
  const args = [
    COMPILER,
    '--noEmit',
    '--checkers',
    '1',
    '--skipLibCheck',
    'false',
    ...options,
    ...types,
    'use.ts',
  ];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: project, encoding: 'utf8' });
  return { status, stdout };
}

describe('the declarations, without skipLibCheck', () => {
  it('of every entry of the package compile, and are really looked at', () => {
    const entries = ['solution-fleet', 'solution-fleet/worker', 'solution-fleet/contamination'];
    const uses = entries.map(
      (entry, at) => `import * as entry${at} from '${entry}';\nexport const all${at} = entry${at};\n`,
    );
    // The one error is the one that is made here on purpose.
    const { status, stdout } = compile(`export const wrong: number = entry0.loadConfig();\n${uses.join('')}`);
    expect(status).not.toBe(0);
    expect(stdout.match(/^\S.*error TS\d+/gm)).toEqual(['use.ts(1,14): error TS2322']);
  });
});
