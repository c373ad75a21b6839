import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { KindError } from '../../src/errors.js';
import { type AgentOptions, defineAgent, type KindDefinition, z } from '../../src/index.js';
import { defineKind } from '../../src/processors/define-kind.js';
import { loadKinds } from '../../src/processors/load-kinds.js';
import { fleetCommand } from '../support/fleet-command.js';
import { testProgram } from '../support/programs.js';

const WORD_KINDS = testProgram('test/kinds/word-kinds');
const CRITIC = new URL('./critic.md', import.meta.url);
const END = '<!-- the stable part ends here -->';
const folder = mkdtempSync(join(tmpdir(), 'kinds-'));

writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
writeFileSync(join(folder, 'broken.js'), '\nexport const = 1;');
writeFileSync(join(folder, 'typed.ts'), 'export enum Typed { a }');

/** Writes a module with the helpers in scope; returns its path. */
function moduleOf(name: string, text: string): string {
  const path = join(folder, name);
  const helpers = `import { defineAgent, defineKind, wordCount, z } from ${JSON.stringify(pathToFileURL(WORD_KINDS).href)};
const kind = (name, more = {}) => defineKind({ name, payload: z.object({}), result: z.object({}), process: async () => ({}), ...more });
`;
  writeFileSync(path, helpers + text);
  return path;
}

describe('kinds that cannot be used', () => {
  it.each([
    ['missing', undefined, /the kinds of .*missing\.mjs cannot be used: .*missing\.mjs/],
    ['syntax', 'export const = 1;', /syntax\.mjs cannot be used: \S*syntax\.mjs:3: Unexpected token/],
    ['imports-syntax', 'export * from "./broken.js";', /: \S*\/broken\.js:2: Unexpected token/],
    ['name-missing', 'import { a } from "node:fs";', /name-missing\.mjs:3: .*not provide .* named 'a'$/],
    ['throws', '\nthrow new Error("no licence");', /throws\.mjs:4: no licence$/],
    ['not-installed', 'import "no-such-package";', /'no-such-package' imported from .*not-installed\.mjs$/],
    ['empty', 'export const a = 1;', /exports no kind; export what defineKind returns$/],
    ['copied', 'export const a = { ...wordCount, name: "other" };', /exports no kind/],
    ['twice', 'export default [kind("a"), kind("a")];', /two kinds have the name "a"$/],
    [
      'built-in',
      'export const a = kind("summarize");',
      /two kinds have the name "summarize", which is that of a built-in/,
    ],
    ['name', 'export const a = kind("My Kind");', /kind "My Kind": name: must be 1 to 50 small letters/],
    [
      'prompt',
      'defineAgent({ promptFile: new URL("./none.md", import.meta.url) });',
      /none\.md cannot be read/,
    ],
  ])('a module: %s', async (name, text, message) => {
    const path = text === undefined ? join(folder, `${name}.mjs`) : moduleOf(`${name}.mjs`, text);
    const loaded = loadKinds([path]);
    await expect(loaded).rejects.toThrow(KindError);
    await expect(loaded).rejects.toMatchObject({
      code: 'invalid-kind',
      message: expect.stringMatching(message),
    });
  });

  it('are found over several modules, and a kind that two modules export is one', async () => {
    const first = moduleOf('first.mjs', 'export { wordCount };');
    const second = moduleOf('second.mjs', 'export { wordCount }; export const all = [wordCount, kind("b")];');
    expect((await loadKinds([first, second])).names.slice(-2)).toEqual(['word-count', 'b']);
    const third = moduleOf('third.mjs', 'export const b = kind("b");');
    await expect(loadKinds([first, second, third])).rejects.toThrow(
      /third\.mjs .*two kinds have the name "b"/,
    );
  });

  const valid = {
    name: 'a',
    payload: z.object({ a: z.string() }),
    result: z.object({}),
    process: async () => ({}),
  };
  it.each<[string, object, string]>([
    ['no name', { name: undefined }, 'kind without a name: name: must be'],
    ['a long name', { name: 'a'.repeat(51) }, 'name: must be 1 to 50'],
    ['no processor', { process: undefined }, 'process: must be a function'],
    ['a payload that is no object', { payload: z.string() }, 'payload: must be an object schema of zod 4'],
    ['a result that is no schema', { result: {} }, 'result: must be a schema of zod 4'],
    [
      'a field of the fleet',
      { payload: z.object({ tags: z.string() }) },
      'payload.tags: is a field of the fleet',
    ],
    [
      'a payload that is not JSON',
      { payload: z.object({ at: z.date() }) },
      'payload: cannot be stored as JSON',
    ],
    [
      'a result that changes',
      { result: z.object({ n: z.string().transform(Number) }) },
      'result: cannot be stored as JSON',
    ],
    ['a large text that is none', { limits: { largeTexts: ['b'] } }, '"b" is not a field of the payload'],
    ['an unknown limit', { limits: { memory: 1 } }, 'limits.memory: unknown field; there are: largeTexts'],
    ['a misspelled field', { sumary: 'A' }, 'kind "a": sumary: unknown field; did you mean "summary"?'],
    ['a misspelled group', { Limit: {} }, 'kind "a": Limit: unknown field; did you mean "limits"?'],
    [
      'a misspelled default',
      { defaults: { attempt: 1 } },
      'defaults.attempt: unknown field; did you mean "attempts"?',
    ],
    [
      'a child’s field that is none',
      { suppliedByChild: { b: () => 1 } },
      'suppliedByChild: "b" is not a field',
    ],
    ['a version of a field that is none', { fieldsSince: { aa: 2 } }, 'fieldsSince: "aa" is not a field'],
    ['no attempt', { defaults: { attempts: 0 } }, 'defaults.attempts: '],
  ])('a definition: %s', (_, change, message) => {
    const definition = { ...valid, ...change } as KindDefinition<string, z.ZodObject, z.ZodType>;
    expect(() => defineKind(valid)).not.toThrow();
    expect(() => defineKind(definition)).toThrow(KindError);
    expect(() => defineKind(definition)).toThrow(message);
  });

  it.each<[string, object, RegExp]>([
    [
      'a misspelled prompt file',
      { promptfile: 'a.md' },
      /without a prompt file: promptfile: .*"promptFile"\?/,
    ],
    ['a misspelled schema', { outputSchem: z.string() }, /^agent "critic": outputSchem: .*"outputSchema"\?$/],
    ['a misspelled list of tools', { tool: ['Read'] }, /^agent "critic": tool: .* did you mean "tools"\?$/],
    ['a tool that is none', { tools: ['Write'] }, /tools\[0\]: the only tool is "Read"$/],
    ['an answer that is no function', { offline: 'yes' }, /offline: must be a function$/],
  ])('an agent: %s', (_, change, message) => {
    const defaults = 'promptfile' in change ? {} : { promptFile: CRITIC };
    expect(() => defineAgent({ promptFile: CRITIC })).not.toThrow();
    expect(() => defineAgent({ ...defaults, ...change } as AgentOptions<string>)).toThrow(KindError);
    expect(() => defineAgent({ ...defaults, ...change } as AgentOptions<string>)).toThrow(message);
  });

  it.each([
    ['misspelled', '<!-- the stable part ends -->', /is there as <!-- the stable part ends -->, but must be/],
    ['twice', `${END}\n{{ a }}\n${END}`, /a second time/],
  ])('a prompt whose stable part ends %s', (name, end, message) => {
    const promptFile = join(folder, `${name}.md`);
    writeFileSync(promptFile, `---\nvariables: a\n---\nRate it.\n${end}\n{{ a }}\n`);
    expect(() => defineAgent({ promptFile })).toThrow(message);
  });

  it.each([
    [['worker', '--kinds-from'], {}],
    [['serve', '--port', '0', '--kinds-from'], {}],
    [['submit', 'a', '--data', '-', '--kinds-from'], {}],
    [['list'], { FLEET_KINDS_FROM: join(folder, 'summarize.mjs') }],
  ])('fleet %j ends with one sentence before it connects', async (args, env) => {
    const path = moduleOf('summarize.mjs', 'export const a = kind("a"); export const b = kind("summarize");');
    const { stderr, stdout, exitCode } = await fleetCommand(args[0] === 'list' ? args : [...args, path], {
      env: { ...env, FLEET_REDIS_URL: 'redis://127.0.0.1:1' },
      endsAtOnce: true,
    });
    expect(stderr.split('\n')).toEqual([
      `error the kinds of ${path} cannot be used: two kinds have the name "summarize", which is that of a built-in kind (invalid-kind)`,
      expect.stringContaining('take it out of --kinds-from and FLEET_KINDS_FROM'),
      '',
    ]);
    expect([stdout, exitCode]).toEqual(['', 2]);
  });

  it('a TypeScript module that Node.js cannot load: the message says what to do', async () => {
    const env = { FLEET_REDIS_URL: 'redis://127.0.0.1:1', FLEET_KINDS_FROM: join(folder, 'typed.ts') };
    const { stderr, exitCode } = await fleetCommand(['list'], { env, ownProcess: true });
    expect(stderr).toMatch(
      /typed\.ts .*\(it is TypeScript: name the compiled JavaScript instead, .*--import tsx/,
    );
    expect(exitCode).toBe(2);
  });

  it('fleet worker refuses a kind that it does not have', async () => {
    const env = { FLEET_REDIS_URL: 'redis://127.0.0.1:1' };
    const { stderr, exitCode } = await fleetCommand(['worker', '--kinds', 'summarize,word-count'], {
      ...{ env, endsAtOnce: true },
    });
    expect(stderr).toContain('"word-count" is not a kind of job here; there are: solution-check');
    expect(exitCode).toBe(2);
  });
});
