import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.js';
import { COMMAND_PARTS } from '../../src/cli/start/command-parts.js';
import { runHere } from '../support/command-in-process.js';
import { emptyFolder } from '../support/fleet-command.js';

/** A folder with what the commands read, and with what the settings of this file name. */
function project(): string {
  const folder = emptyFolder();
  const files: Readonly<Record<string, string>> = {
    'x.py': 'print(1)\n',
    'known.jsonl': '{"testCaseId": "a", "solution": "print(1)"}\n',
    'data.json': '{"solution": {"content": "print(1)"}}',
    'empty/leakage-detection.md': '',
    'unknown/leakage-detection.md': '{{ code }} {{ scirpt }}',
    'lacks/summarize.md': 'Summarize.',
    'strange/leakages.md': '{{ code }}',
    'front/extractor.md': '---\nagent: extractor\n',
    'none/README.md': 'no prompt',
    'no-kind.mjs': 'export const kind = { name: "score" };\n',
    'throws.mjs': 'throw new Error("no licence");\n',
    'syntax.mjs': 'export const = 1;\n',
    'plain.txt': 'a file',
  };
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  mkdirSync(join(folder, 'folder/leakage-detection.md'), { recursive: true });
  mkdirSync(join(folder, 'nothing'));
  return folder;
}

interface Fault {
  readonly env: Readonly<Record<string, string>>;
  /** What the sentence says. */
  readonly says: string | RegExp;
  readonly code: string;
}

const configuration = (env: Fault['env'], says: Fault['says']): Fault => ({
  env,
  says,
  code: 'invalid-configuration',
});
const prompts = (folder: string, says: Fault['says'], code = 'prompt-not-found'): Fault => ({
  env: { FLEET_PROMPTS: folder },
  says,
  code,
});
const kinds = (module: string, says: Fault['says']): Fault => ({
  env: { FLEET_KINDS_FROM: module },
  says,
  code: 'invalid-kind',
});
const limits = (text: string, says: Fault['says']) => configuration({ FLEET_MODEL_LIMITS: text }, says);

/** A setting that no command accepts: its name or its value is wrong wherever it is read. */
const OF_EVERY_COMMAND: readonly Fault[] = [
  configuration(
    { FLEET_BUDGET: '1' },
    'FLEET_BUDGET: there is no such setting; did you mean "FLEET_BUDGET_USD"?',
  ),
  configuration({ FLEET_CONCURENCY: '1' }, 'did you mean "FLEET_CONCURRENCY"?'),
  limits('{bad', 'FLEET_MODEL_LIMITS: expected JSON'),
  limits('{"*":{"requests":-1}}', 'FLEET_MODEL_LIMITS: *.requests'),
  limits('{"*":{"request":1}}', /FLEET_MODEL_LIMITS: \*: .*request/),
  configuration({ FLEET_MODEL_PRICES: '{"gpt-5":{"input":1}}' }, 'FLEET_MODEL_PRICES: gpt-5.output'),
  configuration({ FLEET_MODELS: ',' }, 'FLEET_MODELS: lists nothing'),
  configuration({ FLEET_BUDGET_USD: '$5' }, 'FLEET_BUDGET_USD: must be a number'),
];

const OF_A_GATEWAY: readonly Fault[] = [
  kinds('missing.mjs', 'missing.mjs cannot be used: Cannot find module'),
  kinds('no-kind.mjs', 'no-kind.mjs cannot be used: it exports no kind'),
  kinds('throws.mjs', /throws.mjs cannot be used: .*no licence/),
  kinds('syntax.mjs', 'syntax.mjs cannot be used'),
  configuration(
    { FLEET_WORKSPACE_ROOTS: 'plain.txt' },
    /FLEET_WORKSPACE_ROOTS: ".*plain.txt" is not a directory/,
  ),
];

/** What the offline agent works with, in a worker or in the process of the command. */
const OF_THE_ANALYSIS: readonly Fault[] = [
  configuration({ FLEET_PYTHON: 'no-such-python' }, 'FLEET_PYTHON: "no-such-python" is not a program'),
  // Starting this name throws at once.
  configuration(
    { FLEET_PYTHON: '/etc/passwd/python' },
    'FLEET_PYTHON: "/etc/passwd/python" is not a program',
  ),
  configuration({ FLEET_TRIAL_PYTHON: './x.py' }, 'FLEET_TRIAL_PYTHON: "./x.py" is not a program'),
  configuration({ FLEET_TRIAL_SANDBOX: 'dokcer run' }, 'FLEET_TRIAL_SANDBOX: "dokcer" is not a program'),
];

const OF_A_WORKER: readonly Fault[] = [
  ...OF_A_GATEWAY,
  ...OF_THE_ANALYSIS,
  prompts('missing', 'The prompt folder missing cannot be read'),
  prompts('plain.txt', 'The prompt folder plain.txt cannot be read'),
  prompts('nothing', 'The prompt folder nothing has no prompt file'),
  prompts('none', 'The prompt folder none has no prompt file'),
  prompts('strange', 'FLEET_PROMPTS holds leakages.md, which replaces no prompt'),
  prompts('folder', 'leakage-detection.md cannot be read: EISDIR'),
  prompts('front', 'extractor.md cannot be used: its front matter has no closing ---'),
  prompts('empty', 'leakage-detection cannot be used: it never shows {{ code }}', 'prompt-variable'),
  prompts('lacks', 'summarize cannot be used: it never shows', 'prompt-variable'),
  prompts('unknown', '{{ scirpt }} is not a variable of it', 'prompt-variable'),
  configuration({ FLEET_WORKSPACE_ROOTS: 'x,missing' }, /FLEET_WORKSPACE_ROOTS: ".*x" does not exist/),
  configuration({ FLEET_AGENT: 'anthropic' }, 'FLEET_AGENT: is anthropic, but there is no credential'),
  configuration(
    { FLEET_AGENT: 'openai', FLEET_MODEL: 'gpt-5' },
    'FLEET_AGENT: is openai, but there is no credential for the OpenAI API; set OPENAI_API_KEY, or OPENAI_BASE_URL',
  ),
  configuration(
    { FLEET_AGENT: 'openai', OPENAI_BASE_URL: 'http://127.0.0.1:1' },
    'FLEET_MODEL: must name a model if FLEET_AGENT is openai',
  ),
  configuration(
    { FLEET_MODEL: 'claude-sonet-5' },
    'no model "claude-sonet-5"; did you mean "claude-sonnet-5"?',
  ),
  limits('{"claude-hiaku-4-5":{"requests":1}}', 'did you mean "claude-haiku-4-5"?'),
];

/** A command of each sort, with the arguments that it needs. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  check: ['check', 'x.py'],
  refine: ['refine', '--solution', 'x.py', '--ablation', 'x.py', '--output', 'x.py'],
  watch: ['watch'],
  lsp: ['lsp', '--stdio'],
  mcp: ['mcp'],
  'check by agents': ['check', 'x.py'],
  'refine by agents': ['refine', '--solution', 'x.py', '--ablation', 'x.py', '--output', 'x.py'],
  'submit --wait': ['submit', 'solution-check', '--data', 'data.json', '--wait'],
  wait: ['wait', 'solution-check:1'],
  worker: ['worker'],
  serve: ['serve', '--port', '0'],
  'serve --workers': ['serve', '--port', '0', '--workers', '1'],
  demo: ['demo'],
  doctor: ['doctor'],
  config: ['config'],
  submit: ['submit', 'solution-check', '--data', 'data.json'],
  get: ['get', 'solution-check:1'],
  cancel: ['cancel', 'solution-check:1'],
  record: ['record', 'solution-check:1'],
  replay: ['replay', 'x.json'],
  retry: ['retry', 'solution-check:1'],
  list: ['list'],
  dead: ['dead', 'list'],
  contamination: ['contamination', '--known', 'known.jsonl', '--output', 'x.py'],
  known: ['known', 'list'],
  costs: ['costs'],
  disagreements: ['disagreements'],
  report: ['report', '--run', 'a'],
  token: ['token', 'list'],
};
const ANALYZING = ['check', 'refine', 'watch', 'lsp', 'mcp'];
const WORKERS = [
  'check by agents',
  'refine by agents',
  'submit --wait',
  'wait',
  'worker',
  'serve --workers',
  'demo',
  'doctor',
  'config',
];

const cwd = project();

const faultsOf = (name: string): readonly Fault[] => {
  if (WORKERS.includes(name)) return [...OF_EVERY_COMMAND, ...OF_A_WORKER];
  if (ANALYZING.includes(name)) return [...OF_EVERY_COMMAND, ...OF_THE_ANALYSIS];
  return name === 'serve' ? [...OF_EVERY_COMMAND, ...OF_A_GATEWAY] : OF_EVERY_COMMAND;
};

describe('a configuration that a command cannot use is refused at its start, in one sentence', () => {
  it.each(Object.entries(ARGUMENTS))('fleet %s', async (name, args) => {
    const agents = name.endsWith('by agents') ? { ANTHROPIC_AUTH_TOKEN: 'test-token' } : {};
    for (const { env, says, code } of faultsOf(name)) {
      const withAgents = env.FLEET_AGENT === undefined ? { ...agents, ...env } : env;
      const { stdout, stderr, exitCode } = await runHere(args, cwd, withAgents);
      const [sentence = '', whatToDo = '', ...more] = stderr.trimEnd().split('\n');
      const where = `${name} with ${JSON.stringify(env)}`;
      expect({ where, exitCode, sentence }).toEqual({
        where,
        exitCode: 2,
        sentence: expect.stringMatching(new RegExp(`^error .*\\(${code}\\)$`)),
      });
      if (typeof says === 'string') expect(sentence).toContain(says);
      else expect(sentence).toMatch(says);
      expect(whatToDo).toMatch(/^ {6}\S/);
      expect(more).toEqual([]);
      if (name !== 'config') expect(stdout).toBe('');
    }
  });

  it('every command says what it runs', async () => {
    const commands = (await createProgram()).commands.map((command) => command.name());
    expect(Object.keys(COMMAND_PARTS).sort()).toEqual([...commands].sort());
    expect(new Set(Object.values(ARGUMENTS).map(([command]) => command))).toEqual(new Set(commands));
  });
});

describe('without a Redis, and with FLEET_EMBEDDED_REDIS=off as in the container image', () => {
  it.each([
    [['worker']],
    [['serve', '--port', '0']],
    [['token', 'add', 'somebody']],
    [['submit', 'solution-check', '--data', 'data.json']],
    [['list']],
    [['doctor']],
  ])('fleet %j keeps no jobs where they would be lost', async (args) => {
    const { stdout, stderr, exitCode } = await runHere(args, cwd, { FLEET_EMBEDDED_REDIS: 'off' });
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 2 });
    expect(stderr).toMatch(/^error FLEET_REDIS_URL: is not set, .*\(invalid-configuration\)$/m);
  });
});

describe('what a command does not use', () => {
  it.each([
    ['prompts of a worker, where workers are elsewhere', 'list', { FLEET_PROMPTS: 'missing' }],
    ['a service of Kubernetes', 'list', { FLEET_REDIS_PORT: 'tcp://10.0.0.1:6379', FLEET_SERVICE_HOST: 'x' }],
    ['variables of the clients and containers', 'list', { FLEET_URL: 'x', FLEET_REDIS_MEMORY: '1gb' }],
  ])('%s: fleet %s runs', async (_what, command, env) => {
    const redis = { FLEET_REDIS_URL: 'redis://127.0.0.1:1' };
    const { stderr } = await runHere([command], cwd, { ...env, ...redis });
    expect(stderr).toMatch(/^error .*\(redis-unreachable\)/);
  });

  it.each(
    OF_A_WORKER.filter((fault) => !OF_THE_ANALYSIS.includes(fault) && fault.env.FLEET_AGENT === undefined),
  )('of agents and workers, to a check without both: $env', async ({ env }) => {
    const { stdout, exitCode } = await runHere(['check', '--offline', 'x.py'], cwd, env);
    expect({ stdout, exitCode }).toMatchObject({
      stdout: expect.stringMatching(/^x.py: clean/),
      exitCode: 0,
    });
  });

  it('a variable that resembles no setting is named', async () => {
    const env = { FLEET_SHIP_NAME: 'x', FLEET_REDIS_URL: 'redis://127.0.0.1:1' };
    const { stderr } = await runHere(['list'], cwd, env);
    expect(stderr).toMatch(/^FLEET_SHIP_NAME has no effect/);
  });
});
