import { readFileSync } from 'node:fs';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findInterpreter } from '../../examples/pipeline-ts/python-process.js';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { packagePath } from '../../src/package-root.js';
import { startTestGateway, type TestGateway } from '../gateway/gateway-fixture.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { withPythonClient } from '../support/python-client.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { type ForkingPython, startForkingPython } from './forking-python.js';

const interpreter = await findInterpreter();
if (interpreter === undefined) {
  console.warn('SKIPPED: Missing: a python3 with scikit-learn; the Python example is not run.');
}

const EXAMPLE = packagePath('examples', 'pipeline-python');
/** What a run prints, except for its numbers. */
const withoutNumbers = (text: string) => text.replaceAll(/\d\.\d+/g, '#');

describe.skipIf(interpreter === undefined)('examples/pipeline-python', () => {
  let redis: TestRedis;
  let test: TestFleet;
  let gateway: TestGateway;
  let python: ForkingPython;
  let evaluator: ReturnType<typeof runExample>;

  function runExample(file: string, ...args: string[]) {
    return execa(`${python.folder}/python3`, [`${EXAMPLE}/${file}`, ...args], {
      env: {
        FLEET_URL: gateway.url,
        ...withPythonClient(),
      },
      reject: false,
    });
  }

  beforeAll(async () => {
    if (interpreter === undefined) return;
    python = await startForkingPython(interpreter);
    redis = await startTestRedis();
    test = await startTestFleet(redis, 'pipeline');
    await test.worker(createOfflineRunner());
    gateway = await startTestGateway(redis, 'pipeline');
    evaluator = runExample('evaluator.py');
  });
  afterAll(async () => {
    evaluator.kill('SIGINT');
    await evaluator;
    await python.stop();
    await gateway.close();
    await test.close();
    await redis.stop();
  });

  it('REQ-SF-022: takes a solution through all phases; a second start finds every job done', async () => {
    const { stdout, stderr, exitCode } = await runExample('pipeline.py');
    expect([exitCode, stderr]).toEqual([0, '']);
    const readme = readFileSync(`${EXAMPLE}/README.md`, 'utf8');
    const [, shown = ''] = /```text\n([\s\S]*?)\n```/.exec(readme) ?? [];
    expect(withoutNumbers(stdout)).toBe(withoutNumbers(shown));
    const [, first, last] = /^score ([\d.]+) -> ([\d.]+)$/m.exec(stdout) ?? [];
    expect(Number(last)).toBeGreaterThan(Number(first));

    const evaluated = await test.fleet.queue('accuracy').getJobCountByTypes('completed');
    const again = await runExample('pipeline.py');
    expect([again.exitCode, again.stdout]).toEqual([0, stdout]);
    expect(await test.fleet.queue('accuracy').getJobCountByTypes('completed')).toBe(evaluated);
    const checks = await test.fleet.queue('solution-check').getJobCountByTypes('completed');
    expect(checks).toBe(evaluated);
  });
});
