import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { addJobs } from '../../src/producers/add-jobs.js';
import type { FleetClient } from '../../src/producers/fleet-client.js';

export interface WorkerHeap {
  /** Bytes of live heap after each number of jobs. */
  readonly bytes: readonly number[];
  readonly warnings: readonly string[];
}

/**
 * Runs jobs in one worker process and measures its live heap after each of the ascending numbers.
 * @param program Arguments with which Node starts `counting-worker.ts`.
 */
export async function heapOfWorker(
  program: readonly string[],
  fleet: FleetClient,
  redisUrl: string,
  apiUrl: string,
  numbers: readonly number[],
): Promise<WorkerHeap> {
  const jobs = numbers.at(-1) ?? 0;
  await addJobs(
    fleet,
    Array.from({ length: jobs }, (_, index) => ({
      kind: 'solution-check' as const,
      payload: { solution: { content: `x = ${index}\n` } },
    })),
  );
  const child = spawn(
    process.execPath,
    ['--expose-gc', ...program, redisUrl, fleet.prefix, apiUrl, numbers.join(',')],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const exited = once(child, 'exit');
  const bytes: number[] = [];
  const warnings: string[] = [];
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.startsWith('warning ')) warnings.push(line);
      if (line.startsWith('heap ')) bytes.push(Number(line.split(' ')[2]));
      if (bytes.length === numbers.length) break;
    }
  } finally {
    child.kill('SIGKILL');
    await exited;
  }
  if (bytes.length < numbers.length) throw new Error('the worker ended before its jobs had');
  return { bytes, warnings };
}
