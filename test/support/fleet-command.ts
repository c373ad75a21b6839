import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { execa } from 'execa';
import { canRunHere, runHere } from './command-in-process.js';
import { PROGRAM_FLAGS, testProgram } from './programs.js';

const MAIN = testProgram('src/cli/main');

export interface CommandOptions {
  /** Working directory; default: a new, empty one. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Whether the command needs a separate process: it dies, or the test is about the end of a process. */
  readonly ownProcess?: boolean;
  /** Whether a command that otherwise runs until a signal comes is refused at its start, or prints its help. */
  readonly endsAtOnce?: boolean;
}

export interface CommandResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | undefined;
}

export function emptyFolder(): string {
  return mkdtempSync(join(tmpdir(), 'cli-'));
}

/**
 * Runs the `fleet` command to its end, as a user would in a terminal without colors: in this process if possible, or in a
 * separate one if another command already runs here or the command needs one.
 */
export async function fleetCommand(
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  if (options.ownProcess !== true && canRunHere(args, options.env, options.endsAtOnce)) {
    return runHere(args, options.cwd ?? emptyFolder(), options.env, options.input);
  }
  const { stdout, stderr, exitCode } = await execa(process.execPath, [...PROGRAM_FLAGS, MAIN, ...args], {
    cwd: options.cwd ?? emptyFolder(),
    env: { ...options.env },
    input: options.input ?? '',
    reject: false,
    stripFinalNewline: false,
  });
  return { stdout, stderr, exitCode };
}

export interface RunningCommand {
  readonly child: ChildProcess;
  /**
   * Resolves once a line of standard error or output contains the text; rejects if the command ends first.
   * @param from Number of the first line that counts; default: 0
   */
  printed(text: string, from?: number): Promise<void>;
  /** Resolves with the exit code at its end, or null if a signal ended it, when all it printed was read. */
  readonly exited: Promise<number | null>;
  /** All lines so far. */
  readonly lines: readonly string[];
  /** Sends a signal and waits for the end; returns the exit code, or null if the signal ended it. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/** Starts the `fleet` command as a process and leaves it running. */
export function startFleetCommand(args: readonly string[], options: CommandOptions = {}): RunningCommand {
  const child = spawn(process.execPath, [...PROGRAM_FLAGS, MAIN, ...args], {
    cwd: options.cwd ?? emptyFolder(),
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  const waiting: { text: string; resolve: () => void; reject: (reason: Error) => void }[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      for (const waiter of waiting) if (line.includes(waiter.text)) waiter.resolve();
    });
  }
  const exited = once(child, 'exit');
  const closed = once(child, 'close');
  void exited.then(() => {
    for (const { text, reject } of waiting) {
      reject(new Error(`fleet ${args.join(' ')} ended without printing "${text}":\n${lines.join('\n')}`));
    }
  });
  return {
    child,
    exited: closed.then(([code]) => code as number | null),
    lines,
    printed: (text, from = 0) => {
      if (lines.slice(from).some((line) => line.includes(text))) return Promise.resolve();
      return new Promise((resolve, reject) => waiting.push({ text, resolve, reject }));
    },
    end: async (signal) => {
      child.kill(signal);
      const [code] = await exited;
      return code as number | null;
    },
  };
}

/** Stops workers cleanly without a drain: their jobs return to the queue. */
export async function stopWorkers(commands: readonly RunningCommand[]): Promise<void> {
  await Promise.all(
    commands.map((command) => {
      // The second signal ends the time to drain; two of one kind could arrive as one.
      command.child.kill('SIGINT');
      return command.end('SIGTERM');
    }),
  );
}
