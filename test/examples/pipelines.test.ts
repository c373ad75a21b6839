import { readFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findInterpreter } from '../../examples/pipeline-ts/python-process.js';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { packagePath } from '../../src/package-root.js';
import { startTestGateway, type TestGateway } from '../gateway/gateway-fixture.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { emptyFolder } from '../support/fleet-command.js';
import { PROGRAM_FLAGS, testProgram } from '../support/programs.js';
import { withPythonClient } from '../support/python-client.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { type ForkingPython, startForkingPython } from './forking-python.js';

const interpreter = await findInterpreter();
if (interpreter === undefined) {
  console.warn(
    'SKIPPED: Missing: a python3 with scikit-learn; one example is tested on recorded runs only, the Python one is not run.',
  );
}
/** For both examples: that it imports scikit-learn takes longer than what each trains. */
let python: ForkingPython | undefined;
beforeAll(async () => {
  if (interpreter !== undefined) python = await startForkingPython(interpreter);
});
afterAll(() => python?.stop());

/** Runs the example from a folder that is not its own. */
async function runExample(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { stdout, stderr, exitCode } = await execa(
    process.execPath,
    [...PROGRAM_FLAGS, testProgram('examples/pipeline-ts/main'), ...args],
    {
      cwd: emptyFolder(),
      env,
      reject: false,
    },
  );
  return { stdout, stderr, exitCode };
}

interface Attempt {
  readonly check: string;
  readonly before?: number;
  readonly after?: number;
  readonly outcome: string;
}

/** The attempts of each step, as they were printed. */
function attemptsByStep(stdout: string): Attempt[][] {
  const [, ...steps] = stdout.split(/^step \d of \d$/m);
  return steps.map((step) =>
    [...step.matchAll(/^ {2}check (\S+)$[\s\S]*?^ {2}score (?:([\d.]+) -> ([\d.]+), )?(.*)$/gm)].map(
      ([, check = '', before, after, outcome = '']) => ({
        check,
        outcome,
        ...(before === undefined || after === undefined
          ? {}
          : { before: Number(before), after: Number(after) }),
      }),
    ),
  );
}

/** What must hold of a run wherever its scripts run. */
function expectRises(stdout: string, count: number): void {
  const steps = attemptsByStep(stdout);
  expect(steps).toHaveLength(count);
  const first = Number(/^score {3}([\d.]+)$/m.exec(stdout)?.[1]);
  let best = first;
  for (const attempts of steps) {
    const beforeStep = best;
    for (const { before, after, outcome } of attempts) {
      if (after === undefined) continue;
      expect(before).toBe(best);
      expect(outcome).toBe(after > best ? 'kept' : 'not kept');
      best = Math.max(best, after);
    }
    expect(best).toBeGreaterThan(beforeStep);
  }
  expect(stdout.trimEnd().split('\n').at(-1)).toBe(`score   ${first.toFixed(4)} -> ${best.toFixed(4)}`);
}

describe('examples/pipeline-ts', () => {
  let recorded: Awaited<ReturnType<typeof runExample>>;
  beforeAll(async () => {
    recorded = await runExample(['--recorded']);
  });

  it('REQ-SF-022: raises its score in each of three steps, and evaluates no leak', () => {
    const { stdout, stderr, exitCode } = recorded;
    expect([exitCode, stderr]).toEqual([0, '']);
    expectRises(stdout, 3);
    const leaky = attemptsByStep(stdout)
      .flat()
      .filter(({ check }) => check !== 'clean');
    expect(leaky.map(({ check }) => check)).toContain('corrected');
    for (const { check, after } of leaky) {
      if (check !== 'corrected') expect(after).toBeUndefined();
    }
    expect(stdout).toContain('- scaler.fit(np.vstack([X_train, X_valid]))\n        + scaler.fit(X_train)\n');
  });

  it('evaluates no copy of a known solution, though it has no leak', () => {
    const last = attemptsByStep(recorded.stdout).flat().at(-1);
    expect(last).toMatchObject({
      check: 'clean',
      outcome: expect.stringMatching(/^none: its evaluation requires/),
    });
    expect(last?.after).toBeUndefined();
    expect(recorded.stdout.replaceAll(/\s+/g, ' ')).toContain(
      'its script is contaminated (test case digits)',
    );
  });

  it('has an output for every script of its recorded run', () => {
    const missing = 'no output of this script was recorded';
    expect(recorded.stdout + recorded.stderr, 'record again with --record').not.toContain(missing);
  });

  it('prints what its README shows', () => {
    const readme = readFileSync(packagePath('examples', 'pipeline-ts', 'README.md'), 'utf8');
    const [, shown] = /```text\n([\s\S]*?)```/.exec(readme) ?? [];
    expect(`${recorded.stdout}\n`, 'the README shows the output of --recorded').toBe(shown);
  });

  it('is readable in a narrow terminal', () => {
    expect(recorded.stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it('refuses arguments that it does not know, and two at once', async () => {
    expect(await runExample(['--faster'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('--faster'),
    });
    const both = await runExample(['--real', '--recorded']);
    expect(both).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('only one of') });
  });

  it.skipIf(interpreter === undefined)('really trains: raises its score with scikit-learn', async () => {
    const env = { PATH: `${python?.folder}${delimiter}${process.env.PATH}` };
    const { stdout, stderr, exitCode } = await runExample(['--real', '--steps', '1'], env);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`Scripts run with ${interpreter?.version}`);
    expectRises(stdout, 1);
  });
});

const PYTHON_EXAMPLE = packagePath('examples', 'pipeline-python');
/** What a run prints, except for its numbers. */
const withoutNumbers = (text: string) => text.replaceAll(/\d\.\d+/g, '#');

describe.skipIf(interpreter === undefined)('examples/pipeline-python', () => {
  let redis: TestRedis;
  let test: TestFleet;
  let gateway: TestGateway;
  let evaluator: ReturnType<typeof runScript>;

  function runScript(file: string, ...args: string[]) {
    return execa(`${python?.folder}/python3`, [`${PYTHON_EXAMPLE}/${file}`, ...args], {
      env: {
        FLEET_URL: gateway.url,
        ...withPythonClient(),
      },
      reject: false,
    });
  }

  beforeAll(async () => {
    redis = await startTestRedis();
    test = await startTestFleet(redis, 'pipeline');
    await test.worker(createOfflineRunner());
    gateway = await startTestGateway(redis, 'pipeline');
    evaluator = runScript('evaluator.py');
  });
  afterAll(async () => {
    evaluator.kill('SIGINT');
    await evaluator;
    await gateway.close();
    await test.close();
    await redis.stop();
  });

  it('REQ-SF-022: takes a solution through all phases; a second start finds every job done', async () => {
    const { stdout, stderr, exitCode } = await runScript('pipeline.py');
    expect([exitCode, stderr]).toEqual([0, '']);
    const readme = readFileSync(`${PYTHON_EXAMPLE}/README.md`, 'utf8');
    const [, shown = ''] = /```text\n([\s\S]*?)\n```/.exec(readme) ?? [];
    expect(withoutNumbers(stdout)).toBe(withoutNumbers(shown));
    const [, first, last] = /^score ([\d.]+) -> ([\d.]+)$/m.exec(stdout) ?? [];
    expect(Number(last)).toBeGreaterThan(Number(first));

    const evaluated = await test.fleet.queue('accuracy').getJobCountByTypes('completed');
    const again = await runScript('pipeline.py');
    expect([again.exitCode, again.stdout]).toEqual([0, stdout]);
    expect(await test.fleet.queue('accuracy').getJobCountByTypes('completed')).toBe(evaluated);
    const checks = await test.fleet.queue('solution-check').getJobCountByTypes('completed');
    expect(checks).toBe(evaluated);
  });
});
