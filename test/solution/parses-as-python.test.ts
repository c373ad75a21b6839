import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { execa } from 'execa';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { parsesAsPython } from '../../src/solution/index.js';
import { PythonParser } from '../../src/solution/python-parser.js';
import { testProgram } from '../support/programs.js';
import { WAIT_LIMIT_MS } from '../support/wait-limit-ms.js';

let folder = '';
const environment = process.env.FLEET_PYTHON;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'python-parser-'));
});
afterAll(() => rm(folder, { recursive: true }));
afterEach(() => {
  if (environment === undefined) delete process.env.FLEET_PYTHON;
  else process.env.FLEET_PYTHON = environment;
});

/** A program that replaces the interpreter. */
async function interpreter(name: string, script: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

/** A python3 that writes down its process id each time it is started. */
async function recordedPython(name: string): Promise<{ path: string; processIds: () => Promise<number[]> }> {
  const record = join(folder, `${name}.pids`);
  const path = await interpreter(name, `echo $$ >> ${record}; exec python3 "$@"`);
  return { path, processIds: async () => (await readFile(record, 'utf8')).trim().split('\n').map(Number) };
}

/** Whether a process runs; one that has ended and that nobody has collected does not. */
async function runs(processId: number): Promise<boolean> {
  try {
    process.kill(processId, 0);
    return !/\) Z /.test(await readFile(`/proc/${processId}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

const withPython = (await execa('python3', ['--version'], { reject: false })).exitCode === 0;
if (!withPython) console.warn('There is no python3 on the PATH: the tests that ask it are skipped.');

describe.skipIf(!withPython)('parsesAsPython with a python3', () => {
  it.each([
    ['a script', 'import numpy as np\nx = np.mean([1, 2])\nprint(f"{x:.3f}")\n'],
    ['nothing', ''],
    ['a byte order mark', '\uFEFFx = 1'],
    ['line breaks of Windows', 'if x:\r\n    y\r\n'],
    ['a lone surrogate in a string', 'x = "\ud800"'],
  ])('REQ-SF-019: takes %s', async (_name, text) => {
    expect(await parsesAsPython(text)).toEqual({ ok: true, exact: true });
  });

  it.each([
    ['an open bracket', 'x = 1\ny = (\n', 2, 5],
    ['Python 2', 'print "x"', 1, 1],
    ['a bad dedent', 'if x:\n        y\n    z\n', 3, 6],
    ['mixed tabs', 'if x:\n\ty\n        z\n', 3, 1],
    ['prose', 'Here you are', 1, 6],
    ['an error after an astral character', 's = "😀" + )', 1, 12],
    ['NUL', 'x = 1\ny\0', 2, 1],
    ['too deep brackets', `${'('.repeat(100_000)}${')'.repeat(100_000)}`, 1, 201],
  ])('REQ-SF-019: refuses %s and says where', async (_name, text, line, column) => {
    const result = await parsesAsPython(text);
    expect(result).toMatchObject({ ok: false, exact: true, line });
    // The column differs between versions of Python, but is one of the line.
    expect(result).toHaveProperty('column', expect.any(Number));
    if (!result.ok) expect(Math.abs(result.column - column)).toBeLessThanOrEqual(1);
    if (!result.ok) expect(result.message).not.toBe('');
  });

  it('counts columns in code units of the text', async () => {
    expect(await parsesAsPython('s = "😀😀" + )')).toMatchObject({ line: 1, column: 14 });
  });

  it.each([
    ['additions', `${'1+'.repeat(100_000)}1`],
    ['signs', `${'-'.repeat(100_000)}1`],
  ])('asks the syntax tree where the parser of Python gives up: %s', async (_name, text) => {
    expect(await parsesAsPython(text)).toEqual({ ok: true, exact: false });
    expect(await parsesAsPython('x = 1')).toEqual({ ok: true, exact: true });
  });

  it('runs and reads nothing that a text names', async () => {
    const trace = join(folder, 'trace');
    const text = `open(${JSON.stringify(trace)}, "w").write("x")\n__import__("os").system("touch ${trace}")\n`;
    expect(await parsesAsPython(text)).toEqual({ ok: true, exact: true });
    expect(await parsesAsPython(`# -*- coding: ${trace} -*-\nx = 1`)).toEqual({ ok: true, exact: true });
    await expect(execa('test', ['-e', trace])).rejects.toThrow();
  });

  it('does not keep a process alive, and the child goes with it', async () => {
    const { path, processIds } = await recordedPython('left');
    const module = pathToFileURL(testProgram('src/solution/index')).href;
    const program =
      `import { parsesAsPython } from ${JSON.stringify(module)};` +
      'console.log(JSON.stringify(await parsesAsPython("x = 1")));';
    const { stdout } = await execa(process.execPath, ['--input-type=module', '-e', program], {
      timeout: WAIT_LIMIT_MS,
      env: { FLEET_PYTHON: path },
    });
    expect(stdout).toBe('{"ok":true,"exact":true}');
    const [child] = await processIds();
    expect(child).toBeGreaterThan(0);
    await expect.poll(() => runs(child ?? 0)).toBe(false);
  });

  it('answers to any text', async () => {
    const piece = fc.constantFrom(
      'def f():\n',
      '    ',
      '\t',
      'x',
      ' = ',
      '"""',
      "f'{",
      '(',
      ')',
      '\n',
      '\r',
      '\f',
      '\0',
      '😀',
      '\ud800',
      '\\',
      '#',
      '%time ',
      '!',
      ':',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 30 }), async (pieces) => {
        const result = await parsesAsPython(pieces.join(''));
        expect(result.exact).toBe(true);
        if (!result.ok) expect(Math.min(result.line, result.column)).toBeGreaterThanOrEqual(1);
      }),
      { numRuns: 100 },
    );
  });
});

describe('parsesAsPython without a python3', () => {
  it.each([
    ['a script', 'x = [i for i in range(3)]\nprint(f"{x}")', null],
    ['an open bracket', 'x = 1\ny = (\n', /syntax/],
    ['Python 2', 'print "x"', /print/],
    ['a bad dedent', 'if x:\n        y\n    z\n', /unindent/],
    ['an unexpected indent', 'x\n  y\n', /indent/],
    ['a function without a body', 'x = 1\ndef f():  # later\n', /indented block/],
    ['a branch without a body', 'if x:\n\ny = 1', /indented block/],
    ['a missing bracket', 'def f(:\n  x', /expected '\)'/],
    [
      'layout that may look wrong',
      'def f(a,\nb):\n    """Text:\nmore:"""\n    return g(\n1,\n)\n  # c:\nif x: y\nz',
      null,
    ],
    ['NUL', 'x\0', /null/],
    ['prose', 'Here is the code, as you asked:', /syntax/],
    ['deep brackets', `${'('.repeat(100_000)}x`, /syntax/],
  ])('REQ-SF-019: checks %s by the syntax tree, and says so', async (_name, text, message) => {
    process.env.FLEET_PYTHON = '';
    const result = await parsesAsPython(text);
    expect(result).toMatchObject({ ok: message === null, exact: false });
    if (!result.ok) expect(result.message).toMatch(message ?? /^$/);
  });

  it('gives the line and column of an error', async () => {
    process.env.FLEET_PYTHON = '';
    expect(await parsesAsPython('x = 1\nif x:\n        y\n    z\n')).toMatchObject({ line: 4, column: 5 });
    expect(await parsesAsPython('x = "😀"; print "x"')).toMatchObject({ line: 1, column: 11 });
  });

  it.each([
    ['is not there', '/nonexistent/python3'],
    ['ends at once', 'exit 3'],
    ['says something else', 'echo hello; cat >/dev/null'],
  ])('does without an interpreter that %s', async (name, script) => {
    process.env.FLEET_PYTHON = script.startsWith('/')
      ? script
      : await interpreter(name.replaceAll(' ', '-'), script);
    expect(await parsesAsPython('x = 1')).toEqual({ ok: true, exact: false });
    expect(await parsesAsPython('x = (')).toMatchObject({ ok: false, exact: false });
  });
});

/** Starting the interpreter counts, which takes long on a busy machine. */
const GENEROUS = { shortMs: WAIT_LIMIT_MS, longMs: WAIT_LIMIT_MS };

describe.skipIf(!withPython)('PythonParser', () => {
  /** Answers as the child does, except for texts that say otherwise. */
  const obedient = `exec python3 -c '
import os, struct, sys, time
source = sys.stdin.buffer
print("ready", flush=True)
while header := source.read(4):
    text = source.read(struct.unpack(">I", header)[0])
    if b"hang" in text: time.sleep(3600)
    if text.startswith(b"until "):
        while not os.path.exists(text[6:].strip()): time.sleep(0.01)
    print("{\\"ok\\": true}", flush=True)
'`;

  it('answers many questions in the right order through one child', async () => {
    const { path, processIds } = await recordedPython('one');
    const parser = new PythonParser(path, GENEROUS);
    const texts = Array.from({ length: 200 }, (_, index) =>
      index % 3 === 0 ? `x = ${index} (` : `x = ${index}`,
    );
    const answers = await Promise.all(texts.map((text) => parser.parse(text)));
    const expected = texts.map((text) => ({ ok: !text.includes('(') }));
    expect(answers).toEqual(expected.map((answer) => expect.objectContaining(answer)));
    expect(await processIds()).toHaveLength(1);
  });

  it('starts another child after one was killed, at once', async () => {
    const { path, processIds } = await recordedPython('killed');
    const parser = new PythonParser(path, GENEROUS);
    await parser.parse('x');
    const [first] = await processIds();
    process.kill(first ?? Number.NaN, 'SIGKILL');
    expect(await parser.parse('x = 1')).toEqual({ ok: true });
    expect(await processIds()).toHaveLength(2);
  });

  it('gives up on a text that takes too long, and on no other', async () => {
    const path = await interpreter('hangs', obedient);
    // Starting the interpreter counts: what is enough for that depends on the machine.
    for (const limitMs of [500, 4_000, 32_000]) {
      const parser = new PythonParser(path, { shortMs: limitMs, longMs: limitMs });
      const answers = await Promise.all([parser.parse('hang'), parser.parse('x = 2')]);
      expect(answers[0]).toBe('timeout');
      if (answers[1] === 'timeout') continue;
      expect([answers[1], await parser.parse('x = 3')]).toEqual([{ ok: true }, { ok: true }]);
      return;
    }
    expect.unreachable('the short text timed out as well');
  });

  it('lets no short text wait for a long one, and long ones take turns by tenant', async () => {
    const path = await interpreter('takes-turns', obedient);
    const parser = new PythonParser(path, GENEROUS);
    const order: string[] = [];
    const ask = (name: string, text: string, tenant: string) =>
      parser.parse(text, { tenant }).then(() => order.push(name));
    const shortIsDone = join(folder, 'short-is-done');
    const long = `until ${shortIsDone}`.padEnd(20_000);
    await Promise.all([
      ...['a1', 'a2', 'a3'].map((name) => ask(name, long, 'a')),
      ask('b1', long, 'b'),
      ask('short', 'x = 1', 'c').then(() => writeFile(shortIsDone, '')),
    ]);
    expect(order).toEqual(['short', 'a1', 'b1', 'a2', 'a3']);
  });

  it('parses no text whose job was aborted before its turn', async () => {
    const { path } = await recordedPython('aborted');
    const parser = new PythonParser(path, GENEROUS);
    const reason = new Error('cancelled');
    const [waiting, over] = [new AbortController(), AbortSignal.abort(reason)];
    const first = parser.parse('x = 1', { signal: waiting.signal });
    const second = expect(parser.parse('x = (', { signal: waiting.signal })).rejects.toBe(reason);
    const third = parser.parse('x = 3');
    waiting.abort(reason);
    // The first is in the child already.
    expect(await first).toEqual({ ok: true });
    await second;
    expect(await third).toEqual({ ok: true });
    await expect(parser.parse('x = 4', { signal: over })).rejects.toBe(reason);
  });

  it('tries a text twice that its child does not survive, then says so', async () => {
    const path = await interpreter(
      'dies',
      `echo x >> ${folder}/deaths; echo ready; head -c 1 >/dev/null; exit 1`,
    );
    const parser = new PythonParser(path);
    expect(await parser.parse('x = 1')).toBe('died');
    const { stdout } = await execa('cat', [join(folder, 'deaths')]);
    expect(stdout.split('\n')).toHaveLength(2);
  });
});
