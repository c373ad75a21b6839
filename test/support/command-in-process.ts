import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import type { runProgram } from '../../src/cli/run-program.js';
import { testProgram } from './programs.js';

/** These run until a signal comes, or start themselves as another process. */
const PROCESSES: readonly (string | undefined)[] = ['worker', 'serve', 'demo'];

let isRunning = false;

/** What Node reads when it starts, and what makes a command write its log to the file descriptor. */
const FOR_PROCESSES = /^(NODE_|FLEET_LOG_LEVEL$)/;

/** Whether a command can run in this process: no other command runs, and it ends by itself. */
export function canRunHere(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  endsAtOnce = false,
): boolean {
  const needsProcess =
    (PROCESSES.includes(args[0]) && !endsAtOnce) || Object.keys(env).some((name) => FOR_PROCESSES.test(name));
  return !isRunning && !needsProcess && process.env.TEST_PROGRAMS !== undefined;
}

/** Runs a command of the `fleet` program here, with a separate working directory, environment and standard streams. */
export async function runHere(
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
  input = '',
): Promise<{ stdout: string; stderr: string; exitCode: number }> {
  isRunning = true;
  const home = process.cwd();
  const { argv, exitCode } = process;
  const environment = Object.keys(env).map((name) => [name, process.env[name]] as const);
  const stdin = Object.getOwnPropertyDescriptor(process, 'stdin');
  const [stdout, stderr] = [capture(process.stdout), capture(process.stderr)];
  try {
    process.chdir(cwd);
    Object.assign(process.env, env);
    process.argv = [process.execPath, testProgram('src/cli/main'), ...args];
    process.exitCode = undefined;
    Object.defineProperty(process, 'stdin', {
      configurable: true,
      value: Readable.from([Buffer.from(input)]),
    });
    const program = (await import(pathToFileURL(testProgram('src/cli/run-program')).href)) as {
      runProgram: typeof runProgram;
    };
    await program.runProgram(args);
    return { stdout: stdout.text(), stderr: stderr.text(), exitCode: Number(process.exitCode ?? 0) };
  } finally {
    for (const stream of [stdout, stderr]) stream.restore();
    if (stdin !== undefined) Object.defineProperty(process, 'stdin', stdin);
    for (const [name, value] of environment) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    Object.assign(process, { argv, exitCode });
    process.chdir(home);
    isRunning = false;
  }
}

/** Keeps what is written to a stream, until it is restored. */
function capture(stream: NodeJS.WriteStream): { text(): string; restore(): void } {
  const { write } = stream;
  const chunks: Buffer[] = [];
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    chunks.push(Buffer.from(chunk));
    const written = rest.find((each): each is () => void => typeof each === 'function');
    if (written !== undefined) process.nextTick(written);
    return true;
  };
  return {
    text: () => Buffer.concat(chunks).toString(),
    restore: () => {
      stream.write = write;
    },
  };
}
