import { afterEach, describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { checkAndFixLeakage } from '../../src/processors/leakage-check/check-and-fix-leakage.js';
import { cancelJob } from '../../src/producers/cancel-job.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { featureScript } from '../support/feature-script.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { watchMainThread } from '../support/main-thread.js';
import { redisOfFile } from '../support/redis.js';

/** A script that counts as long, which a few characters more make it: the analysis reads comments quickly. */
const long = (features: number) => ({ content: `${'# padding\n'.repeat(2_000)}${featureScript(features)}` });

const redis = redisOfFile();
let fleets = 0;
let test: TestFleet;
afterEach(() => test.close());

async function startFleet() {
  fleets += 1;
  test = await startTestFleet(redis, `large-script-${fleets}`);
  const worker = await test.worker(createOfflineRunner(), {
    kinds: ['solution-check'],
    // For a busy machine.
    analysis: { timeoutMs: 300_000, heapMb: 512 },
  });
  // The first large script starts the thread.
  await (await addSolutionCheck(test.fleet, { solution: long(10) })).result();
  return { fleet: test.fleet, worker };
}

describe('a check of a large script', () => {
  it('leaves the event loop of its worker free, and has the same findings and corrections as in place', async () => {
    const { fleet } = await startFleet();
    const solution = long(50);
    const handle = await addSolutionCheck(fleet, { solution });
    const expectDoneInThread = await watchMainThread('leakage');
    const result = await handle.result();
    expect(result.status).toBe('corrected');
    await expectDoneInThread(async () => {
      expect(result).toEqual(await checkAndFixLeakage(solution, createOfflineRunner()));
    });
  });

  it('that is cancelled in the middle does not keep its worker from working or from stopping', async () => {
    const { fleet, worker } = await startFleet();
    const large = { solution: long(150) };
    const handle = await addSolutionCheck(fleet, large);
    await test.logged('job started');
    await cancelJob(fleet, handle.id);
    expect((await handle.view()).state).toBe('cancelled');
    const next = await addSolutionCheck(fleet, { solution: long(10) });
    expect((await next.result()).status).toBe('corrected');
    await addSolutionCheck(fleet, large);
    await worker.stop(0);
  });
});
