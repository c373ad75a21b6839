import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { execa } from 'execa';
import { afterAll } from 'vitest';
import { packagePath } from '../../src/package-root.js';
import { withPythonClient } from '../support/python-client.js';

const OLDEST = 'import sys; raise SystemExit(sys.version_info < (3, 9))';

let isThere: Promise<boolean> | undefined;

/** Whether there is a python3 that the client supports. */
export function hasPython(): Promise<boolean> {
  isThere ??= lookForPython();
  return isThere;
}

async function lookForPython(): Promise<boolean> {
  const found = (await execa('python3', ['-S', '-c', OLDEST], { reject: false })).exitCode === 0;
  if (!found) console.warn('SKIPPED: Missing: a python3 (3.9 or later); the Python client is not tested.');
  return found;
}

/** What forks the programs of a test file, from its first one on. */
interface ProgramServer {
  readonly child: ChildProcess;
  readonly folder: string;
  readonly socketPath: string;
  readonly sockets: Set<Socket>;
}

let server: Promise<ProgramServer> | undefined;
let programs = 0;

async function startServer(): Promise<ProgramServer> {
  const folder = mkdtempSync(join(tmpdir(), 'python-'));
  const socketPath = join(folder, 'programs.sock');
  // The client needs no other package: to look for them is a third of the start.
  const program = packagePath('test', 'clients', 'python-server.py');
  const child = spawn('python3', ['-S', program, socketPath], {
    env: { ...process.env, ...withPythonClient() },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit').then(() => {
    throw new Error('the server of Python programs has ended');
  });
  await Promise.race([once(child.stdout, 'data'), ended]);
  ended.catch(() => undefined);
  return { child, folder, socketPath, sockets: new Set() };
}

/** For a file that runs programs with the Python client: as `hasPython`; what still runs after its tests is ended. */
export function pythonOfFile(): Promise<boolean> {
  afterAll(async () => {
    if (server === undefined) return;
    const { child, folder, sockets } = await server;
    server = undefined;
    for (const socket of sockets) socket.destroy();
    const ended = once(child, 'exit');
    child.stdin?.end();
    await ended;
    rmSync(folder, { recursive: true });
  });
  return hasPython();
}

async function request({ socketPath, sockets }: ProgramServer, message: object): Promise<Socket> {
  const socket = connect(socketPath);
  sockets.add(socket);
  await once(socket, 'connect');
  // A program may end without having read all that it was told; its end is seen by its lines.
  socket.on('error', () => undefined);
  socket.write(`${JSON.stringify(message)}\n`);
  return socket;
}

/** What every program begins with: a client, and a way to tell the test something. */
const PRELUDE = `
import json, os, sys, threading, time
from solution_fleet import *

fleet = FleetClient(retry_timeout_s=float(os.environ.get("RETRY_TIMEOUT", "20")))

def say(**fields):
    print(json.dumps(fields), flush=True)
`;

// biome-ignore lint/suspicious/noExplicitAny: tests look at what programs say, of any shape
export type Said = any;

interface RunningProgram {
  readonly socket: Socket;
  readonly lines: AsyncIterator<string>;
  readonly pid: number;
  readonly stderrPath: string;
}

async function run(script: string, env: Readonly<Record<string, string>>): Promise<RunningProgram> {
  server ??= startServer();
  const running = await server;
  programs += 1;
  const stderrPath = join(running.folder, `stderr-${programs}`);
  const socket = await request(running, { script, env, stderr: stderrPath });
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  return { socket, lines, pid: Number((await lines.next()).value), stderrPath };
}

/** A Python program that uses the client, in a process of its own; each line of its output is a JSON object. */
export class PythonProgram {
  readonly #running: Promise<RunningProgram>;

  /** @param url Address of the gateway, as `FLEET_URL`. */
  constructor(url: string, script: string, env: Readonly<Record<string, string>> = {}) {
    const all = { ...process.env, ...withPythonClient(), FLEET_URL: url, ...env };
    this.#running = run(PRELUDE + script, all as Record<string, string>);
    // Those that wait for what the program says get the error.
    this.#running.catch(() => undefined);
  }

  /** What it says next. */
  async said(): Promise<Said> {
    const { lines, stderrPath } = await this.#running;
    const { value, done } = await lines.next();
    if (done !== true) return JSON.parse(value);
    throw new Error(`the program ended without saying more:\n${readFileSync(stderrPath, 'utf8')}`);
  }

  /** Lets a program go on that waits for a line. */
  goOn(): void {
    this.write('');
  }

  /** Writes a line to its standard input. */
  write(line: string): void {
    void this.#running.then(({ socket }) => socket.write(`${line}\n`));
  }

  /** Sends a signal to a program that has said something. */
  async signal(signal: NodeJS.Signals): Promise<void> {
    process.kill((await this.#running).pid, signal);
  }

  /** Waits for its end. */
  async end(): Promise<{ code: number | null; stderr: string }> {
    const { socket, lines, pid, stderrPath } = await this.#running;
    socket.end();
    while ((await lines.next()).done !== true);
    const [code] = await once(await request(await (server as Promise<ProgramServer>), { wait: pid }), 'data');
    return { code: Number(code), stderr: readFileSync(stderrPath, 'utf8') };
  }
}

/** What a program by asyncio begins with; `main` is its coroutine. */
const ASYNCIO = `
import asyncio, math
from solution_fleet.aio import *

fleet = AsyncFleetClient(retry_timeout_s=20)

async def line():
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)

`;

/** A program with the asyncio client that runs its coroutine `main`. */
export function asyncioProgram(url: string, main: string): PythonProgram {
  return new PythonProgram(url, `${ASYNCIO}${main}\nasyncio.run(main())`);
}

/** Runs a program that says one thing, and gives that. */
export async function runPython(
  url: string,
  script: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Said> {
  const program = new PythonProgram(url, script, env);
  const said = await program.said();
  const { code, stderr } = await program.end();
  if (code !== 0) throw new Error(`the program ended with ${code}:\n${stderr}`);
  return said;
}
