import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { packagePath } from '../../src/package-root.js';
import { correction, leaks } from '../support/agent-answers.js';
import { emptyFolder, fleetCommand } from '../support/fleet-command.js';
import { errorReply, type MessagesApi, type Script, startMessagesApi } from '../support/messages-api.js';

const CLEAN = `import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split
t = pd.read_csv("t.csv")
a, b, c, d = train_test_split(t[["x"]], t["y"])
print(Ridge().fit(a, c).score(b, d))
`;
const LEAKY = 'a = fit(all)\nprint(a)\n';

interface Entry {
  readonly coverage?: string;
  readonly checkedBy?: string[];
  readonly error?: { readonly code: string };
}
interface Invocation {
  readonly executionSuccessful: boolean;
  readonly toolExecutionNotifications: {
    readonly level: string;
    readonly locations: {
      readonly physicalLocation: { readonly artifactLocation: { readonly uri: string } };
    }[];
  }[];
}

let api: MessagesApi | undefined;
afterEach(async () => {
  await api?.close();
  api = undefined;
});

function project(files: Record<string, string | Buffer>): string {
  const folder = emptyFolder();
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

/** Environment in which a stand-in for the Messages API answers. */
async function answering(reply: Script): Promise<Record<string, string>> {
  api = await startMessagesApi({ reply });
  return { ANTHROPIC_API_KEY: 'test-key', ANTHROPIC_BASE_URL: api.url };
}

/** The same for the Chat Completions API. */
async function answeringChat(reply: Script): Promise<Record<string, string>> {
  api = await startMessagesApi({ reply });
  return {
    FLEET_AGENT: 'openai',
    FLEET_MODEL: 'gpt-test',
    FLEET_MODEL_PRICES: '{"gpt-test":{"input":1,"output":2}}',
    OPENAI_API_KEY: 'test-key',
    OPENAI_BASE_URL: api.url,
  };
}

describe('fleet check', () => {
  it('a clean script: exit 0, no Redis, no key and no service needed', async () => {
    const cwd = project({ 'clean.py': CLEAN });
    const { stdout, stderr, exitCode } = await fleetCommand(['check', 'clean.py'], { cwd });
    expect({ stdout, exitCode }).toEqual({ stdout: 'clean.py: clean\n', exitCode: 0 });
    expect(stderr).toBe('agents: offline static analysis (no ANTHROPIC_API_KEY is set)\n');
  });

  it.each(['--budget', '--budget-usd'])(
    '%s ends the check of a file whose calls may cost more',
    async (flag) => {
      const cwd = project({ 'one.py': CLEAN });
      const env = await answering(() => leaks());
      const run = async (budget: string) => {
        const { stdout } = await fleetCommand(['check', 'one.py', '--json', flag, budget], { cwd, env });
        return (JSON.parse(stdout) as { error?: { code: string } }[]).map(
          ({ error }) => error?.code ?? 'checked',
        );
      };
      expect(await run('0.0001')).toEqual(['budget-exhausted']);
      expect(await run('1000')).toEqual(['checked']);
    },
  );

  it('--budget is for all files together: what the first ones cost is not left for the others', async () => {
    const files = ['one.py', 'two.py', 'three.py', 'four.py'];
    const cwd = project(Object.fromEntries(files.map((name, at) => [name, `${CLEAN}x = ${at}\n`])));
    // The call may cost up to 0.4 dollars, and costs 0.1: two or three fit into 0.6.
    const reply = { ...leaks(), usage: { input_tokens: 1_000, output_tokens: 10_000 } };
    const env = await answering(() => reply);
    const { stdout, exitCode } = await fleetCommand(['check', '--json', '--budget', '0.6', ...files], {
      cwd,
      env,
    });
    const ends = (JSON.parse(stdout) as Entry[]).map(({ error }) => error?.code ?? 'checked');
    expect(exitCode).toBe(2);
    expect(ends).toContain('budget-exhausted');
    expect(ends.filter((end) => end === 'checked').length).toBeGreaterThan(0);
    expect(api?.requests.length).toBe(ends.filter((end) => end === 'checked').length);
  });

  it.each([
    ['Messages', answering],
    ['Chat Completions', answeringChat],
  ])(
    'a leaky script, by the %s API: exit 1, with finding and diff, and without colors in a pipe',
    async (_, serve) => {
      const cwd = project({ 'leaky.py': LEAKY });
      const env = await serve([leaks('a = fit(all)'), correction('a = fit(train)')]);
      const { stdout, exitCode } = await fleetCommand(['check', 'leaky.py'], { cwd, env });
      expect(exitCode).toBe(1);
      expect(stdout).toBe(
        [
          'leaky.py: corrected (coverage none: checked by agent)',
          '  leak data leakage · line 1 · corrected',
          '       note: not shown that the correction changes nothing but the leak: no score was followed in the script',
          '  not followed: line 1: no score of a model was found, so nothing was checked',
          '  @@ line 1 @@',
          '  -a = fit(all)',
          '  +a = fit(train)',
          '   print(a)',
          '',
        ].join('\n'),
      );
      expect(readFileSync(join(cwd, 'leaky.py'), 'utf8')).toBe(LEAKY);
    },
  );

  it('--write puts the corrected script in the place of the file, with its line endings', async () => {
    const cwd = project({ 'leaky.py': LEAKY.replaceAll('\n', '\r\n') });
    const env = await answering([leaks('a = fit(all)'), correction('a = fit(train)')]);
    const { exitCode } = await fleetCommand(['check', '--write', 'leaky.py'], { cwd, env });
    expect(exitCode).toBe(1);
    expect(readFileSync(join(cwd, 'leaky.py'), 'utf8')).toBe('a = fit(train)\r\nprint(a)\r\n');
  });

  it('--json: an entry per file in the order given, and nothing else on standard output', async () => {
    const cwd = project({ 'a.py': CLEAN, 'empty.py': '', 'b.py': CLEAN });
    const { stdout, exitCode } = await fleetCommand(['check', '--json', 'a.py', 'empty.py', 'b.py'], { cwd });
    const entries = JSON.parse(stdout);
    expect(exitCode).toBe(2);
    expect(entries.map(({ file }: { file: string }) => file)).toEqual(['a.py', 'empty.py', 'b.py']);
    expect(entries[0]).toMatchObject({
      status: 'clean',
      solution: { content: CLEAN },
      agent: { runner: 'offline' },
    });
    expect(entries[1]).toEqual({
      file: 'empty.py',
      error: { code: 'unreadable-input', message: 'empty.py is empty' },
    });
  });

  it('reads a script in the encoding that it declares, and writes it back in it', async () => {
    const [fit, leaky] = ['fit(a, c)', 'fit(t[["x"]], t["y"])'];
    // “é” in Latin-1, and a character of which cp932 has a backslash as the second byte.
    const scripts = { 'latin.py': ['latin-1', [0xe9]], 'japanese.py': ['cp932', [0x95, 0x5c]] } as const;
    const bytes = (encoding: string, sign: readonly number[], call: string): Buffer =>
      Buffer.concat([
        Buffer.from(`# -*- coding: ${encoding} -*-\nprint("`),
        Buffer.from(sign),
        Buffer.from(`")\n${CLEAN.replace(fit, call)}`),
      ]);
    const cwd = project(
      Object.fromEntries(Object.entries(scripts).map(([name, [as, sign]]) => [name, bytes(as, sign, leaky)])),
    );
    const { exitCode } = await fleetCommand(['check', '--write', ...Object.keys(scripts)], { cwd });
    expect(exitCode).toBe(1);
    for (const [name, [as, sign]] of Object.entries(scripts)) {
      expect(readFileSync(join(cwd, name)), name).toEqual(bytes(as, sign, fit));
    }
  });

  it('- reads standard input', async () => {
    const { stdout, exitCode } = await fleetCommand(['check', '--json', '-'], { input: CLEAN });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)[0]).toMatchObject({ file: '-', status: 'clean' });
  });

  it('--fail-on never waves a leak of unknown severity through', async () => {
    const cwd = project({ 'leaky.py': LEAKY });
    const env = await answering([leaks('a = fit(all)'), correction('a = 1')]);
    expect((await fleetCommand(['check', '--fail-on', 'high', 'leaky.py'], { cwd, env })).exitCode).toBe(1);
  });

  it('--fail-on high lets a low leak pass, and still shows it', async () => {
    const content = readFileSync(packagePath('examples', 'scripts', 'leaky_scaler.py'), 'utf8');
    const cwd = project({ 'scaler.py': content });
    const { stdout, exitCode } = await fleetCommand(['check', '--fail-on', 'high', 'scaler.py'], { cwd });
    expect(stdout).toContain('leak low');
    expect(exitCode).toBe(0);
  });
});

describe('fleet check with bad input says one clear sentence and exits with 2', () => {
  it.each([
    ['missing', 'gone.py', undefined, 'gone.py does not exist'],
    ['an empty folder', '.', undefined, '. holds no Python script (.py)'],
    ['empty', 'x.py', '', 'x.py is empty'],
    ['binary', 'x.py', Buffer.from([1, 2, 0, 3]), 'x.py is not a text file (it holds a zero byte)'],
    ['not UTF-8', 'x.py', Buffer.from([0x66, 0xff, 0xfe]), 'x.py is not UTF-8 text'],
    [
      'not of its declared encoding',
      'x.py',
      Buffer.from('# coding: ascii\nx = "\u00e9"\n', 'latin1'),
      'x.py is not text in the encoding that it declares (ascii)',
    ],
    ['over the limit', 'x.py', `x = 1\n${'#'.repeat(2 ** 20 - 5)}`, 'x.py is larger than 1048576 bytes'],
  ])('%s', async (_what, file, content, sentence) => {
    const cwd = project(content === undefined ? {} : { [file]: content });
    const { stdout, stderr, exitCode } = await fleetCommand(['check', file], { cwd });
    expect(exitCode).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain(sentence);
  });

  it('what was not checked, beside what was: exit 2, and every format says so', async () => {
    const cwd = project({
      'broken.py': CLEAN.replace('t = ', 'z = (1,\nt = '),
      'unknown.py': CLEAN.replace(
        'Ridge().fit(a, c).score(b, d)',
        'mean_error(d, Search(a, c).best.predict(b))',
      ),
      'kernel.ipynb': JSON.stringify({
        cells: [{ cell_type: 'code', source: 'model <- train(y ~ ., data)' }],
        metadata: { kernelspec: { language: 'R' } },
      }),
      'partial.py': `exec(more)\n${CLEAN}`,
      'none.py': 'x = 1\n',
      'clean.py': CLEAN,
    });
    const files = ['broken.py', 'unknown.py', 'kernel.ipynb', 'partial.py', 'none.py', 'clean.py'];
    const json = await fleetCommand(['check', '--json', ...files], { cwd });
    expect(json.exitCode).toBe(2);
    const entries = (JSON.parse(json.stdout) as Entry[]).map(({ coverage, checkedBy, error }) => [
      coverage,
      checkedBy?.join(),
      error?.code,
    ]);
    expect(entries).toEqual([
      ['none', '', 'cannot-analyze'],
      ['none', '', 'cannot-analyze'],
      [undefined, undefined, 'cannot-analyze'],
      ['partial', 'analysis', undefined],
      ['none', '', undefined],
      ['full', 'analysis', undefined],
    ]);
    const sarif = await fleetCommand(['check', '--format', 'sarif', ...files], { cwd });
    const [invocation] = (JSON.parse(sarif.stdout) as { runs: [{ invocations: Invocation[] }] }).runs[0]
      .invocations;
    expect(invocation?.executionSuccessful).toBe(false);
    const levels = (invocation?.toolExecutionNotifications ?? []).map(
      ({ level, locations: [at] }) => `${level} ${at?.physicalLocation.artifactLocation.uri}`,
    );
    expect(levels).toEqual(
      expect.arrayContaining([
        'error broken.py',
        'error unknown.py',
        'error kernel.ipynb',
        'warning partial.py',
      ]),
    );
    expect(levels).not.toContain('error none.py');
    const github = await fleetCommand(['check', '--format', 'github', 'kernel.ipynb', 'partial.py'], { cwd });
    expect(github.stdout).toMatch(/^::error file=kernel.ipynb,title=Not checked::.* language R/m);
    expect(github.stdout).toMatch(/^::warning file=partial.py,line=1,title=Not followed::.*run time/m);
  });

  it('--fail-on-partial: exit 1 for what the analysis could not follow to its end', async () => {
    const cwd = project({ 'partial.py': `exec(more)\n${CLEAN}`, 'clean.py': CLEAN });
    const { stdout, exitCode } = await fleetCommand(
      ['check', '--fail-on-partial', 'partial.py', 'clean.py'],
      {
        cwd,
      },
    );
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^partial.py: clean \(coverage partial: checked by analysis\)$/m);
    expect(stdout).toMatch(/^clean.py: clean$/m);
    expect((await fleetCommand(['check', '--fail-on-partial', 'clean.py'], { cwd })).exitCode).toBe(0);
  });

  it('a wrong key', async () => {
    const cwd = project({ 'leaky.py': LEAKY });
    const env = await answering(() => errorReply(401, 'invalid x-api-key'));
    const { stderr, exitCode } = await fleetCommand(['check', 'leaky.py'], { cwd, env });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('unauthorized');
    expect(stderr).toContain('ANTHROPIC_API_KEY');
    expect(api?.requests).toHaveLength(1);
  });

  it('an unknown model', async () => {
    const cwd = project({ 'leaky.py': LEAKY });
    const env = { ...(await answering(() => errorReply(404, 'model: gpt'))), FLEET_MODEL: 'gpt' };
    const { stderr, exitCode } = await fleetCommand(['check', 'leaky.py'], { cwd, env });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('unknown-model');
  });

  it('a flag that there is not', async () => {
    const { stderr, exitCode } = await fleetCommand(['check', '--jsno', 'x.py']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--json');
  });

  it('control characters of a script do not reach the terminal', async () => {
    const cwd = project({ 'x.py': 'a = fit(all) # \u001b[31mred\nprint(a)\n' });
    const env = await answering([leaks('a = fit(all)'), correction('a = 1')]);
    const { stdout } = await fleetCommand(['check', 'x.py'], { cwd, env });
    expect(stdout).not.toContain('\u001b');
    expect(stdout).toContain('\\x1b[31mred');
  });
});
