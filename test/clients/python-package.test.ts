import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { JobSchema } from '../../src/gateway/operations/job-schemas.js';
import { packagePath } from '../../src/package-root.js';
import { JOB_STATES } from '../../src/producers/job-view.js';
import { KIND_NAMES, KINDS } from '../../src/queues/registry.js';
import { FindingSchema } from '../../src/queues/solution-check.js';
import { UsageSchema } from '../../src/queues/usage.js';
import { hasPython } from './python-program.js';

const withPython = await hasPython();
/** The first python3 that can build and install a package by itself. */
async function findInstaller(): Promise<string | undefined> {
  const script =
    'from importlib.util import find_spec; raise SystemExit(not all(map(find_spec, ("pip", "setuptools", "wheel"))))';
  for (const command of ['python3', '/usr/bin/python3']) {
    if ((await execa(command, ['-c', script], { reject: false })).exitCode === 0) return command;
  }
  console.warn('SKIPPED: Missing: a python3 with pip, setuptools and wheel; no installation is tested.');
  return undefined;
}

const installer = withPython ? await findInstaller() : undefined;
const SRC = packagePath('clients', 'python', 'src');

/** The fields of the client's types: for each name whether it must be there. */
async function typesOfClient(): Promise<Record<string, Record<string, boolean>>> {
  const script = `
import json
from solution_fleet import types
shapes = {name: value for name, value in vars(types).items() if hasattr(value, "__required_keys__")}
print(json.dumps({
    name: {**{key: True for key in shape.__required_keys__}, **{key: False for key in shape.__optional_keys__}}
    for name, shape in shapes.items()
} | {"literals": {name: list(getattr(types, name).__args__) for name in ("KindName", "JobState")}}))`;
  const { stdout } = await execa('python3', ['-c', script], { env: { PYTHONPATH: SRC } });
  return JSON.parse(stdout);
}

/** The fields of a contract, except for the version that producers set. */
function fieldsOf(schema: z.ZodObject): Record<string, boolean> {
  return Object.fromEntries(
    Object.entries(schema.shape)
      .filter(([name]) => name !== 'v')
      .map(([name, field]) => [name, !(field as z.ZodType).safeParse(undefined).success]),
  );
}

const pascal = (kind: string) => kind.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());

describe.skipIf(!withPython)('the types of the Python client', () => {
  it('have the fields of the contracts', async () => {
    const types = await typesOfClient();
    for (const kind of KIND_NAMES) {
      const { payload, result, suppliedByChild } = KINDS[kind];
      // What a child can supply must be in the payload of a job without children.
      const supplied = Object.fromEntries(Object.keys(suppliedByChild).map((field) => [field, true]));
      expect(types[`${pascal(kind)}Payload`]).toEqual({ ...fieldsOf(payload), ...supplied });
      expect(types[`${pascal(kind)}Result`]).toEqual(fieldsOf(result));
    }
    expect(types.Job).toEqual(fieldsOf(JobSchema));
    expect(types.Usage).toEqual(fieldsOf(UsageSchema));
    expect(types.Finding).toEqual(fieldsOf(FindingSchema));
    expect(types.CheckedScript).toEqual({ ...types.SolutionCheckResult, file: true, error: false });
  });

  it('know every kind and every state', async () => {
    const { literals } = await typesOfClient();
    expect(literals).toEqual({ KindName: KIND_NAMES, JobState: JOB_STATES });
  });
});

describe.skipIf(!withPython)('the package of the Python client', () => {
  it('reads event streams as the standard says, and takes no answer but the gateway’s', async () => {
    const tests = packagePath('clients', 'python', 'tests');
    const { stderr, exitCode } = await execa('python3', ['-m', 'unittest', 'discover', '-s', tests], {
      env: { PYTHONPATH: SRC },
      reject: false,
    });
    expect([exitCode, stderr]).toEqual([0, expect.stringMatching(/Ran \d\d tests/)]);
  });

  it('needs nothing but the standard library', async () => {
    const { stdout } = await execa(
      'python3',
      [
        '-I',
        '-c',
        `
import sys
before = set(sys.modules)
sys.path.insert(0, ${JSON.stringify(SRC)})
import solution_fleet
files = {getattr(sys.modules[name], "__file__", None) or "" for name in set(sys.modules) - before}
print([file for file in files if "-packages" in file])`,
      ],
      { reject: false },
    );
    expect(stdout).toBe('[]');
  });

  it.skipIf(installer === undefined)('installs with pip, with its types', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pip-'));
    cpSync(packagePath('clients', 'python'), join(folder, 'source'), { recursive: true });
    const options = ['--no-deps', '--no-index', '--no-build-isolation', '--disable-pip-version-check'];
    const target = join(folder, 'target');
    const python = installer ?? 'python3';
    await execa(python, ['-m', 'pip', 'install', ...options, '--target', target, join(folder, 'source')], {
      // A Python from 3.12 on has no distutils but that of setuptools.
      env: { SETUPTOOLS_USE_DISTUTILS: undefined },
    });
    const script = `
import os, solution_fleet
print(solution_fleet.FleetClient.__module__, os.path.exists(os.path.join(os.path.dirname(solution_fleet.__file__), "py.typed")))`;
    const { stdout } = await execa(python, ['-c', script], { cwd: folder, env: { PYTHONPATH: target } });
    expect(stdout).toBe('solution_fleet.client True');
  });
});
