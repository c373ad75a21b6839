import { expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { addSummarize } from '../../src/producers/summarize.js';
import { fleetOfTest } from '../support/fleet.js';
import { redisOfFile } from '../support/redis.js';
import { WAIT_LIMIT_MS } from '../support/wait-limit-ms.js';

const redis = redisOfFile();

/** Lines just short enough to be read whole, on which expressions may try every way of dividing a text. */
const HOSTILE = Array.from({ length: 39 }, (_, at) =>
  at % 2 === 0 ? `failed${' '.repeat(393)}U` : `failed -${'-'.repeat(391)}U`,
).join('\n');
const study = (rawOutput: string) => ({ ablationCode: 'print("baseline")\n', rawOutput });

it('an output of hostile lines delays a small job of another tenant by no more than one task', async () => {
  const { test } = await fleetOfTest(redis, 'hostile-summaries');
  await test.worker(createOfflineRunner(), {
    kinds: ['summarize'],
    analysis: { timeoutMs: WAIT_LIMIT_MS, heapMb: 512 },
  });
  const hostile = await addSummarize(test.fleet, study(`Baseline: 0.90\nNo scaler: 0.85\n${HOSTILE}`), {
    tenant: 'a',
  });
  const small = await addSummarize(test.fleet, study('Baseline: 0.9\nNo scaler: 0.8\n'), { tenant: 'b' });
  expect((await small.result()).summary).toContain('scaler');
  // Its expressions once took hours for these lines; the analysis limit would end it as a failure.
  expect((await hostile.result()).summary).toContain('scaler');
  expect((await hostile.view()).attempts).toBe(1);
});
