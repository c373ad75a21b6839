import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { findProgram } from '../../src/config/find-program.js';
import { RunSchema } from '../../src/trial/compare-runs.js';
import { findSandbox } from '../../src/trial/sandbox/find-sandbox.js';
import { runInside } from '../../src/trial/sandbox/run-inside.js';
import { sandboxOfMachine, TRIAL_SETTINGS } from '../support/trials.js';

const found = await sandboxOfMachine();

const LIMITS = { seconds: 600, memoryMb: 1_024, processes: 32, diskMb: 64 };
const AnswerSchema = z.object({ original: RunSchema });

/** Runs a script in the sandbox as the original of a trial; it prints one line of JSON. */
async function run(script: string, limits: Partial<typeof LIMITS> = {}, signal?: AbortSignal) {
  if (found === undefined) throw new Error('there is no sandbox');
  const task = { do: 'trial', original: script, corrected: 'pass', ...LIMITS, ...limits };
  const answer = await runInside(found.sandbox, task, {
    seconds: task.seconds,
    signal,
    libraries: found.extraLibraries,
  });
  return AnswerSchema.parse(answer).original;
}

/** Command lines of all processes that this one sees. */
const commandLines = () =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        return '';
      }
    });

describe.skipIf(found === undefined)('a script in the sandbox', () => {
  let folder = '';
  let outcomes: Readonly<Record<string, unknown>> = {};
  const server = createServer((socket) => socket.end('reached'));

  /** Python expressions that try something, and give what they reached. */
  const attempts = (port: number): Readonly<Record<string, string>> => ({
    'opens a connection to this machine': `socket.create_connection(("127.0.0.1", ${port}), 2).recv(9).decode()`,
    'opens a connection to another machine': 'socket.create_connection(("1.1.1.1", 53), 2) and 1',
    'listens for connections': 'socket.create_server(("127.0.0.1", 0)) and 1',
    'talks to the host of a virtual machine': 'socket.socket(socket.AF_VSOCK) and 1',
    'reads the passwords of the system': 'open("/etc/shadow").read()',
    'lists the home folder': `os.listdir(${JSON.stringify(homedir())})`,
    'reads a file of its starter': `open(${JSON.stringify(join(folder, 'secret'))}).read()`,
    'reads the environment of its starter': `open("/proc/${process.pid}/environ").read()`,
    'reads the environment of the first process': 'open("/proc/1/environ").read()',
    'reads the memory of the first process': 'open("/proc/1/mem", "rb").read(1)',
    'finds a secret in its environment': 'os.environ["ANTHROPIC_API_KEY"]',
    'writes beside the system': 'open("/usr/written", "w") and 1',
    'writes to the root folder': 'open("/written", "w") and 1',
    'writes to a device': 'open("/dev/written", "w") and 1',
    'becomes root': 'os.setuid(0) or 1',
    'ends the process that watches it': 'os.kill(1, 9) or os.read(os.open("/proc/1/mem", os.O_RDONLY), 1)',
    'makes a namespace': 'call("unshare", 0x10000000)',
    'mounts a file system': 'call("mount", b"none", b"/tmp", b"tmpfs", 0, None)',
    'makes memory that belongs to no process': 'os.memfd_create("more")',
    'takes ten gigabytes': 'len(bytearray(10**10))',
    'writes more than it may': 'open("large", "wb").write(bytes(2**29))',
  });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trial-test-'));
    await writeFile(join(folder, 'secret'), 'secret');
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    process.env.ANTHROPIC_API_KEY = 'a key of this process';
    const script = [
      'import ctypes, json, os, socket',
      'def call(name, *values):',
      '    if getattr(ctypes.CDLL(None, use_errno=True), name)(*values) != 0:',
      '        raise OSError(ctypes.get_errno(), name)',
      '    return 1',
      'reached = {}',
      ...Object.entries(attempts(port)).flatMap(([name, attempt]) => [
        'try:',
        `    reached[${JSON.stringify(name)}] = ${attempt}`,
        'except (OSError, MemoryError, KeyError) as error:',
        `    reached[${JSON.stringify(name)}] = None`,
      ]),
      'import numpy as np',
      'open("own", "w").write("own")',
      'reached["works"] = open("own").read() + str(np.zeros(2).sum())',
      'print(json.dumps(reached))',
    ].join('\n');
    const { ok, error, printed } = await run(script);
    expect([ok, error]).toEqual([true, '']);
    outcomes = z.record(z.string(), z.unknown()).parse(JSON.parse(printed));
  });
  afterAll(async () => {
    delete process.env.ANTHROPIC_API_KEY;
    server.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('computes, and writes in a folder of its own', () => {
    expect(outcomes.works).toBe('own0.0');
  });

  it.each(Object.keys(attempts(0)))('does not succeed if it %s', (name) => {
    expect(outcomes).toHaveProperty([name], null);
  });

  it('is ended with all its processes if it starts more without end', async () => {
    const outcome = await run('import os\nwhile True:\n    os.fork()\n');
    expect(outcome).toMatchObject({ ok: false, error: expect.stringMatching(/BlockingIOError|MemoryError/) });
  });

  it('is ended if its processes take too much memory together', async () => {
    const script = [
      'import os, time',
      'for _ in range(8):',
      '    if os.fork() == 0:',
      '        held = bytearray(b"x") * (300 * 2**20)',
      '        time.sleep(600)',
      'time.sleep(600)',
    ];
    expect(await run(script.join('\n'))).toMatchObject({
      ok: false,
      error: 'MemoryError: its processes took more memory than they may together',
    });
  });

  it('is ended if it runs forever, and its output is no longer than what is shown', async () => {
    const outcome = await run('while True:\n    print("x" * 10_000)\n', { seconds: 4 });
    expect(outcome).toMatchObject({ ok: false, error: 'TimeoutError: no end within 2 s' });
  });

  it('is ended with what it has started if the job is aborted, or if its starter is gone', async () => {
    const token = `trial-${process.pid}-${Math.random()}`;
    const started = () => commandLines().filter((line) => line.includes(token) && line.includes('sleep'));
    const script = [
      'import subprocess, sys, time',
      `subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", ${JSON.stringify(token)}], start_new_session=True)`,
      'time.sleep(600)',
    ].join('\n');
    const abort = new AbortController();
    const aborted = run(script, {}, abort.signal);
    await expect.poll(() => started().length).toBeGreaterThan(0);
    abort.abort(new Error('cancelled'));
    await expect(aborted).rejects.toThrow('cancelled');
    await expect.poll(started).toEqual([]);
  });
});

describe.skipIf(process.platform !== 'linux')('without an isolating sandbox', () => {
  const refused = (settings: Partial<typeof TRIAL_SETTINGS>) =>
    findSandbox({ ...TRIAL_SETTINGS, ...settings }).then(
      () => 'found',
      (thrown: unknown) => thrown,
    );

  it.each([
    ['trials are off', { sandbox: 'off' }, 'switched off'],
    ['there is no Python', { python: '/no/such/python' }, 'cannot be started'],
    ['the command is not installed', { sandbox: 'no-such-sandbox --run' }, 'not installed'],
    ['Python lacks the libraries', { sandbox: 'sh -c true' }, 'FLEET_TRIAL_SANDBOX cannot be used'],
  ])('nothing runs if %s', async (_what, settings, why) => {
    expect(await refused(settings)).toMatchObject({
      code: 'trial-unavailable',
      message: expect.stringContaining(why),
    });
  });

  it('a command that does not isolate is found out, and leaves nothing behind', async () => {
    const before = readdirSync('/');
    expect(await refused({ sandbox: 'env -i' })).toMatchObject({
      code: 'trial-unavailable',
      message: expect.stringMatching(
        /a file of the host is visible.*the network is reachable.*processes of the host are visible/,
      ),
    });
    expect(readdirSync('/')).toEqual(before);
  });

  it.skipIf(process.getuid?.() !== 0 || findProgram('setpriv') === undefined)(
    'a container that may not make namespaces is refused, with the reason of the kernel',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'trial-test-'));
      const { PATH = '' } = process.env;
      try {
        const without = `exec ${findProgram('setpriv')} --bounding-set=-sys_admin --inh-caps=-sys_admin`;
        const script = `#!/bin/sh\n${without} ${findProgram('unshare')} "$@"\n`;
        await writeFile(join(folder, 'unshare'), script, { mode: 0o755 });
        process.env.PATH = `${folder}:${PATH}`;
        expect(await refused({ sandbox: 'unshare' })).toMatchObject({
          code: 'trial-unavailable',
          message: expect.stringContaining('Operation not permitted'),
        });
      } finally {
        process.env.PATH = PATH;
        await rm(folder, { recursive: true });
      }
    },
  );
});
