import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { execa } from 'execa';
import { withPythonClient } from '../support/python-client.js';

const OLDEST = 'import sys; raise SystemExit(sys.version_info < (3, 9))';

/** Whether there is a python3 that the client supports. */
export async function hasPython(): Promise<boolean> {
  const found = (await execa('python3', ['-c', OLDEST], { reject: false })).exitCode === 0;
  if (!found) console.warn('SKIPPED: Missing: a python3 (3.9 or later); the Python client is not tested.');
  return found;
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

/** A Python program that uses the client, as a process of its own; each line of its output is a JSON object. */
export class PythonProgram {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #exited: Promise<unknown[]>;
  #stderr = '';

  /** @param url Address of the gateway, as `FLEET_URL`. */
  constructor(url: string, script: string, env: Readonly<Record<string, string>> = {}) {
    // The client needs no other package: to look for them is a third of the start of a program.
    this.#child = spawn('python3', ['-S', '-c', PRELUDE + script], {
      env: { ...process.env, ...withPythonClient(), FLEET_URL: url, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    if (this.#child.stdout === null) throw new TypeError('the program has no output');
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr += chunk.toString();
    });
    this.#exited = once(this.#child, 'close');
  }

  /** What it says next. */
  async said(): Promise<Said> {
    const { value, done } = await this.#lines.next();
    if (done !== true) return JSON.parse(value);
    await this.#exited;
    throw new Error(`the program ended without saying more:\n${this.#stderr}`);
  }

  /** Lets a program go on that waits for a line. */
  goOn(): void {
    this.write('');
  }

  /** Writes a line to its standard input. */
  write(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Waits for its end. */
  async end(): Promise<{ code: number | null; stderr: string }> {
    this.#child.stdin?.end();
    const [code] = await this.#exited;
    return { code: code as number | null, stderr: this.#stderr };
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
