import { afterEach, describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { ContaminationDetector } from '../../src/contamination/index.js';
import { addContamination } from '../../src/producers/contamination.js';
import { addKnownSolutions, removeKnownSolutions } from '../../src/producers/known-solutions.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { watchMainThread } from '../support/main-thread.js';
import { redisOfFile } from '../support/redis.js';

const KNOWN = 'function add(a, b) { return a + b; }';
const testCase = (id: string) => ({ id, name: id, difficulty: 'easy' as const });

const redis = redisOfFile();
let test: TestFleet;
let fleets = 0;
afterEach(() => test.close());

async function startFleet() {
  fleets += 1;
  test = await startTestFleet(redis, `contamination-${fleets}`);
  await test.worker(createOfflineRunner(), {
    kinds: ['contamination'],
    // For a busy machine.
    analysis: { timeoutMs: 300_000, heapMb: 512 },
  });
  return test.fleet;
}

describe('a contamination job', () => {
  it("SPEC-SIL-009 verdict: is checked against the fleet's known solutions as they are at its start", async () => {
    const fleet = await startFleet();
    const check = async () =>
      (await (await addContamination(fleet, { output: KNOWN, testCase: testCase('t1') })).result())
        .contaminated;
    expect(await check()).toBe(false);
    await addKnownSolutions(fleet, [{ testCaseId: 't1', solution: KNOWN }]);
    expect(await check()).toBe(true);
    await removeKnownSolutions(fleet, 't1');
    expect(await check()).toBe(false);
  });

  it('checks with the configuration of the job', async () => {
    const fleet = await startFleet();
    await addKnownSolutions(fleet, [{ testCaseId: 't1', solution: KNOWN }]);
    const config = { skipChecks: ['similarity' as const, 'exact' as const] };
    const handle = await addContamination(fleet, { output: KNOWN, testCase: testCase('t1'), config });
    const { contaminated, checks } = await handle.result();
    expect(contaminated).toBe(false);
    expect(checks).not.toHaveProperty('similarity');
  });

  it('rejects a test case that breaks its rules, once', async () => {
    const fleet = await startFleet();
    const payload = { output: 'x', testCase: { ...testCase('t'), solveTime: -1 } };
    await expect(addContamination(fleet, payload)).rejects.toMatchObject({ field: 'testCase.solveTime' });
  });

  it('of a long output does not block the event loop of its worker', async () => {
    const fleet = await startFleet();
    const lines = Array.from(
      { length: 700 },
      (_, index) => `value_${index} = compute(${index}, other[${index % 97}])`,
    );
    const known = lines.slice(0, 150).join('\n');
    await addKnownSolutions(fleet, [{ testCaseId: 'big', solution: known }]);
    const warm = await addContamination(fleet, { output: 'x = 1', testCase: testCase('big') });
    await warm.result();
    const output = lines.join('\n');
    const handle = await addContamination(fleet, { output, testCase: testCase('big') });
    const expectDoneInThread = await watchMainThread('contamination');
    const result = await handle.result();
    expect(result.contaminated).toBe(true);
    await expectDoneInThread(async () => {
      const detector = new ContaminationDetector();
      detector.addToTrainingSet('big', known);
      expect(await detector.checkContamination(output, testCase('big'))).toMatchObject({
        contaminated: true,
      });
    });
  });
});
