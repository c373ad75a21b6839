import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** Longest run of a script, in milliseconds. */
const TIME_LIMIT_MS = 120_000;

/** A Python that has scikit-learn. */
export interface Interpreter {
  readonly command: string;
  /** Such as `Python 3.11.2, scikit-learn 1.2.1`. */
  readonly version: string;
}

/** The first Python that has scikit-learn; the one on the PATH may lack what the system's own has. */
export async function findInterpreter(): Promise<Interpreter | undefined> {
  // Importing scikit-learn would take ten times as long.
  const probe =
    'import platform; from importlib.metadata import version; ' +
    'print(f"Python {platform.python_version()}, scikit-learn {version(\'scikit-learn\')}")';
  for (const command of ['python3', '/usr/bin/python3']) {
    const { code, stdout } = await run(command, ['-c', probe], '').catch(() => ({ code: null, stdout: '' }));
    if (code === 0) return { command, version: stdout.trim() };
  }
  return undefined;
}

/**
 * Runs a script in an empty folder, and gives what it printed.
 * @throws Error with the last lines of the traceback where the script fails.
 */
export async function runScript(command: string, script: string, input: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pipeline-'));
  try {
    const path = join(folder, 'script.py');
    await writeFile(path, script);
    const { code, stdout, stderr } = await run(command, [path], input, folder);
    if (code === 0) return stdout;
    const lastLines = stderr.trimEnd().split('\n').slice(-3).join('\n');
    throw new Error(`the script ended with ${code ?? 'a signal'}: ${lastLines}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function run(command: string, args: readonly string[], input: string, cwd?: string) {
  const child = spawn(command, args, { cwd, timeout: TIME_LIMIT_MS, killSignal: 'SIGKILL' });
  // A script that ends without reading its input closes the pipe; its exit code says how it ended.
  child.stdin.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') child.kill('SIGKILL');
  });
  child.stdin.end(input);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr };
}
