import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeCorrection } from '../../src/cli/check/check-file.js';
import { collect, readRegularFile } from '../../src/cli/read-file.js';
import { readKnownFile } from '../../src/known/read-known-file.js';
import { fleetCommand } from '../support/fleet-command.js';
import { PROGRAM_FLAGS, testProgram } from '../support/programs.js';

const LIMIT = { bytes: 1_000, setting: 'FLEET_MAX_TEXT_BYTES' };

let folder: string;
const socket = createServer();
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'read-'));
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  symlinkSync('pipe', join(folder, 'link-to-pipe'));
  symlinkSync('/dev/zero', join(folder, 'zero.py'));
  writeFileSync(join(folder, 'whole'), 'x'.repeat(1_000));
  writeFileSync(join(folder, 'large'), 'x'.repeat(1_001));
  writeFileSync(join(folder, 'sparse'), '');
  truncateSync(join(folder, 'sparse'), 2 ** 40);
  writeFileSync(join(folder, 'x.py'), 'x = 1\n');
  socket.listen(join(folder, 'socket'));
  await once(socket, 'listening');
});
afterAll(async () => {
  await new Promise((resolve) => socket.close(resolve));
  rmSync(folder, { recursive: true });
});

describe('reading a file that somebody names', () => {
  it.each([
    ['pipe', 'unreadable-input', 'is a pipe; read it from standard input with -'],
    ['link-to-pipe', 'unreadable-input', 'is a pipe'],
    ['zero.py', 'unreadable-input', 'is a device'],
    ['.', 'unreadable-input', 'is a folder'],
    ['socket', 'unreadable-input', 'is a socket'],
    ['missing', 'unreadable-input', 'does not exist'],
    ['whole/below', 'unreadable-input', 'lies below something that is not a folder'],
    ['large', 'payload-too-large', 'is larger than 1000 bytes (FLEET_MAX_TEXT_BYTES)'],
    ['sparse', 'payload-too-large', 'is larger than 1000 bytes'],
  ])('%s is refused at once: %s', async (name, code, message) => {
    const file = join(folder, name);
    await expect(readRegularFile(file, LIMIT)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(`${file} ${message}`),
    });
  });

  it('reads what is not larger than the limit', async () => {
    expect((await readRegularFile(join(folder, 'whole'), LIMIT)).length).toBe(1_000);
  });

  it.runIf(process.platform === 'linux')(
    'stops at the limit in files that say that they are empty',
    async () => {
      expect(
        (await readRegularFile('/proc/self/status', { ...LIMIT, bytes: 1_000_000 })).length,
      ).toBeGreaterThan(0);
      await expect(readRegularFile('/proc/self/status', { ...LIMIT, bytes: 10 })).rejects.toMatchObject({
        code: 'payload-too-large',
      });
    },
  );

  it('stops at the limit in a stream that grows while it is read', async () => {
    let sent = 0;
    const endless = async function* () {
      for (;;) {
        sent += 100;
        yield Buffer.alloc(100);
      }
    };
    await expect(collect('it', endless(), LIMIT)).rejects.toMatchObject({ code: 'payload-too-large' });
    expect(sent).toBe(1_100);
  });

  it('follows links of the working directory inside it, and none out of it', async () => {
    const checkout = join(folder, 'checkout');
    mkdirSync(checkout);
    writeFileSync(join(checkout, 'x.py'), 'x = 1\n');
    symlinkSync('x.py', join(checkout, 'in.py'));
    symlinkSync('../x.py', join(checkout, 'out.py'));
    symlinkSync('..', join(checkout, 'parent'));
    const before = process.cwd();
    process.chdir(checkout);
    try {
      expect((await readRegularFile('in.py', LIMIT)).toString()).toBe('x = 1\n');
      for (const name of ['out.py', 'parent/x.py', join(checkout, 'out.py')]) {
        const refused = {
          code: 'unreadable-input',
          message: expect.stringContaining('a symbolic link leads'),
        };
        await expect(readRegularFile(name, LIMIT), name).rejects.toMatchObject(refused);
        await expect(readKnownFile(name), name).rejects.toMatchObject(refused);
      }
      // Named by the caller itself.
      expect((await readRegularFile('../x.py', LIMIT)).toString()).toBe('x = 1\n');
    } finally {
      process.chdir(before);
    }
  });

  it.each(['pipe', 'zero.py', '.', 'socket'])('%s is not a file of known solutions', async (name) => {
    await expect(readKnownFile(join(folder, name))).rejects.toMatchObject({ code: 'unreadable-input' });
  });
});

describe('a file of known solutions', () => {
  it('is refused where a line has no end, and is not an error of the program', async () => {
    const file = join(folder, 'endless.jsonl');
    writeFileSync(file, '{}\r\n');
    truncateSync(file, 2 ** 30);
    await expect(readKnownFile(file)).rejects.toMatchObject({
      code: 'unreadable-input',
      message: expect.stringContaining('it has a line of more than'),
    });
  });

  it('may end lines as other systems do, and hold separators of lines within texts', async () => {
    const file = join(folder, 'lines.jsonl');
    const line = JSON.stringify({ testCaseId: 'a', solution: 'x = "\u2028"' });
    writeFileSync(file, `${line}\r\n\n{\n${line}`);
    expect(await readKnownFile(file)).toMatchObject({
      solutions: [{ testCaseId: 'a' }, { testCaseId: 'a' }],
      broken: [{ line: 3 }],
    });
  });
});

describe('fleet check', () => {
  it('names what it cannot read, and checks the rest', async () => {
    const { stdout, exitCode } = await fleetCommand(
      ['check', '--json', 'pipe', 'zero.py', 'x.py', 'sparse'],
      {
        cwd: folder,
      },
    );
    expect(exitCode).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject([
      { file: 'pipe', error: { code: 'unreadable-input' } },
      { file: 'zero.py', error: { code: 'unreadable-input' } },
      { file: 'x.py', status: 'clean' },
      { file: 'sparse', error: { code: 'payload-too-large' } },
    ]);
  });

  it('reads no other file where a name is not UTF-8', async () => {
    const checkout = mkdtempSync(join(folder, 'bytes-'));
    writeFileSync(
      Buffer.concat([Buffer.from(`${checkout}/`), Buffer.from([0xff]), Buffer.from('.py')]),
      'x = 1\n',
    );
    writeFileSync(join(checkout, '\uFFFD.py'), 'x = 2\n');
    const main = testProgram('src/cli/main');
    // The shell gives the bytes as they are.
    const script = `exec "$@" check --json -- $(printf '\\377.py')`;
    const command = [process.execPath, ...PROGRAM_FLAGS, main];
    const { stdout, exitCode } = await execa('sh', ['-c', script, 'sh', ...command], {
      cwd: checkout,
      env: { FLEET_AGENT: 'offline' },
      reject: false,
    });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: expect.stringContaining('not UTF-8') });
    expect(stdout).not.toContain('x = 2');
  });

  it.each([
    ['check', ['check', 'a\uFFFD.py']],
    ['contamination --known', ['contamination', '--known', 'a\uFFFD.jsonl', '--output', 'x.py']],
    [
      'contamination --html',
      ['contamination', '--known', 'k.jsonl', '--output', 'x.py', '--html', 'a\uFFFD.html'],
    ],
    ['known import', ['known', 'import', 'a\uFFFD.jsonl']],
  ])('refuses a name that may stand for other bytes: %s', async (_command, args) => {
    const { stderr, exitCode } = await fleetCommand(args);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining('not UTF-8') });
  });

  it('does not take a file for an option whose name it has', async () => {
    const checkout = mkdtempSync(join(folder, 'names-'));
    const names = ['--fail-on=high', '--write', '-V'];
    for (const name of ['x.py', ...names]) writeFileSync(join(checkout, name), 'x = 1\n');
    for (const name of names) {
      const { stderr, exitCode } = await fleetCommand(['check', name, 'x.py'], { cwd: checkout });
      expect({ stderr, exitCode }).toMatchObject({
        stderr: expect.stringContaining(`name the file as ./${name}`),
        exitCode: 2,
      });
    }
    const { stdout } = await fleetCommand(['check', '--', ...names], { cwd: checkout });
    for (const name of names) expect(stdout).toContain(`${name}: clean`);
  });

  it.each([
    ['was removed', (file: string) => rmSync(file), 'does not exist'],
    ['was changed', (file: string) => appendFileSync(file, '\n'), 'was changed while it was checked'],
    ['became a folder', (file: string) => becomeFolder(file), 'is a folder'],
  ])('--write names a file that %s while it was checked', async (_what, change, message) => {
    const file = join(folder, 'changing.py');
    rmSync(file, { recursive: true, force: true });
    writeFileSync(file, 'a = 1\n');
    change(file);
    const result = { status: 'corrected', solution: { content: 'a = 2\n' }, findings: [] } as never;
    const checked = { file, text: 'a = 1\n', script: 'a = 1\n', result };
    await expect(writeCorrection(checked, LIMIT)).rejects.toMatchObject({
      code: 'unreadable-input',
      message: expect.stringContaining(message),
    });
  });
});

describe.runIf(process.platform === 'linux')('a pipe that the shell passes on', () => {
  const MAIN = testProgram('src/cli/main');
  const inShell = async (command: string) => {
    const env = { FLEET_AGENT: 'offline', NODE: process.execPath, MAIN };
    const script = `exec "$NODE" ${PROGRAM_FLAGS.join(' ')} "$MAIN" ${command}`;
    const { stdout, stderr, exitCode } = await execa('bash', ['-c', script], {
      cwd: folder,
      env,
      reject: false,
    });
    return { stdout, stderr, exitCode };
  };

  it('is read up to the limit by the name that the shell gives it, and by no link to it', async () => {
    symlinkSync('/dev/fd/9', join(folder, 'link-to-descriptor'));
    const { stdout } = await inShell(
      'check --json <(echo "a = 1") /proc/self/fd/9 <(yes) link-to-descriptor 9< <(echo "b = 1")',
    );
    expect(JSON.parse(stdout)).toMatchObject([
      { file: expect.stringMatching(/^\/dev\/fd\//), status: 'clean', solution: { content: 'a = 1\n' } },
      { file: '/proc/self/fd/9', status: 'clean', solution: { content: 'b = 1\n' } },
      { error: { code: 'payload-too-large' } },
      { file: 'link-to-descriptor', error: { code: 'unreadable-input' } },
    ]);
  });

  it('is not written back', async () => {
    const { stderr, exitCode } = await inShell('check --write <(echo "a = 1")');
    expect({ stderr, exitCode }).toMatchObject({
      stderr: expect.stringContaining('it is a pipe'),
      exitCode: 2,
    });
  });

  it('is none where the descriptor is of the process itself, is not open, or was read', async () => {
    const own = Array.from({ length: 28 }, (_, index) => `/dev/fd/${index}`).join(' ');
    const { stdout } = await inShell(`check --json ${own} /dev/fd/30 /proc/self/fd/30 30< <(echo "a = 1")`);
    const entries = JSON.parse(stdout) as { status?: string; error?: { code: string } }[];
    expect(entries.map(({ status, error }) => error?.code ?? status)).toEqual([
      // A thread has files of its own open for a moment. By the name of the descriptor, that is a file like any other: no script.
      ...Array.from({ length: 28 }, () =>
        expect.stringMatching(/^(?:unreadable-input|cannot-analyze|payload-too-large)$/),
      ),
      'clean',
      'unreadable-input',
    ]);
  });

  it('is a file of known solutions too', async () => {
    const line = JSON.stringify({ testCaseId: 'k', solution: 'x = 1' });
    const { stdout } = await inShell(
      `contamination --known <(echo '${line}') --output <(echo 'x = 1') --json`,
    );
    expect(JSON.parse(stdout)).not.toHaveProperty('error');
  });
});

function becomeFolder(file: string): void {
  rmSync(file);
  mkdirSync(file);
}
