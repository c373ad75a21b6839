import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { packagePath } from '../../src/package-root.js';
import { hasPython } from '../clients/python-program.js';
import { PackedPackage } from '../support/packed-package.js';

const LEAKY_SCRIPT = `import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

data = pd.read_csv("train.csv")
X = data.drop(columns=["target"])
y = data["target"]
scaler = StandardScaler()
X_scaled = scaler.fit_transform(X)
X_train, X_val, y_train, y_val = train_test_split(X_scaled, y, random_state=0)
model = LogisticRegression().fit(X_train, y_train)
print(f"Final Validation Performance: {model.score(X_val, y_val)}")
`;
const { version } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as { version: string };

const withPython = await hasPython();
let installed: PackedPackage;
beforeAll(() => {
  installed = PackedPackage.install();
  return () => rmSync(dirname(installed.project), { recursive: true, force: true });
}, 300_000);

describe('the packed package', () => {
  it('holds the compiled code, prompts, grammar and licenses, and nothing else', () => {
    for (const file of ['dist/cli/main.js', 'dist/index.js', 'dist/index.d.ts', 'LICENSE', 'package.json']) {
      expect(installed.files).toContain(file);
    }
    for (const file of ['assets/tree-sitter-python.wasm', 'assets/tree-sitter-python.LICENSE']) {
      expect(installed.files).toContain(file);
    }
    expect(installed.files.filter((file) => /^prompts\/.*\.md$/.test(file)).length).toBeGreaterThanOrEqual(5);
    const shipped =
      /^(dist|prompts|assets|examples|docs|editors|clients\/python\/src)\/|^clients\/python\/(pyproject\.toml|README\.md|LICENSE)$|^(package\.json|CHANGELOG\.md|README\.md|LICENSE)$/;
    expect(installed.files.filter((file) => !shipped.test(file))).toEqual([]);
    expect(installed.files.filter((file) => /\.(new|tmp|log|tgz|pyc|cache)$|\.fleet\//.test(file))).toEqual(
      [],
    );
  });

  it('depends on no development tools', () => {
    expect(installed.installedPackages()).toContain('bullmq');
    for (const tool of ['vitest', 'typescript', 'tsx'])
      expect(installed.installedPackages()).not.toContain(tool);
  });
});

describe('the fleet command of an installed package', () => {
  it('says its version', () => {
    const { status, stdout } = installed.run(join(installed.project, 'node_modules', '.bin', 'fleet'), [
      '--version',
    ]);
    expect([status, stdout.trim()]).toEqual([0, version]);
  });

  it('checks a script in its own process: `fleet check FILE`', () => {
    writeFileSync(join(installed.project, 'leaky.py'), LEAKY_SCRIPT);
    const command = join(installed.project, 'node_modules', '.bin', 'fleet');
    const { status, stdout, stderr } = installed.run(command, ['check', 'leaky.py', '--json']);
    expect([status, stderr]).toEqual([1, expect.any(String)]);
    const [entry, ...others] = JSON.parse(stdout) as { file: string; status: string; findings: unknown[] }[];
    expect(others).toEqual([]);
    expect(entry).toMatchObject({ file: 'leaky.py', agent: { runner: 'offline' } });
    expect(entry?.findings).not.toEqual([]);
  });

  it.skipIf(!withPython)('is found by the Python package in it', () => {
    const source = join('node_modules', 'solution-fleet', 'clients', 'python', 'src');
    const program = `import sys; sys.path.insert(0, "${source}")
import solution_fleet; print(solution_fleet.check_file("leaky.py")["status"])`;
    writeFileSync(join(installed.project, 'leaky.py'), LEAKY_SCRIPT);
    expect(installed.run('python3', ['-c', program])).toMatchObject({ status: 0, stdout: 'corrected\n' });
  });
});

describe('docs/adding-a-job-kind.md of an installed package', () => {
  /** Runs commands of the page as a shell does, each if the one before it succeeded. */
  const shell = (commands: string, cwd: string) =>
    installed.run('sh', ['-e', '-c', `cd "${cwd}"\n${commands}`]);

  it('makes a kind from an empty folder, which runs', () => {
    const page = readFileSync(
      join(installed.project, 'node_modules/solution-fleet/docs/adding-a-job-kind.md'),
      'utf8',
    );
    const [begin = '', run = ''] = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text]) => text);
    const install = /^npm install .*$/m;
    expect(begin).toMatch(install);
    // What npm would unpack is there already, beside the new folder.
    expect(shell(begin.replace(install, 'ln -s ../node_modules node_modules'), '.').status).toBe(0);
    const files = [...page.matchAll(/Create `([^`]+)`:\n\n```\w+\n([\s\S]*?)^```$/gm)];
    expect(files.map(([, name]) => name)).toEqual(['kinds.js', 'scorer.md']);
    for (const [, name = '', text = ''] of files)
      writeFileSync(join(installed.project, 'score-kinds', name), text);
    expect(run).toContain('\nnpx fleet submit score ');
    const { status, stdout, stderr } = shell(run, 'score-kinds');
    expect([status, stderr]).toEqual([0, expect.any(String)]);
    expect(JSON.parse(stdout)).toMatchObject({
      kind: 'score',
      state: 'completed',
      result: { score: 0.91 },
    });
  });
});

describe('importing the installed package', () => {
  /** In the order of what they load: each finds what the ones before it have loaded. */
  const ENTRIES = [
    'solution-fleet/contamination',
    'solution-fleet',
    'solution-fleet/http',
    'solution-fleet/worker',
    'solution-fleet/testing',
  ];
  let loadedBy: ReturnType<PackedPackage['packagesLoadedBy']>;
  beforeAll(() => {
    loadedBy = installed.packagesLoadedBy(ENTRIES);
  });

  it('loads neither the Anthropic SDK nor Express with the root', () => {
    const loaded = loadedBy.get('solution-fleet') ?? [];
    // What it does load shows that the probe sees both kinds of modules.
    expect([...loaded]).toEqual(expect.arrayContaining(['solution-fleet', 'zod', 'bullmq']));
    for (const heavy of [
      '@anthropic-ai/sdk',
      'express',
      '@bull-board/api',
      '@bull-board/express',
      'pino',
      'vscode-languageserver',
      '@modelcontextprotocol/sdk',
    ]) {
      expect([...loaded]).not.toContain(heavy);
    }
  });

  it('loads no queue, Redis or HTTP with the contamination detector', () => {
    const loaded = [...(loadedBy.get('solution-fleet/contamination') ?? [])];
    expect(loaded).toContain('solution-fleet');
    for (const heavy of ['bullmq', 'ioredis', '@anthropic-ai/sdk', 'express'])
      expect(loaded).not.toContain(heavy);
  });

  it('finds every entry as code', () => {
    // What cannot be imported ends the process that all are imported in.
    expect([...loadedBy.keys()]).toEqual(ENTRIES);
  });

  it('and as types, of which a strict compiler that also checks declarations has no complaint', () => {
    const uses = ENTRIES.map(
      (entry, at) => `import * as entry${at} from '${entry}';\nexport const all${at} = entry${at};\n`,
    );
    const wrong = 'export const wrong: number = entry1.loadConfig();\n';
    const ownKind = [
      'const { defineKind, z } = entry1;',
      'const payload = z.object({ n: z.number().default(1) });',
      "const own = defineKind({ name: 'a', payload, result: payload, process: async ({ n }) => ({ n: n + 1 }) });",
      'export const input: entry1.PayloadInputOf<typeof own> = { tags: {} };',
      'export const result: entry1.ResultOf<typeof own> = { n: 1 };',
      "export const wrongResult: entry1.ResultOf<typeof own> = { n: 'a' };",
    ];
    const text = [wrong, ...uses, ownKind.join('\n')].join('');
    writeFileSync(join(installed.project, 'use.ts'), text);
    const options = [
      ...['--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', 'false'],
      // Without the declarations of browsers, which take longer to check than those of the package.
      ...['--module', 'nodenext', '--target', 'es2023', '--lib', 'es2023'],
      ...['--types', 'node', '--typeRoots', packagePath('node_modules', '@types')],
      // Each further checker checks the declarations of the standard library again.
      ...['--checkers', '1'],
    ];
    const compiler = packagePath('node_modules', 'typescript', 'bin', 'tsc');
    const args = [compiler, '--noEmit', ...options, 'use.ts'];
    // The compiler, a program in Go, would collect garbage for a fifth of its time.
    const { status, stdout } = installed.run(process.execPath, args, { GOGC: 'off' });
    // The two errors are those that are made here on purpose: the types are really looked at.
    expect(status).not.toBe(0);
    const wrongs = ['use.ts(1,14): error TS2322', `use.ts(${text.split('\n').length},59): error TS2322`];
    expect(stdout.match(/^\S.*error TS\d+/gm)).toEqual(wrongs);
  });

  it('blocks deep imports', () => {
    const deep = [
      'solution-fleet/dist/errors.js',
      'solution-fleet/src/errors.ts',
      'solution-fleet/queues/kind',
    ];
    const { stdout } = installed.evaluate(
      `const codes = ${JSON.stringify(deep)}.map((one) => import(one).then(() => 'loaded', (error) => error.code));
       console.log(JSON.stringify(await Promise.all(codes)));`,
    );
    expect(JSON.parse(stdout)).toEqual(deep.map(() => 'ERR_PACKAGE_PATH_NOT_EXPORTED'));
  });
});
