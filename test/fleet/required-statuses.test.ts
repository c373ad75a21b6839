import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { RefusedSolutionError, UncheckedSolutionError } from '../../src/errors.js';
import { ChildJobs } from '../../src/fleet/children/child-jobs.js';
import { childProducer } from '../../src/fleet/children/child-submission.js';
import { WaitForChildren } from '../../src/fleet/children/wait-for-children.js';
import { findJob } from '../../src/producers/find-job.js';
import type { FleetClient } from '../../src/producers/fleet-client.js';
import { batchOutcomes } from '../../src/producers/flows/batch-outcomes.js';
import { addCandidateBatch } from '../../src/producers/flows/candidate-batch.js';
import { checkedSolution } from '../../src/producers/flows/checked-solution.js';
import {
  addGuardedEvaluation,
  type GuardedEvaluation,
} from '../../src/producers/flows/guarded-evaluation.js';
import { addKnownSolutions, removeKnownSolutions } from '../../src/producers/known-solutions.js';
import { digestOf } from '../../src/queues/digest.js';
import type { Opinion } from '../../src/queues/solution-check.js';
import { correction, leaks, runnerFor } from '../support/agent-answers.js';
import { startPipelineWorker } from '../support/evaluation-worker.js';
import { fleetOfTest, type TestFleet } from '../support/fleet.js';
import type { MessagesApi } from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';

const redis = redisOfFile();
const SCRIPT = 'a = fit(all)\nb = score(all)\n';
const CORRECTED = 'a = fit(train)\nb = score(all)\n';
const testCase = { id: 'digits', name: 'Digits', difficulty: 'easy' as const };
const evaluation = { queue: 'evaluate', name: 'score' };
const BOTH: GuardedEvaluation = {
  solution: { content: SCRIPT },
  evaluation,
  contamination: { testCase },
  require: { leakage: ['clean', 'corrected'], contamination: 'clean' },
};

let test: TestFleet;
let fleet: FleetClient;
let api: MessagesApi;
let replacement: string;

beforeEach(async () => {
  replacement = 'a = fit(train)';
  ({ test, api } = await fleetOfTest(redis, 'statuses', ({ body, text }) => {
    if (!text.includes('fit(all)')) return leaks();
    return body.output_config === undefined ? correction(replacement) : leaks('a = fit(all)');
  }));
  ({ fleet } = test);
  await know(SCRIPT);
});

const know = (solution: string) => addKnownSolutions(fleet, [{ testCaseId: testCase.id, solution }]);
const comparisons = () => fleet.queue('contamination').getJobCounts();

/** Submits an evaluation, does its checks, and asks for its script as the evaluating side does. */
async function checkedScript(request: GuardedEvaluation = BOTH) {
  const { evaluation, check } = await addGuardedEvaluation(fleet, request);
  await test.worker(runnerFor(api));
  const result = await check.result();
  const { job } = await findJob(fleet, evaluation.id, 'evaluate');
  return { job, result, id: evaluation.id, check: check.id, script: () => checkedSolution(job) };
}

describe('an evaluation that requires statuses', () => {
  it('gets the corrected script, compared as it is: the leaky original is a known solution, the corrected one is not', async () => {
    const { script, result } = await checkedScript();
    const checked = await script();
    expect(checked.solution.content).toBe(CORRECTED);
    expect(checked.contamination).toMatchObject({ status: 'clean', digest: digestOf(CORRECTED) });
    expect(result.contamination).toEqual(checked.contamination);
    // A detection and a correction: the comparison asks no agent.
    expect(api.requests).toHaveLength(2);
  });

  it('is refused a corrected script that is a known solution', async () => {
    await know(CORRECTED);
    const { script, id } = await checkedScript();
    const refused = script();
    await expect(refused).rejects.toBeInstanceOf(RefusedSolutionError);
    await expect(refused).rejects.toMatchObject({
      code: 'solution-refused',
      status: 'contaminated',
      jobId: id,
      message: expect.stringContaining(
        'its script is contaminated (test case digits): Output 100.0% similar',
      ),
    });
  });

  it.each<[string, Partial<GuardedEvaluation>]>([
    ['required statuses', BOTH],
    ['onUncorrected', { onUncorrected: 'refuse', require: { contamination: 'clean' } }],
  ])('is refused a script that keeps its leak, which is compared with nothing (%s)', async (_name, more) => {
    replacement = 'a = (';
    const { script } = await checkedScript({ ...BOTH, ...more });
    await expect(script()).rejects.toMatchObject({
      code: 'solution-refused',
      status: 'uncorrected',
      message: expect.stringContaining('clean or corrected; it is uncorrected'),
    });
    expect(Object.values(await comparisons()).every((count) => count === 0)).toBe(true);
  });

  it('is refused if the known solutions were removed before the comparison', async () => {
    const { evaluation, check } = await addGuardedEvaluation(fleet, BOTH);
    await removeKnownSolutions(fleet, testCase.id);
    await test.worker(runnerFor(api));
    await check.result();
    const { job } = await findJob(fleet, evaluation.id, 'evaluate');
    await expect(checkedSolution(job)).rejects.toMatchObject({
      status: 'not-compared',
      message: expect.stringContaining('had no known solution to compare with'),
    });
  });

  it.each([
    ['a comparison of another script', { digest: digestOf(SCRIPT) }, 'of another script'],
    ['no comparison', undefined, 'its check has none'],
  ])('is refused a check that claims %s', async (_name, changed, message) => {
    const { job, result, check, script } = await checkedScript();
    const { contamination, ...rest } = result;
    const forged = { ...rest, ...(changed && { contamination: { ...contamination, ...changed } }) };
    const processed = `${fleet.jobKey('evaluate', job.id ?? '')}:processed`;
    await fleet.client.hset(processed, fleet.jobKey('solution-check', check), JSON.stringify(forged));
    await expect(script()).rejects.toThrow(message);
    await expect(script()).rejects.toMatchObject({ code: 'unchecked-solution' });
    await expect(script()).rejects.toBeInstanceOf(UncheckedSolutionError);
  });

  it('shows the status without requiring it', async () => {
    await know(CORRECTED);
    const { require: _, ...shown } = BOTH;
    const { script } = await checkedScript(shown);
    expect(await script()).toMatchObject({ status: 'corrected', contamination: { status: 'contaminated' } });
  });

  it('is refused it too when a job started the evaluation, which is told so', async () => {
    await know(CORRECTED);
    const { id = '' } = await fleet.queue('parents').add('parent', {});
    const key = fleet.jobKey('parents', id);
    await fleet.client.set(`${key}:lock`, 'token');
    const producer = childProducer(fleet.client, { redisUrl: redis.url, prefix: fleet.prefix }, fleet.kinds);
    const start = ({ evaluation: _, ...request }: Partial<GuardedEvaluation>) => {
      const parent = { key, id, token: 'token', startedChildren: [], heritage: { parentKey: key } };
      const asked = { solution: { content: SCRIPT }, queue: 'evaluate', ...request };
      return new ChildJobs(fleet.client, producer, parent).evaluation(asked, { name: 'e' });
    };
    const scripts = startEvaluator();
    await expect(start({ ...BOTH, contamination: undefined } as object)).rejects.toMatchObject({
      field: 'contamination',
    });
    await expect(start(BOTH)).rejects.toThrow(WaitForChildren);
    await test.worker(runnerFor(api));
    await expect.poll(() => fleet.client.scard(`${key}:dependencies`)).toBe(0);
    expect(await start(BOTH)).toMatchObject({
      check: { contamination: { status: 'contaminated' } },
      failure: { code: 'solution-refused' },
    });
    expect(scripts).toEqual([]);
  });

  it('decides for each candidate of a batch, with verified corrections too', async () => {
    const clean = 'print(1)\n';
    await know(clean);
    startEvaluator();
    const { evaluations, afterAll } = await addCandidateBatch(fleet, {
      candidates: [{ solution: { content: SCRIPT } }, { solution: { content: clean } }],
      evaluation,
      afterAll: { queue: 'choose', name: 'choose' },
      verify: 'agent',
      contamination: { testCase },
      require: { contamination: 'clean' },
    });
    await test.worker(runnerFor(api));
    const [first, second] = await Promise.all(evaluations.map((each) => each.evaluation.wait()));
    expect(first).toMatchObject({ state: 'completed', result: CORRECTED });
    expect(second).toMatchObject({ state: 'failed', attempts: 1, error: { code: 'solution-refused' } });
    const { job } = await findJob(fleet, afterAll?.id ?? '', 'choose');
    expect((await batchOutcomes(fleet, job)).map(({ state }) => state).sort()).toEqual([
      'evaluated',
      'failed',
    ]);
    // Detection, correction and second check of the first script, and the detection of the second one.
    expect(api.requests).toHaveLength(4);
  });

  it.each<[string, boolean, Partial<GuardedEvaluation>, Opinion]>([
    ['is refused', false, {}, 'both'],
    ['is refused with static-first and no agent', false, {}, 'static-first'],
    ['is evaluated if an agent checked it', true, {}, 'both'],
    ['is evaluated if static-first asked an agent', true, {}, 'static-first'],
    ['is evaluated with allowUnjudged', false, { allowUnjudged: true }, 'both'],
    ['is evaluated with allowUnjudged and static-first', false, { allowUnjudged: true }, 'static-first'],
  ])('whose score static analysis cannot follow: %s', async (_name, hasAgent, more, opinion) => {
    const solution = { content: 'import lab\nprint("Final Validation Performance:", lab.run("t.csv"))\n' };
    const request = { evaluation, solution, ...more };
    const { evaluation: submitted, check } = await addGuardedEvaluation(fleet, request);
    await test.worker({ ...(hasAgent ? runnerFor(api) : createOfflineRunner()), opinion });
    const { coverage, checkedBy, notAnalyzed } = await check.result();
    expect({ coverage, checkedBy }).toEqual({ coverage: 'none', checkedBy: hasAgent ? ['agent'] : [] });
    const { job } = await findJob(fleet, submitted.id, 'evaluate');
    const script = checkedSolution(job);
    if (hasAgent || more.allowUnjudged === true) {
      expect((await script).solution).toEqual(solution);
      return;
    }
    await expect(script).rejects.toMatchObject({
      code: 'solution-refused',
      status: 'not-analyzed',
      message: expect.stringContaining(notAnalyzed ?? 'a reason'),
    });
  });

  it.each<[string, string, unknown]>([
    ['require.leakage[0]', 'Invalid option', { require: { leakage: ['spotless'] } }],
    ['require.leakage', 'Too small', { require: { leakage: [] } }],
    ['require.contamination', 'Invalid input', { require: { contamination: 'contaminated' } }],
    ['onUncorrected', 'require.leakage', { onUncorrected: 'evaluate' }],
    ['contamination', 'needs its testCase', { contamination: undefined }],
    [
      'contamination.testCase.difficulty',
      'Invalid option',
      { contamination: { testCase: { ...testCase, difficulty: 'x' } } },
    ],
  ])('is not submitted with what is wrong with %s', async (field, message, more) => {
    const request = { ...BOTH, ...(more as Partial<GuardedEvaluation>) };
    const expected = { code: 'invalid-payload', field, message: expect.stringContaining(message) };
    await expect(addGuardedEvaluation(fleet, request)).rejects.toMatchObject(expected);
    const { solution, ...rest } = request;
    await expect(addCandidateBatch(fleet, { ...rest, candidates: [{ solution }] })).rejects.toMatchObject(
      expected,
    );
    expect(await fleet.queue('solution-check').count()).toBe(0);
  });

  it('is not submitted while the fleet has no known solutions', async () => {
    await removeKnownSolutions(fleet, testCase.id);
    await expect(addGuardedEvaluation(fleet, BOTH)).rejects.toMatchObject({
      code: 'invalid-payload',
      field: 'require.contamination',
      message: expect.stringContaining('no known solutions'),
    });
  });
});

/** The evaluating side; it returns the script. @returns the scripts that it got. */
function startEvaluator(): readonly string[] {
  const scripts: string[] = [];
  const worker = startPipelineWorker(redis, fleet, 'evaluate', async (job) => {
    const { content } = (await checkedSolution(job)).solution;
    scripts.push(content);
    return content;
  });
  onTestFinished(() => worker.close());
  return scripts;
}
