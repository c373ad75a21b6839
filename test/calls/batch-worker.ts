/**
 * A separate worker process that kills itself at a point in the life of a batch, or stops there until it is continued.
 * Arguments: Redis address, prefix, address of the Messages API, the point.
 */
import { pino } from 'pino';
import type { BatchProvider } from '../../src/calls/batches/batch-provider.js';
import { FleetWorker } from '../../src/fleet/worker.js';
import { BATCH_TIMING, batchRunner } from './batch-runner.js';

const [, , redisUrl, prefix, url, point] = process.argv;
if (redisUrl === undefined || prefix === undefined || url === undefined || point === undefined)
  throw new Error('usage: batch-worker.ts REDIS PREFIX API POINT');

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  // The signal may take a moment, and nothing more may be written.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

function dying(provider: BatchProvider): BatchProvider {
  return {
    ...provider,
    create: async (requests, signal) => {
      if (point === 'before its creation') die();
      if (point === 'paused before its creation') {
        await new Promise((resolve) => process.send?.('paused', resolve));
        process.kill(process.pid, 'SIGSTOP');
        // As if it had stopped when the request was on its way: the time limit of the request is over.
        return provider.create(requests, new AbortController().signal);
      }
      const created = await provider.create(requests, signal);
      return point === 'before its id is recorded' ? die() : created;
    },
    retrieve: (id, signal) => (point === 'while it runs' ? die() : provider.retrieve(id, signal)),
    async *results(id, signal) {
      for await (const line of provider.results(id, signal)) {
        yield line;
        if (point === 'while its results are read') die();
      }
    },
  };
}

const runner = batchRunner({ url });
if (runner.batches === undefined) throw new TypeError('the runner has no batches');
await FleetWorker.start({
  redisUrl,
  prefix,
  runner: { ...runner, batches: dying(runner.batches) },
  logger: pino(
    { level: 'info' },
    {
      write: (line: string) => {
        if (point === 'before jobs are woken' && line.includes('a batch has ended')) die();
      },
    },
  ),
  kinds: ['solution-check'],
  concurrency: 5,
  lockMs: 2_000,
  calls: { batches: BATCH_TIMING },
});
