import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { packagePath } from '../../src/package-root.js';
import { CLIENT_FOLDER } from './python-client.js';

/** Servers of a killed test command need a moment to notice that they are alone. */
const SHUTDOWN_GRACE_MS = 10_000;

/**
 * More threads would cost a small training more than they save. Debian's Python loads setuptools if a package asks
 * for distutils, which is a third of the start of scikit-learn.
 */
const CHEAP_PYTHON = {
  OPENBLAS_NUM_THREADS: '1',
  OMP_NUM_THREADS: '1',
  SETUPTOOLS_USE_DISTUTILS: 'stdlib',
};

/** TypeScript and esbuild are programs in Go: in runs of seconds, collecting garbage takes up to half of their time. */
const CHEAP_COMPILERS = { GOGC: '400' };

/**
 * Runs once around all tests. Nothing of the user's environment reaches them (a key would cost money, an address
 * would be the user's own Redis), all their files go into one folder, and a process that still runs there
 * after the last test fails the run.
 */
export default function setup(): () => Promise<void> {
  for (const name of Object.keys(process.env)) {
    if (/^(FLEET|ANTHROPIC)_/.test(name)) delete process.env[name];
  }
  const folder = mkdtempSync(join(tmpdir(), 'fleet-'));
  process.env.TMPDIR = folder;
  process.env.XDG_STATE_HOME = join(folder, 'state');
  delete process.env.XDG_RUNTIME_DIR;
  // A Node that starts reads all of them first, for a third of its processor time; no test leaves this machine.
  delete process.env.NODE_EXTRA_CA_CERTS;
  Object.assign(process.env, CHEAP_PYTHON, CHEAP_COMPILERS);
  putInterpreterFirst();
  cpSync(packagePath('clients', 'python', 'src'), join(folder, CLIENT_FOLDER), { recursive: true });
  return async () => {
    const left = await leftProcesses(folder);
    for (const { pid } of left) process.kill(pid, 'SIGKILL');
    rmSync(folder, { recursive: true, force: true });
    if (left.length > 0) {
      // An error in here is printed, but does not fail the run by itself.
      process.exitCode = 1;
      const list = left.map(({ pid, command }) => `  ${pid} ${command}`).join('\n');
      throw new Error(`The tests left processes behind (killed now):\n${list}`);
    }
  };
}

/**
 * A `python3` that is the script of a version manager takes ten times as long to start as the interpreter that it chooses,
 * and hundreds are started. It is asked once.
 */
function putInterpreterFirst(): void {
  const program = 'import os, sys; print(os.path.dirname(sys.executable))';
  const { status, stdout } = spawnSync('python3', ['-c', program], { encoding: 'utf8' });
  if (status === 0) process.env.PATH = `${stdout.trim()}${delimiter}${process.env.PATH}`;
}

interface LeftProcess {
  readonly pid: number;
  readonly command: string;
}

async function leftProcesses(folder: string): Promise<LeftProcess[]> {
  const giveUpAt = Date.now() + SHUTDOWN_GRACE_MS;
  let left = processesIn(folder);
  while (left.length > 0 && Date.now() < giveUpAt) {
    await wait(50);
    left = processesIn(folder);
  }
  return left;
}

/** Processes with a working directory or an argument in a folder; only Linux reports them. */
function processesIn(folder: string): LeftProcess[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      try {
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
        const directory = readlinkSync(`/proc/${name}/cwd`);
        return command.includes(`${folder}/`) || directory.startsWith(`${folder}/`)
          ? [{ pid: Number(name), command }]
          : [];
      } catch {
        // It ended while it was looked at, or belongs to another user.
        return [];
      }
    });
}
