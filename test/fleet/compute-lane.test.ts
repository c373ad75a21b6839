import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ComputeLane } from '../../src/fleet/compute-lane.js';
import { endSpareThreads } from '../../src/fleet/spare-threads.js';
import { testProgram } from '../support/programs.js';
import type { TestThreadData } from '../support/test-thread.js';
import { WAIT_LIMIT_MS } from '../support/wait-limit-ms.js';

const module = pathToFileURL(testProgram('test/support/test-thread'));
const owner = (signal = new AbortController().signal) => ({ tenant: 'a', signal });

let lane: ComputeLane<number, number>;
beforeEach(endSpareThreads);
afterEach(() => lane.close());

function start(data: TestThreadData, timeoutMs = 10_000, spareMs?: number) {
  lane = new ComputeLane({
    ...{ module, data, heapMb: 64, timeoutMs },
    ...(spareMs === undefined ? {} : { spareMs }),
  });
}

describe('a lane of tasks', () => {
  it('says at once that its thread cannot be started, at each task', async () => {
    start({ isBroken: true });
    for (let task = 0; task < 2; task += 1) {
      await expect(lane.run(1, owner())).rejects.toMatchObject({
        code: 'internal',
        message: expect.stringContaining('could not be started'),
      });
    }
  });

  it('gives up a task whose thread is still being started, and does the next one', async () => {
    start({ startMs: 3_000 });
    const cancelled = new AbortController();
    let isReady = false;
    const pending = lane.run(1, owner(cancelled.signal));
    const next = lane.run(2, owner()).then((result) => {
      isReady = true;
      return result;
    });
    const rejected = expect(pending).rejects.toMatchObject({ name: 'AbortError' });
    cancelled.abort('cancelled');
    await rejected;
    expect(isReady).toBe(false);
    expect(await next).toBe(2);
  });

  it('ends a second thread that no task needs', async () => {
    start({}, 1_200, 50);
    await lane.run(1, owner());
    const ends: Promise<unknown>[] = [];
    const onWorker = (worker: Worker) => void ends.push(once(worker, 'exit'));
    process.on('worker', onWorker);
    try {
      expect(await lane.run(700, owner())).toBe(700);
    } finally {
      process.off('worker', onWorker);
    }
    expect(ends).toHaveLength(1);
    await Promise.all(ends);
    expect(await lane.run(3, owner())).toBe(3);
  });

  it.skipIf(process.platform !== 'linux')(
    'counts what a task computes, not what it waits for a processor',
    async () => {
      start({}, 200);
      expect(await lane.run(-1_000, owner())).toBe(-1_000);
      await expect(lane.run(600_000, owner())).rejects.toMatchObject({ by: 'deadline' });
    },
  );

  it('gets the idle thread of a lane that was closed, but not one that was busy', async () => {
    const open = () => new ComputeLane<number, number>({ module, heapMb: 64, timeoutMs: WAIT_LIMIT_MS });
    lane = open();
    const first = await lane.run(0, owner());
    await lane.close();
    lane = open();
    expect(await lane.run(0, owner())).toBe(first);
    const busy = expect(lane.run(60_000, owner())).rejects.toThrow();
    // The thread is ready, so the task is in it after one turn of the event loop.
    await setImmediate();
    await lane.close();
    await busy;
    lane = open();
    expect(await lane.run(0, owner())).not.toBe(first);
  });
});
