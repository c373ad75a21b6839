import { cpSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { builtInDocument } from '../../scripts/openapi/document.js';
import type { OpenApiDocument } from '../../src/gateway/openapi/document.js';
import { JobSchema } from '../../src/gateway/operations/job-schemas.js';
import { packagePath } from '../../src/package-root.js';
import { JOB_STATES } from '../../src/producers/job-view.js';
import { KIND_NAMES, KINDS } from '../../src/queues/registry.js';
import { FindingSchema } from '../../src/queues/solution-check.js';
import { UsageSchema } from '../../src/queues/usage.js';
import { withPythonClient } from '../support/python-client.js';
import { hasPython } from './python-program.js';

const withPython = await hasPython();
/** The first python3 that can build and install a package by itself. */
async function findInstaller(): Promise<string | undefined> {
  const script =
    'from importlib.util import find_spec; raise SystemExit(not all(map(find_spec, ("pip", "setuptools", "venv", "wheel"))))';
  for (const command of ['python3', '/usr/bin/python3']) {
    if ((await execa(command, ['-c', script], { reject: false })).exitCode === 0) return command;
  }
  console.warn(
    'SKIPPED: Missing: a python3 with pip, setuptools, venv and wheel; no installation is tested.',
  );
  return undefined;
}

/** A type checker that knows keyword arguments of a TypedDict. */
async function findMypy(): Promise<string | undefined> {
  const { stdout } = await execa('mypy', ['--version'], { reject: false });
  const [, major, minor] = /^mypy (\d+)\.(\d+)/.exec(stdout ?? '') ?? [];
  if (Number(major) > 1 || Number(minor) >= 5) return 'mypy';
  console.warn('SKIPPED: Missing: mypy 1.5 or later; the types of the Python package are not checked.');
  return undefined;
}

const mypy = withPython ? await findMypy() : undefined;
const { version } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as { version: string };
const installer = withPython ? await findInstaller() : undefined;
const SRC = packagePath('clients', 'python', 'src');

/** The fields of the client's types, for each name whether it must be there; and the values of its literals. */
async function typesOfClient(): Promise<Record<string, Record<string, boolean>>> {
  const script = `
import json
from solution_fleet import types
shapes = {name: value for name, value in vars(types).items() if hasattr(value, "__required_keys__")}
print(json.dumps({
    name: {**{key: True for key in shape.__required_keys__}, **{key: False for key in shape.__optional_keys__}}
    for name, shape in shapes.items()
} | {"literals": {name: list(getattr(types, name).__args__) for name in ("KindName", "JobState")}}))`;
  const { stdout } = await execa('python3', ['-S', '-c', script], { env: withPythonClient() });
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
  let types: Record<string, Record<string, boolean>>;
  beforeAll(async () => {
    types = await typesOfClient();
  });

  it('have the fields of the contracts', () => {
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

  it('know every kind and every state', () => {
    expect(types.literals).toEqual({ KindName: KIND_NAMES, JobState: JOB_STATES });
  });
});

/** The route of the document that a request is for. */
function routeOf([method, path]: readonly [string, string], paths: OpenApiDocument['paths']): string {
  const isFor = (route: string) => {
    const [parts, wanted] = [route.split('/'), path.split('/')];
    return (
      parts.length === wanted.length &&
      parts.every((part, at) => /^\{.*\}$/.test(part) || part === wanted[at])
    );
  };
  return `${method} ${path in paths ? path : Object.keys(paths).find(isFor)}`;
}

describe.skipIf(!withPython)('the clients of the Python package', () => {
  it('have a method for every route of the HTTP API, with the same parameters by asyncio', async () => {
    const { paths } = builtInDocument();
    const routes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const program = packagePath('test', 'clients', 'called-routes.py');
    const { stdout } = await execa('python3', ['-S', program], {
      env: withPythonClient(),
      input: JSON.stringify(KIND_NAMES),
    });
    const called = JSON.parse(stdout) as Record<string, [string, string][]>;
    expect(Object.keys(called)).toEqual(['FleetClient', 'AsyncFleetClient']);
    for (const requests of Object.values(called)) {
      expect([...new Set(requests.map((request) => routeOf(request, paths)))].sort()).toEqual(routes.sort());
    }
  });
});

describe.skipIf(!withPython)('the package of the Python client', () => {
  it('reads event streams as the standard says, and takes no answer but the gateway’s', async () => {
    const tests = packagePath('clients', 'python', 'tests');
    const { stderr, exitCode } = await execa('python3', ['-S', '-m', 'unittest', 'discover', '-s', tests], {
      env: withPythonClient(),
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

  it.skipIf(installer === undefined)(
    'is built as sdist and wheel, and installed into a fresh environment',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'pip-'));
      const python = installer ?? 'python3';
      // A Python from 3.12 on has no distutils but that of setuptools.
      const env = { SETUPTOOLS_USE_DISTUTILS: undefined, PIP_DISABLE_PIP_VERSION_CHECK: '1' };
      const run = (program: string, ...args: string[]) => execa(program, args, { cwd: folder, env });
      cpSync(packagePath('clients', 'python'), join(folder, 'source'), { recursive: true });
      // The wheel is built from what the sdist contains.
      const build = `
import glob, os, sys, tarfile
from setuptools import build_meta
out = os.getcwd()
os.chdir("source")
with tarfile.open(os.path.join(out, build_meta.build_sdist(out))) as sdist:
    sdist.extractall(out)
os.chdir(glob.glob(os.path.join(out, "solution?fleet-*", ""))[0])
print(build_meta.build_wheel(out), file=sys.stderr)`;
      const { stderr } = await run(python, '-c', build);
      const wheel = stderr.trim().split('\n').at(-1) ?? '';
      expect(wheel).toBe(`solution_fleet-${version}-py3-none-any.whl`);
      await run(python, '-m', 'venv', '--without-pip', 'venv');
      const fresh = join(folder, 'venv', 'bin', 'python');
      await run(python, '-m', 'pip', '--python', fresh, 'install', '--no-index', wheel);
      const script = `
import json, os, solution_fleet
from importlib.metadata import metadata
from solution_fleet import aio
from solution_fleet.hooks import adk, aide, mle_star
about = metadata("solution-fleet")
print(json.dumps([about["Version"], about["Requires-Python"], about.get_all("License-File"), about.get_all("Requires-Dist"),
    os.path.exists(os.path.join(os.path.dirname(solution_fleet.__file__), "py.typed")), solution_fleet.__file__.startswith(os.getcwd())]))`;
      const { stdout } = await run(fresh, '-I', '-c', script);
      expect(JSON.parse(stdout)).toEqual([version, '>=3.9', ['LICENSE'], null, true, true]);
    },
  );

  // Said above where there is none.
  if (mypy !== undefined)
    it('passes a strict type check', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'mypy-'));
      const files = [SRC, packagePath('clients', 'python', 'tests')];
      const { stdout } = await execa(
        mypy,
        [
          '--config-file',
          packagePath('clients', 'python', 'pyproject.toml'),
          '--cache-dir',
          folder,
          ...files,
        ],
        { reject: false, env: { MYPYPATH: SRC } },
      );
      expect(stdout).toMatch(/^Success: no issues found/);
    });
});
