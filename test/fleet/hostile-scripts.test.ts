import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { analyzeLeakage } from '../../src/leakage/index.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { watchMainThread } from '../support/main-thread.js';
import { manyLeaks } from '../support/many-leaks.js';
import { redisOfFile } from '../support/redis.js';
import { WAIT_LIMIT_MS } from '../support/wait-limit-ms.js';

const redis = redisOfFile();
let fleets = 0;
let test: TestFleet;
beforeEach(async () => {
  fleets += 1;
  test = await startTestFleet(redis, `hostile-${fleets}`);
});
afterEach(() => test.close());

/** 408 bytes that represent 2^40 elements. */
const DOUBLING = `t = [1]\n${'t = t + t\n'.repeat(40)}`;
/** The scanner of the grammar reads what follows again at each line: 16 times the time for four times the text. */
const CONTINUED = `${'\\\n'.repeat(30_000)}x = 1\n`;
const LARGE = 'f()\n'.repeat(100_000);
/** More leaks than are listed, each of which is there as often. */
const REPEATED = manyLeaks(51);
/** A command of a notebook, and so many lines that reading them takes long enough to be seen. */
const COMMANDS = `!ls\n)${'\n'.repeat(20_000)}`;
const TWO_LINES = 'import pandas as pd\nprint(pd.read_csv("a.csv").shape)\n';

async function startWorker(analysis = { timeoutMs: 2_000, heapMb: 512 }, concurrency = 3) {
  const worker = await test.worker(createOfflineRunner(), {
    ...{ kinds: ['solution-check'] as const, concurrency, analysis, lockMs: WAIT_LIMIT_MS },
  });
  // The first script starts the threads.
  await (await check(TWO_LINES, 'first')).result();
  return worker;
}

const check = (content: string, tenant: string) =>
  addSolutionCheck(test.fleet, { solution: { content } }, { tenant });

function expectNoLockLost(): void {
  const lines = test.logLines.map(({ msg }) => String(msg));
  expect(lines.filter((line) => /\block\b|taken over/.test(line))).toEqual([]);
}

describe('a script made to exhaust its reader', () => {
  it('by values without end is checked, and its worker lives', async () => {
    await startWorker();
    const [bomb, other] = [await check(DOUBLING, 'a'), await check(TWO_LINES, 'b')];
    expect((await other.result()).status).toBe('clean');
    expect((await bomb.result()).status).toBe('clean');
    expectNoLockLost();
  });

  it('by its syntax fails with a specific error, after one attempt, and delays no other job', async () => {
    // Work on the main thread has no limit.
    await startWorker({ timeoutMs: 400, heapMb: 512 }, 2);
    const bombs = [await check(CONTINUED, 'a'), await check(CONTINUED, 'a')];
    await test.logged('job started');
    const other = await check(TWO_LINES, 'b');
    expect((await other.result()).status).toBe('clean');
    const [first] = bombs;
    expect((await first?.view())?.state).not.toBe('failed');
    for (const bomb of bombs) {
      await expect(bomb.result()).rejects.toMatchObject({ code: 'analysis-limit' });
      expect((await bomb.view()).attempts).toBe(1);
    }
    expect((await (await check(TWO_LINES, 'a')).result()).status).toBe('clean');
    expectNoLockLost();
  });

  it('by leaks without end has as many findings as are listed, and none is taken as corrected', async () => {
    await startWorker({ timeoutMs: WAIT_LIMIT_MS, heapMb: 512 });
    const expectReadInThread = await watchMainThread('leakage');
    const { status, findings, notFollowed } = await (await check(REPEATED, 'a')).result();
    expect(findings).toHaveLength(50);
    expect(status).toBe('uncorrected');
    expect(notFollowed?.map(({ reason }) => reason)).toContainEqual(
      expect.stringContaining('more than 50 leaks'),
    );
    expectNoLockLost();
    await expectReadInThread(() => analyzeLeakage(REPEATED));
  });

  it('by lines and commands of a notebook is read in a thread', async () => {
    await startWorker({ timeoutMs: WAIT_LIMIT_MS, heapMb: 512 });
    const expectReadInThread = await watchMainThread('solution');
    expect((await (await check(COMMANDS, 'a')).result()).status).toBe('clean');
    expectNoLockLost();
    await expectReadInThread(() => analyzeLeakage(COMMANDS));
  });

  it('by its memory loses its thread alone', async () => {
    await startWorker({ timeoutMs: WAIT_LIMIT_MS, heapMb: 16 });
    const large = await check('f()\n'.repeat(30_000), 'a');
    await expect(large.result()).rejects.toMatchObject({
      code: 'analysis-limit',
      message: expect.stringContaining('16 MiB'),
    });
    expect((await (await check(TWO_LINES, 'a')).result()).status).toBe('clean');
    expectNoLockLost();
  });
});

describe('many large scripts of one tenant', () => {
  it('do not occupy the slots that a short script of another tenant needs', async () => {
    const worker = await startWorker({ timeoutMs: WAIT_LIMIT_MS, heapMb: 512 }, 2);
    const large = await Promise.all(Array.from({ length: 6 }, () => check(LARGE, 'a')));
    const states = () => Promise.all(large.map(async (handle) => (await handle.view()).state));
    const running = async () => (await states()).filter((state) => state === 'active').length;
    // Slots are made up for, also for the jobs that wait in them.
    await expect.poll(running).toBeGreaterThanOrEqual(5);
    const other = await check(TWO_LINES, 'b');
    expect((await other.result()).status).toBe('clean');
    // None of them has freed its slot.
    expect((await states()).filter((state) => state === 'completed' || state === 'failed')).toEqual([]);
    expectNoLockLost();
    await worker.stop(0);
  });
});
