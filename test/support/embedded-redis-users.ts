import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { startOfProcess } from '../../src/fleet/embedded-redis-lock.js';
import { projectStatePath } from '../../src/fleet/project-state.js';
import { connectProducer } from '../../src/queues/connection.js';
import { PROGRAM_FLAGS, testProgram } from './programs.js';

const PROGRAM = testProgram('test/fleet/embedded-redis-user');

/** A process that uses the embedded Redis of a folder, or a temporary one; it leads a separate process group. */
export class RedisUser {
  readonly process: ChildProcess;
  readonly #lines: Interface;
  readonly #answers: AsyncIterator<string>;

  constructor(folder: string | undefined, options: SpawnOptions = {}) {
    this.process = spawn(
      process.execPath,
      [...PROGRAM_FLAGS, PROGRAM, ...(folder === undefined ? [] : [folder])],
      {
        stdio: ['pipe', 'pipe', 'inherit'],
        detached: true,
        ...options,
      },
    );
    if (this.process.stdout === null) throw new Error('no standard output');
    this.#lines = createInterface(this.process.stdout);
    this.#answers = this.#lines[Symbol.asyncIterator]();
  }

  /** The next line that the process prints; `ended` when it prints no more. */
  async says(): Promise<string> {
    const { value, done } = await this.#answers.next();
    return done ? 'ended' : value;
  }

  /** Waits until it has the server, and gives the address. */
  async url(): Promise<string> {
    const line = await this.says();
    if (!line.startsWith('acquired ')) throw new Error(line);
    return line.slice('acquired '.length);
  }

  async release(): Promise<void> {
    this.process.stdin?.write('\n');
    const line = await this.says();
    if (line !== 'released') throw new Error(line);
    await this.#ended();
  }

  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.#ended();
  }

  /** What Ctrl-C in a terminal does: SIGINT to the whole process group. */
  async interrupt(): Promise<void> {
    process.kill(-(this.process.pid ?? 0), 'SIGINT');
    await this.#ended();
  }

  async #ended(): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) await once(this.process, 'exit');
  }
}

/** Number of the server process behind an address. */
export async function serverPid(url: string): Promise<number> {
  const client = await connectProducer(url);
  const pid = /process_id:(\d+)/.exec(await client.info('server'))?.[1];
  await client.quit();
  return Number(pid);
}

/** Number of the supervisor of a project. */
export function supervisorPid(project: string): number {
  return supervisorIn(projectStatePath(project));
}

/** Number of the process that the newest lock in the folder of an embedded Redis names. */
export function supervisorIn(folder: string): number {
  const newest = readdirSync(folder)
    .flatMap((name) => /^supervisor\.(\d+)$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => b - a)[0];
  const { pid } = JSON.parse(readFileSync(join(folder, `supervisor.${newest}`), 'utf8')) as { pid: number };
  return pid;
}

export function isRunning(pid: number): boolean {
  return startOfProcess(pid) !== undefined;
}

export async function write(url: string, key: string, value: string): Promise<void> {
  const client = await connectProducer(url);
  await client.set(key, value);
  await client.quit();
}

export async function read(url: string, key: string): Promise<string | null> {
  const client = await connectProducer(url);
  const value = await client.get(key);
  await client.quit();
  return value;
}
