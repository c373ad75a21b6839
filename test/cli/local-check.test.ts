import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { packagePath } from '../../src/package-root.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { emptyFolder, fleetCommand, startFleetCommand } from '../support/fleet-command.js';
import { PROGRAM_FLAGS, testProgram } from '../support/programs.js';
import { redisOfFile } from '../support/redis.js';

const SCALER = readFileSync(packagePath('examples', 'scripts', 'leaky_scaler.py'), 'utf8');
const CLEAN = readFileSync(packagePath('examples', 'scripts', 'clean_pipeline.py'), 'utf8');
const BLEND = readFileSync(packagePath('examples', 'scripts', 'leaky_blend_weights.py'), 'utf8');
/** Lines that take the grammar longer than a script may take. */
const HANGING = `x = ${'\\\n'.repeat(20_000)}1\n`;

const cellsOf = (script: string) =>
  script.split('\n\n').map((source) => ({ cell_type: 'code', metadata: {}, outputs: [], source }));
const notebook = (cells: readonly object[], language = 'python') =>
  JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata: { kernelspec: { language } }, cells }, null, 1);

/** Files of every sort, with what the check says of each. */
const FILES: Readonly<Record<string, string | Buffer>> = {
  'scaler.py': SCALER,
  'blend.py': BLEND,
  'clean.py': CLEAN,
  'crlf.py': SCALER.replaceAll('\n', '\r\n'),
  'partial.py': `exec(more)\n${CLEAN}`,
  'none.py': 'x = 1\n',
  'broken.py': SCALER.replace('import', 'z = (1,\nimport'),
  'empty.py': '',
  'binary.py': Buffer.from([1, 2, 0, 3]),
  'declares.py': '# coding: utf-7\nx = 1\n',
  'large.py': `x = 1\n${'#'.repeat(2 ** 20)}`,
  'scaler.ipynb': notebook([{ cell_type: 'markdown', metadata: {}, source: 'A model' }, ...cellsOf(SCALER)]),
  'magic.ipynb': notebook([
    { cell_type: 'code', metadata: {}, outputs: [], source: '%%bash\npython train.py' },
    ...cellsOf(CLEAN),
  ]),
  'kernel.ipynb': notebook([{ cell_type: 'code', metadata: {}, outputs: [], source: 'y <- 1' }], 'R'),
  'no.ipynb': '{"cells": 1}',
};

function project(files: Readonly<Record<string, string | Buffer>> = FILES): string {
  const folder = emptyFolder();
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

const contents = (folder: string) =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'base64')]));

const OFFLINE = { FLEET_AGENT: 'offline' };

describe('a check in this process and one by a fleet with the offline agent', () => {
  const redis = redisOfFile();
  let fleet: TestFleet;
  let byFleet: Record<string, string>;
  beforeAll(async () => {
    fleet = await startTestFleet(redis, 'table');
    await fleet.worker(createOfflineRunner());
    byFleet = { FLEET_REDIS_URL: redis.url, FLEET_PREFIX: 'table' };
  });
  afterAll(() => fleet.close());

  const all = [...Object.keys(FILES), 'gone.py'];
  const some = [
    'scaler.py',
    'blend.py',
    'partial.py',
    'broken.py',
    'empty.py',
    'scaler.ipynb',
    'kernel.ipynb',
  ];
  it.each([
    [['--json', '--write'], all],
    [['--explain'], some],
    [['--format', 'sarif', '--fail-on', 'high'], some],
    [
      ['--format', 'github', '--fail-on-partial'],
      ['partial.py', 'scaler.ipynb'],
    ],
  ])('%j: print, write and end alike', async (options, files) => {
    const folders = [project(), project()] as const;
    const args = ['check', ...options, ...files];
    const here = await fleetCommand(args, { cwd: folders[0], env: OFFLINE });
    const there = await fleetCommand(args, { cwd: folders[1], env: byFleet });
    expect(here.stdout).toBe(there.stdout);
    expect(here.stderr).toBe(`agents: offline (FLEET_AGENT)\n${there.stderr}`);
    expect(here.exitCode).toBe(there.exitCode);
    expect(contents(folders[0])).toEqual(contents(folders[1]));
    if (options.includes('--json')) expect(JSON.parse(here.stdout)).toHaveLength(files.length);
  });

  it('--json and -: standard input', async () => {
    const args = ['check', '--json', '-'];
    const here = await fleetCommand(args, { env: OFFLINE, input: BLEND });
    const there = await fleetCommand(args, { env: byFleet, input: BLEND });
    expect(here.stdout).toBe(there.stdout);
    expect([here.exitCode, there.exitCode]).toEqual([1, 1]);
  });

  it('refine: print and end alike', async () => {
    const refinement = (name: string) => packagePath('examples', 'refinement', name);
    const args = ['refine', '--solution', refinement('solution.py'), '--ablation', refinement('ablation.py')];
    for (const output of [refinement('output.txt'), '-']) {
      const here = await fleetCommand([...args, '--json', '--output', output], { env: OFFLINE });
      const there = await fleetCommand([...args, '--json', '--output', output], { env: byFleet });
      expect(here).toEqual({ ...there, stderr: `agents: offline (FLEET_AGENT)\n${there.stderr}` });
    }
  });
});

describe('a check in this process needs nothing', () => {
  /** What is exported, and what each would take it to. */
  let server: Server;
  let connections = 0;
  let exported: Record<string, string>;
  beforeAll(async () => {
    server = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    exported = {
      FLEET_REDIS_URL: `redis://127.0.0.1:${port}`,
      ANTHROPIC_API_KEY: 'test-key',
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      HTTP_PROXY: `http://127.0.0.1:${port}`,
      HTTPS_PROXY: `http://127.0.0.1:${port}`,
      FLEET_KINDS_FROM: 'no-such-kinds.mjs',
      FLEET_PROMPTS: 'no-such-folder',
    };
  });
  afterAll(() => server.close());

  it('no server on the PATH, no home, no folder to write to, and nothing that is exported is asked', async () => {
    const cwd = project({ 'scaler.py': SCALER, 'clean.ipynb': notebook(cellsOf(CLEAN)) });
    const scratch = emptyFolder();
    const before = contents(cwd);
    const main = testProgram('src/cli/main');
    const { stdout, stderr, exitCode } = await execa(
      process.execPath,
      [...PROGRAM_FLAGS, main, 'check', '--offline', 'scaler.py', 'clean.ipynb'],
      {
        cwd,
        // A folder that is not there stands for the home of a user who has none.
        env: { ...exported, PATH: join(scratch, 'bin'), TMPDIR: scratch, HOME: join(scratch, 'none') },
        extendEnv: false,
        reject: false,
      },
    );
    expect(stdout).toMatch(/^scaler\.py: corrected$/m);
    expect(stdout).toMatch(/^clean\.ipynb: clean$/m);
    expect(stderr).toBe('agents: offline static analysis (--offline); FLEET_REDIS_URL is not used');
    expect(exitCode).toBe(1);
    expect(contents(cwd)).toEqual(before);
    expect(readdirSync(scratch)).toEqual([]);
    expect(connections).toBe(0);
  });

  it.each([
    ['check', ['check', '--offline', 'scaler.py']],
    ['check', ['check', '--offline', '--json', '--write', '--workspace', '.', '--budget', '1', 'scaler.py']],
    [
      'refine',
      ['refine', '--offline', '--solution', 'scaler.py', '--ablation', 'scaler.py', '--output', 'out.txt'],
    ],
    ['contamination', ['contamination', '--known', 'known.jsonl', '--output', 'scaler.py']],
  ])('%s connects to nothing: %j', async (_name, args) => {
    const known = '{"testCaseId": "a", "solution": "print(1)"}\n';
    const cwd = project({ 'scaler.py': SCALER, 'out.txt': 'Baseline: 0.8\n', 'known.jsonl': known });
    const { stdout, exitCode } = await fleetCommand(args, { cwd, env: exported });
    expect([0, 1]).toContain(exitCode);
    expect(stdout).not.toBe('');
    expect(connections).toBe(0);
  });

  it('the hook for commits does the same', async () => {
    const hooks = readFileSync(packagePath('.pre-commit-hooks.yaml'), 'utf8');
    const [, entry = ''] = /^ *entry: fleet (.+)$/m.exec(hooks) ?? [];
    const cwd = project({ 'clean.py': CLEAN });
    const args = [...entry.split(' '), 'clean.py'];
    const { stdout, exitCode } = await fleetCommand(args, {
      cwd,
      env: { ...exported, FLEET_AGENT: 'anthropic' },
    });
    expect({ stdout, exitCode }).toEqual({ stdout: 'clean.py: clean\n', exitCode: 0 });
    expect(connections).toBe(0);
  });

  it('loads nothing of the fleet, be it the queue, Redis, HTTP or a provider', async () => {
    const cwd = project({ 'scaler.py': SCALER });
    const list = join(cwd, 'loaded.txt');
    // The debugger hears of each script that is compiled, be it a module or CommonJS.
    const watch = `import { writeFileSync } from 'node:fs';
      import { Session } from 'node:inspector';
      const urls = [];
      const debugging = new Session();
      debugging.connect();
      debugging.on('Debugger.scriptParsed', ({ params }) => urls.push(params.url));
      debugging.post('Debugger.enable');
      process.once('exit', () => writeFileSync(${JSON.stringify(list)}, urls.join('\\n')));`;
    const main = join(process.env.TEST_PROGRAMS ?? '', 'modules', 'src', 'cli', 'main.js');
    const { stdout } = await execa(
      process.execPath,
      ['--import', dataUrl(watch), main, 'check', '--offline', 'scaler.py'],
      { cwd, env: { NODE_PATH: '' }, reject: false },
    );
    expect(stdout).toContain('scaler.py: corrected');
    const loaded = readFileSync(list, 'utf8').split('\n');
    const packages = loaded.flatMap(
      (url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/.][^/]*)/.exec(url)?.[1] ?? [],
    );
    expect([...new Set(packages)].sort()).toEqual([
      'commander',
      'diff',
      'fastest-levenshtein',
      'picocolors',
      'piscina',
      'zod',
    ]);
    const files = loaded.flatMap((url) => /.*\/modules\/src\/(.+)\.js/.exec(url)?.[1] ?? []);
    const rooms = new Set(files.map((file) => file.split('/')[0]));
    for (const room of [
      'producers',
      'payloads',
      'gateway',
      'http-client',
      'known',
      'language-server',
      'mcp',
    ]) {
      expect(rooms, room).not.toContain(room);
    }
    expect(files.filter((file) => /redis|^cli\/session|worker|telemetry|logger/.test(file))).toEqual([]);
  });
});

const dataUrl = (module: string) => `data:text/javascript,${encodeURIComponent(module)}`;

describe('many files in this process', () => {
  it('60 files, one of which hangs, one is too large and one is none: each other has its verdict', async () => {
    const names = Array.from({ length: 60 }, (_, at) => `${at}.py`);
    const files = Object.fromEntries(names.map((name, at) => [name, `x = ${at}\n`]));
    const odd = { '17.py': HANGING, '50.py': '#'.repeat(2 ** 20 + 1), '55.py': '', '59.py': SCALER };
    const cwd = project({ ...files, ...odd });
    const env = { ...OFFLINE, FLEET_ANALYSIS_TIMEOUT_MS: '400' };
    const { stdout, exitCode } = await fleetCommand(['check', '--json', ...names], { cwd, env });
    const entries = JSON.parse(stdout) as {
      readonly file: string;
      readonly status?: string;
      readonly error?: { readonly code: string };
    }[];
    expect(entries.map(({ file }) => file)).toEqual(names);
    const said = entries.map(({ file, status, error }) => [file, error?.code ?? status]);
    expect(Object.fromEntries(said)).toEqual({
      ...Object.fromEntries(names.map((name) => [name, 'clean'])),
      '17.py': 'analysis-limit',
      '50.py': 'payload-too-large',
      '55.py': 'unreadable-input',
      '59.py': 'corrected',
    });
    expect(exitCode).toBe(2);
  });

  it('one whose analysis needs more memory than it may ends its thread, and no other verdict', async () => {
    const lines = Array.from({ length: 20_000 }, (_, at) => `d["f${at}"] = d["c${at}"] * 2\n`).join('');
    const greedy = `import pandas as pd\nd = pd.read_csv("a.csv")\n${lines}`;
    const cwd = project({ 'a.py': CLEAN, 'greedy.py': greedy, 'b.py': CLEAN, 'scaler.py': SCALER });
    const env = { ...OFFLINE, FLEET_ANALYSIS_HEAP_MB: '64' };
    const args = ['check', '--json', 'a.py', 'greedy.py', 'b.py', 'scaler.py'];
    const { stdout } = await fleetCommand(args, { cwd, env });
    const said = (JSON.parse(stdout) as { status?: string; error?: { code: string; message: string } }[]).map(
      ({ status, error }) => error?.message ?? status,
    );
    expect(said).toEqual(['clean', expect.stringContaining('FLEET_ANALYSIS_HEAP_MB'), 'clean', 'corrected']);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s in the middle: exit %i, and no half-written file', async (signal, code) => {
    const names = Array.from({ length: 100 }, (_, at) => `${at}.py`);
    const cwd = project(Object.fromEntries(names.map((name) => [name, SCALER])));
    const running = startFleetCommand(['check', '--write', ...names], { cwd, env: OFFLINE });
    await running.printed('agents: offline');
    expect(await running.end(signal)).toBe(code);
    expect(running.lines.filter((line) => line.includes('.py'))).toEqual([]);
    const texts = new Set(names.map((name) => readFileSync(join(cwd, name), 'utf8')));
    expect(texts.size).toBeLessThanOrEqual(2);
    expect(readdirSync(cwd).length).toBe(names.length);
  });
});
