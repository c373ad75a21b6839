/**
 * A separate process with a worker for each of some fleets, which stops at a point in the life of a batch. Arguments: Redis address,
 * and a list of `BatchCrash` as JSON. It sends each point that it has reached, and waits there to be killed; after the last point of
 * all it kills itself, and at another one it stops until it is continued.
 */
import { pino } from 'pino';
import type { BatchProvider } from '../../src/calls/batches/batch-provider.js';
import { FleetWorker } from '../../src/fleet/worker.js';
import { BATCH_TIMING, type BatchCrash, batchRunner, KILLS_ITSELF } from './batch-runner.js';

const [, , redisUrl, list] = process.argv;
if (redisUrl === undefined || list === undefined) throw new Error('usage: batch-worker.ts REDIS CRASHES');

const reached = (point: string) => new Promise((resolve) => process.send?.(point, resolve));

/** What the process does next, it does for the other fleets. */
async function untilKilled(point: string): Promise<never> {
  await reached(point);
  return new Promise(() => undefined);
}

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  // The signal may take a moment, and nothing more may be written.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

function stopping(provider: BatchProvider, point: string): BatchProvider {
  return {
    ...provider,
    create: async (requests, signal) => {
      if (point === 'before its creation') return untilKilled(point);
      if (point === 'paused before its creation') {
        await reached(point);
        process.kill(process.pid, 'SIGSTOP');
        // As if it had stopped when the request was on its way: the time limit of the request is over.
        return provider.create(requests, new AbortController().signal);
      }
      const created = await provider.create(requests, signal);
      return point === 'before its id is recorded' ? untilKilled(point) : created;
    },
    retrieve: (id, signal) =>
      point === 'while it runs' ? untilKilled(point) : provider.retrieve(id, signal),
    async *results(id, signal) {
      for await (const line of provider.results(id, signal)) {
        yield line;
        if (point === 'while its results are read') await untilKilled(point);
      }
    },
  };
}

async function start({ prefix, url, point }: BatchCrash): Promise<void> {
  const runner = batchRunner({ url });
  if (runner.batches === undefined) throw new TypeError('the runner has no batches');
  await FleetWorker.start({
    redisUrl: redisUrl as string,
    prefix,
    runner: { ...runner, batches: stopping(runner.batches, point) },
    logger: pino(
      { level: 'info' },
      {
        write: (line: string) => {
          if (point === KILLS_ITSELF && line.includes('a batch has ended')) die();
        },
      },
    ),
    kinds: ['solution-check'],
    concurrency: 5,
    lockMs: 20_000,
    // No request times out before the process is killed.
    calls: { batches: { ...BATCH_TIMING, requestMs: 600_000 } },
  });
}

for (const crash of JSON.parse(list) as BatchCrash[]) void start(crash);
