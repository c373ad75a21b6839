import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { packagePath } from '../../src/package-root.js';
import { endWithBench } from './end-with-bench.js';

/** A program of `bench/` in its own process. */
export interface BenchProcess {
  readonly child: ChildProcess;
  /** The first line of its standard output. */
  readonly firstLine: string;
  /** Ends it with SIGKILL. */
  kill(): Promise<void>;
}

/** Starts a program, in TypeScript or plain JavaScript, and waits for its first line. */
export async function startBenchProcess(
  file: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<BenchProcess> {
  const loader = file.endsWith('.ts') ? ['--import', 'tsx'] : [];
  const child = spawn(process.execPath, [...loader, packagePath('bench', 'peers', file)], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  endWithBench(child);
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const ended = exited.then(([code]) => {
    throw new Error(`${file} ended with ${code} before it was ready`);
  });
  const [firstLine] = await Promise.race([once(lines, 'line'), ended]);
  ended.catch(() => undefined);
  return {
    child,
    firstLine,
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
