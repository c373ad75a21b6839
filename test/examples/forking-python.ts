import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Interpreter } from '../../examples/pipeline-ts/python-process.js';

const SERVER = fileURLToPath(new URL('forking-python.py', import.meta.url));

export interface ForkingPython {
  /** For the front of the PATH: its `python3` runs each script in a fork of the process that has imported scikit-learn. */
  readonly folder: string;
  stop(): Promise<void>;
}

/**
 * Imports scikit-learn once for all scripts of an example: each would take more processor time to import it than to train its
 * models. Everything else is as if `python3` ran them.
 */
export async function startForkingPython({ command }: Interpreter): Promise<ForkingPython> {
  const folder = mkdtempSync(join(tmpdir(), 'python-'));
  const server = spawn(command, [SERVER, folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
  });
  const exited = once(server, 'exit');
  const ready = once(server.stdout, 'data');
  await Promise.race([
    ready,
    exited.then(([code]) => Promise.reject(new Error(`${SERVER} ended with ${String(code)}`))),
  ]);
  return {
    folder,
    stop: async () => {
      server.stdin.end();
      await exited;
    },
  };
}
