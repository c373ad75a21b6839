import { afterEach, describe, expect, it } from 'vitest';
import { UncheckedSolutionError } from '../../src/errors.js';
import { cancelJob } from '../../src/producers/cancel-job.js';
import { findJob } from '../../src/producers/find-job.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { addFlow } from '../../src/producers/flows/add-flow.js';
import { batchOutcomes } from '../../src/producers/flows/batch-outcomes.js';
import { addCandidateBatch } from '../../src/producers/flows/candidate-batch.js';
import { checkedSolution } from '../../src/producers/flows/checked-solution.js';
import { addGuardedEvaluation, guardedEvaluationNode } from '../../src/producers/flows/guarded-evaluation.js';
import { retryJob } from '../../src/producers/retry-job.js';
import { waitForJob } from '../../src/producers/wait-for-job.js';
import { CANCELLED_FIELD } from '../../src/queues/job-flags.js';
import { correction, leaks, runnerFor } from '../support/agent-answers.js';
import { startPipelineWorker } from '../support/evaluation-worker.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import {
  errorReply,
  type MessagesApi,
  type Reply,
  type Script,
  startMessagesApi,
} from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';

const SCRIPT = 'a = fit(all)\nprint(a)\n';

const redis = redisOfFile();
let fleets = 0;
let test: TestFleet;
let api: MessagesApi | undefined;
const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  await test.close();
  await api?.close();
  api = undefined;
});

async function startFleet(reply: Script) {
  fleets += 1;
  test = await startTestFleet(redis, `flow-${fleets}`);
  api = await startMessagesApi({ reply });
  return { ...test, api, runner: runnerFor(api) };
}

/** The pipeline's evaluating side: it takes its script from the check alone, and returns it. */
function evaluate(queue = 'evaluate') {
  const worker = startPipelineWorker(redis, test.fleet, queue, async (job) => {
    const { solution, status } = await checkedSolution(job);
    return { script: solution.content, status };
  });
  closers.push(worker.close);
  return worker;
}

describe('addGuardedEvaluation', () => {
  const evaluation = { queue: 'evaluate', name: 'score', data: { fold: 3 } };

  it('REQ-SF-022: the evaluation gets the corrected script, and only after the check', async () => {
    const { fleet, worker, runner } = await startFleet([leaks('a = fit(all)'), correction('a = fit(train)')]);
    const pipeline = evaluate();
    const handles = await addGuardedEvaluation(fleet, { solution: { content: SCRIPT }, evaluation });
    expect((await handles.evaluation.view()).state).toBe('waiting-children');
    await worker(runner);
    expect(await handles.evaluation.returned()).toEqual({
      script: 'a = fit(train)\nprint(a)\n',
      status: 'corrected',
    });
    expect(pipeline.ran).toEqual([handles.evaluation.id]);
    const { job } = await findJob(fleet, handles.evaluation.id, 'evaluate');
    expect(job.data).toMatchObject({ fold: 3 });
  });

  it('REQ-SF-022: a check that fails permanently fails the evaluation with the reason, and it never runs', async () => {
    const { fleet, worker, runner } = await startFleet(() => errorReply(401));
    await worker(runner);
    const pipeline = evaluate();
    const handles = await addGuardedEvaluation(fleet, { solution: { content: SCRIPT }, evaluation });
    const view = await handles.evaluation.wait();
    expect(view).toMatchObject({ state: 'failed', error: { code: 'child-failed' } });
    expect(view.error?.message).toContain(handles.check.id);
    expect(pipeline.ran).toEqual([]);
  });

  it('a leak that could not be corrected is evaluated and visible, or refused if the pipeline says so', async () => {
    const { fleet, worker, runner } = await startFleet(() => leaks('nowhere()'));
    await worker(runner);
    evaluate();
    const request = { solution: { content: SCRIPT }, evaluation };
    const shown = await addGuardedEvaluation(fleet, request);
    expect(await shown.evaluation.returned()).toMatchObject({ status: 'uncorrected', script: SCRIPT });
    const refused = await addGuardedEvaluation(fleet, { ...request, onUncorrected: 'refuse' });
    const view = await refused.evaluation.wait();
    expect(view).toMatchObject({ state: 'failed', error: { code: 'solution-refused' } });
    expect(view.error?.message).toContain('it is uncorrected');
  });

  it.each([
    ['that was not made this way', {}],
    [
      'that only claims a check',
      { solutionFleet: { v: 1, check: 'x', digest: 'f'.repeat(64), onUncorrected: 'evaluate' } },
    ],
    ['that has a script of its own', { solution: { content: SCRIPT } }],
  ])('REQ-SF-022: a job %s is refused', async (_what, data) => {
    const { fleet } = await startFleet([]);
    const job = await fleet.queue('evaluate').add('score', data);
    await expect(checkedSolution(job)).rejects.toBeInstanceOf(UncheckedSolutionError);
  });

  it('REQ-SF-022: a child of another kind is no check', async () => {
    const { fleet } = await startFleet([]);
    const handles = await addGuardedEvaluation(fleet, { solution: { content: SCRIPT }, evaluation });
    const { job } = await findJob(fleet, handles.evaluation.id, 'evaluate');
    const key = `${fleet.prefix}:evaluate:${job.id}:processed`;
    await fleet.client.hset(
      key,
      `${fleet.prefix}:summarize:${handles.check.id}`,
      JSON.stringify({ solution: SCRIPT }),
    );
    await expect(checkedSolution(job)).rejects.toThrow('no completed solution-check');
  });

  it.each([
    ['clean', [leaks()]],
    ['corrected', [leaks('a = fit(all)'), correction('a = fit(train)')]],
  ])('REQ-SF-022: a %s script that was changed after its check is refused', async (_status, reply) => {
    const { fleet, worker, runner } = await startFleet(reply);
    await worker(runner);
    const handles = await addGuardedEvaluation(fleet, { solution: { content: SCRIPT }, evaluation });
    const result = await handles.check.result();
    const { job } = await findJob(fleet, handles.evaluation.id, 'evaluate');
    expect((await checkedSolution(job)).status).toBe(result.status);
    const tampered = { ...result, solution: { content: `${result.solution.content}print(1.0)\n` } };
    const processed = `${fleet.prefix}:evaluate:${job.id}:processed`;
    await fleet.client.hset(
      processed,
      `${fleet.prefix}:solution-check:${handles.check.id}`,
      JSON.stringify(tampered),
    );
    await expect(checkedSolution(job)).rejects.toThrow('changed after the check');
  });

  it('REQ-SF-022: the leaky original with the status "corrected" is refused', async () => {
    const { fleet, worker, runner } = await startFleet([leaks('a = fit(all)'), correction('a = fit(train)')]);
    await worker(runner);
    const handles = await addGuardedEvaluation(fleet, { solution: { content: SCRIPT }, evaluation });
    const result = await handles.check.result();
    const { job } = await findJob(fleet, handles.evaluation.id, 'evaluate');
    const processed = `${fleet.prefix}:evaluate:${job.id}:processed`;
    const field = `${fleet.prefix}:solution-check:${handles.check.id}`;
    for (const tampered of [
      { ...result, solution: { content: SCRIPT } },
      { ...result, solution: { content: SCRIPT }, findings: [] },
      { ...result, status: 'clean' },
    ]) {
      await fleet.client.hset(processed, field, JSON.stringify(tampered));
      await expect(checkedSolution(job)).rejects.toThrow('changed after the check');
    }
  });

  it('REQ-SF-022: many equal corrections are reverted at their offsets', async () => {
    const script = Array.from({ length: 30 }, (_, index) => `m.fit(all_${index}, y)`).join('\n');
    const blocks = script.split('\n');
    const { fleet, worker, runner } = await startFleet([
      leaks(...blocks),
      ...blocks.map(() => correction('m.fit(train, y)')),
    ]);
    await worker(runner);
    const handles = await addGuardedEvaluation(fleet, { solution: { content: script }, evaluation });
    await handles.check.result();
    const { job } = await findJob(fleet, handles.evaluation.id, 'evaluate');
    expect((await checkedSolution(job)).status).toBe('corrected');
  });

  it('a refusal is final: the job is not tried again, and its code is on it', async () => {
    const { fleet } = await startFleet([]);
    const pipeline = evaluate();
    const job = await fleet.queue('evaluate').add('score', {}, { attempts: 3 });
    const view = await waitForJob(fleet, job.id ?? '', {}, 'evaluate');
    expect(view).toMatchObject({ state: 'failed', error: { code: 'unchecked-solution' }, attempts: 1 });
    expect(pipeline.ran).toHaveLength(1);
  });

  it('a cancelled evaluation that is submitted again runs before its check may, which would be cancelled with it', async () => {
    const { fleet, worker, runner } = await startFleet(() => leaks());
    const submit = () =>
      addGuardedEvaluation(fleet, { solution: { content: SCRIPT }, evaluation }, { key: 'again' });
    const first = await submit();
    await cancelJob(fleet, first.evaluation.id, 'evaluate');
    const cleared: string[] = [];
    const monitor = await fleet.client.monitor();
    monitor.on('monitor', (_time: string, [command = '', key = '', field]: readonly string[]) => {
      if (command.toLowerCase() === 'hdel' && field === CANCELLED_FIELD) cleared.push(key);
    });
    const again = await submit();
    await expect.poll(() => cleared).toHaveLength(2);
    monitor.disconnect();
    expect(cleared).toEqual([
      fleet.jobKey('evaluate', first.evaluation.id),
      fleet.jobKey('solution-check', first.check.id),
    ]);
    expect(again.evaluation.outcome).toBe('retried');
    evaluate();
    await worker(runner);
    expect(await again.evaluation.returned()).toMatchObject({ status: 'clean' });
  });

  it('a failed evaluation that is submitted again is waited for in its new life, by every client', async () => {
    let reply: () => Reply = () => errorReply(400, 'invalid_request_error');
    const { fleet, worker, runner } = await startFleet(() => reply());
    const pipeline = evaluate();
    const other = await FleetClient.open({ redisUrl: redis.url, prefix: fleet.prefix, waitForSlow: true });
    closers.push(() => other.close());
    const submit = (client: FleetClient) =>
      addGuardedEvaluation(client, { solution: { content: SCRIPT }, evaluation }, { key: 'life' });
    const { evaluation: first, check } = await submit(fleet);
    const fail = async () => {
      const failing = await worker(runner);
      const failed = await waitForJob(other, first.id, {}, 'evaluate');
      expect(failed).toMatchObject({ state: 'failed', error: { code: 'child-failed' } });
      await failing.stop(1_000);
    };
    await fail();

    const both = await Promise.all([submit(fleet), submit(other)]);
    expect(both.map(({ evaluation: { outcome } }) => outcome).sort()).toEqual(['existing', 'retried']);
    const view = await first.view();
    expect(view).toMatchObject({ state: 'waiting-children', attempts: 0 });
    expect(view).not.toHaveProperty('error');
    expect((await submit(other)).evaluation.outcome).toBe('existing');
    // It fails once more: that is a new failure, which the wait tells of.
    await fail();

    // A check that the dashboard runs again leaves its parent failed. A submission must not run the parent before it.
    await (await findJob(fleet, check.id)).job.retry('failed');
    expect((await first.view()).state).toBe('failed');
    await submit(other);
    const waits = [fleet, other].map((client) => waitForJob(client, first.id, {}, 'evaluate'));
    const ran = pipeline.ran.length;
    reply = () => leaks();
    await worker(runner);
    for (const wait of waits)
      expect(await wait).toMatchObject({ state: 'completed', result: { status: 'clean' } });
    expect(pipeline.ran).toHaveLength(ran + 1);
  });

  it('a check that is retried below a batch makes the evaluation wait, and the jobs above that failed with it', async () => {
    const { fleet, worker, runner } = await startFleet([errorReply(400, 'invalid_request_error'), leaks()]);
    evaluate();
    const { root } = guardedEvaluationNode(fleet, { solution: { content: SCRIPT }, evaluation }, 'below');
    const above = { queue: 'above', name: 'above', id: 'above-1', data: {}, options: {} };
    const child = { ...root, options: { ...root.options, failParentOnFailure: true } };
    await addFlow(fleet, { ...above, children: [child] }, {});
    const last = startPipelineWorker(redis, fleet, 'above', async () => 'done');
    closers.push(last.close);
    const failing = await worker(runner);
    expect(await waitForJob(fleet, above.id, {}, 'above')).toMatchObject({ state: 'failed' });
    await failing.stop(1_000);
    await retryJob(fleet, root.children?.[0]?.id ?? '');
    expect(await fleet.queue('above').getJobState(above.id)).toBe('waiting-children');
    await worker(runner);
    expect(await waitForJob(fleet, above.id, {}, 'above')).toMatchObject({
      state: 'completed',
      result: 'done',
    });
  });

  it('REQ-SF-022: an evaluation that is retried runs its failed or cancelled check first, and not without it', async () => {
    let reply: () => Reply = () => errorReply(400, 'invalid_request_error');
    const { fleet, worker, runner } = await startFleet(() => reply());
    const pipeline = evaluate();
    const submit = () => addGuardedEvaluation(fleet, { solution: { content: SCRIPT }, evaluation });
    const [failed, cancelled, running] = [await submit(), await submit(), await submit()];
    const gone = await submit();
    await cancelled.check.cancel();
    const failing = await worker(runner);
    for (const { evaluation: parent } of [failed, cancelled, running, gone]) {
      expect(await parent.wait()).toMatchObject({ state: 'failed', error: { code: 'child-failed' } });
    }
    await failing.stop(1_000);
    await (await findJob(fleet, gone.check.id)).job.remove();
    await (await findJob(fleet, running.check.id)).job.retry('failed');
    const retry = ({ evaluation: { id } }: typeof gone) => retryJob(fleet, id, 'evaluate');
    await expect(retry(gone)).rejects.toMatchObject({ code: 'job-not-retryable' });
    const retried = [failed, cancelled, running];
    for (const handles of retried) {
      await retry(handles);
      expect((await handles.evaluation.view()).state).toBe('waiting-children');
    }
    reply = () => leaks();
    await worker(runner);
    for (const handles of retried)
      expect(await handles.evaluation.returned()).toMatchObject({ status: 'clean' });
    expect(pipeline.ran.sort()).toEqual(retried.map((handles) => handles.evaluation.id).sort());
  });

  it('REQ-SF-022: an evaluation that another job waits for is refused if its failed check is gone', async () => {
    const { fleet, worker, runner } = await startFleet([errorReply(400, 'invalid_request_error')]);
    evaluate();
    const { root, checkId } = guardedEvaluationNode(
      fleet,
      { solution: { content: SCRIPT }, evaluation },
      'gone',
    );
    const above = { queue: 'above', name: 'above', id: 'above-2', data: {}, options: {} };
    const child = { ...root, options: { ...root.options, ignoreDependencyOnFailure: true } };
    await addFlow(fleet, { ...above, children: [child] }, {});
    await worker(runner);
    const ended = () => waitForJob(fleet, root.id, {}, 'evaluate');
    expect(await ended()).toMatchObject({ error: { code: 'child-failed' } });
    await (await findJob(fleet, checkId)).job.remove();
    await retryJob(fleet, root.id, 'evaluate');
    expect(await ended()).toMatchObject({ state: 'failed', error: { code: 'unchecked-solution' } });
  });

  it('two submissions at once with one key and two scripts: one of them is rejected', async () => {
    const { fleet } = await startFleet([]);
    const submit = (content: string) =>
      addGuardedEvaluation(fleet, { solution: { content }, evaluation }, { key: 'same' });
    const outcomes = await Promise.allSettled([submit('a = 1\n'), submit('b = 2\n')]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const rejected = outcomes.find((outcome) => outcome.status === 'rejected');
    expect(rejected?.reason).toMatchObject({ code: 'key-conflict' });
  });

  it.each([
    ['a queue of the fleet', { queue: 'solution-check', name: 'x' }, 'evaluation.queue'],
    ['a queue with a colon', { queue: 'a:b', name: 'x' }, 'evaluation.queue'],
    ['no name', { queue: 'evaluate', name: '' }, 'evaluation.name'],
    [
      "the guard's field",
      { queue: 'evaluate', name: 'x', data: { solutionFleet: 1 } },
      'evaluation.data.solutionFleet',
    ],
  ])('an evaluation with %s is rejected', async (_what, bad, field) => {
    const { fleet } = await startFleet([]);
    const submission = addGuardedEvaluation(fleet, { solution: { content: SCRIPT }, evaluation: bad });
    await expect(submission).rejects.toMatchObject({ code: 'invalid-payload', field });
  });

  it('REQ-SF-022: a check of another script is refused', async () => {
    const { fleet, worker, runner } = await startFleet([leaks()]);
    await worker(runner);
    const handles = await addGuardedEvaluation(fleet, { solution: { content: SCRIPT }, evaluation });
    await handles.check.result();
    const { job } = await findJob(fleet, handles.evaluation.id, 'evaluate');
    const guard = (job.data as { solutionFleet: Record<string, unknown> }).solutionFleet;
    await job.updateData({ ...job.data, solutionFleet: { ...guard, digest: '0'.repeat(64) } });
    await expect(checkedSolution(job)).rejects.toThrow('another script');
  });
});

describe('addCandidateBatch', () => {
  const evaluation = { queue: 'evaluate', name: 'score' };
  const content = (index: number) => `candidate = ${index}\n`;
  const candidates = [0, 1, 2].map((index) => ({ solution: { content: content(index) }, data: { index } }));

  it('one bad candidate does not sink the others, and the job after them sees which failed and why', async () => {
    const { fleet, worker, runner } = await startFleet(({ text }) =>
      text.includes('candidate = 1') ? errorReply(401) : leaks(),
    );
    await worker(runner);
    evaluate();
    const pipeline = startPipelineWorker(redis, fleet, 'select', (job) => batchOutcomes(fleet, job));
    closers.push(pipeline.close);
    const afterAll = { queue: 'select', name: 'best' };
    const batch = await addCandidateBatch(fleet, { candidates, evaluation, afterAll });
    const outcomes = (await batch.afterAll?.returned()) as Awaited<ReturnType<typeof batchOutcomes>>;
    const byEvaluation = new Map(outcomes.map((outcome) => [outcome.evaluation, outcome]));
    const [good, bad, alsoGood] = batch.evaluations.map((handles) => byEvaluation.get(handles.evaluation.id));
    expect(good).toMatchObject({ state: 'evaluated', result: { script: content(0) } });
    expect(alsoGood).toMatchObject({ state: 'evaluated', result: { script: content(2) } });
    expect(bad).toMatchObject({ state: 'failed', error: { code: 'child-failed' } });
    expect(JSON.stringify(bad)).toContain('unauthorized');
  });

  it('candidates with keys are evaluated once, also when the batch is submitted again', async () => {
    const { fleet, worker, runner, api: server } = await startFleet(() => leaks());
    await worker(runner);
    evaluate();
    const keyed = candidates.map((candidate, index) => ({ ...candidate, key: `c:${index}` }));
    const first = await addCandidateBatch(fleet, { candidates: keyed, evaluation });
    await Promise.all(first.evaluations.map((handles) => handles.evaluation.returned()));
    const second = await addCandidateBatch(fleet, { candidates: keyed, evaluation });
    expect(second.evaluations.map((handles) => handles.evaluation.outcome)).toEqual(
      Array(3).fill('existing'),
    );
    const pipeline = startPipelineWorker(redis, fleet, 'select', (job) => batchOutcomes(fleet, job));
    closers.push(pipeline.close);
    const third = await addCandidateBatch(fleet, {
      candidates: keyed,
      evaluation,
      afterAll: { queue: 'select', name: 'best' },
    });
    expect(await third.afterAll?.returned()).toHaveLength(3);
    expect(server.requests).toHaveLength(3);
  });

  it('two candidates with one key and two scripts are rejected before anything is submitted', async () => {
    const { fleet } = await startFleet([]);
    const same = [0, 1].map((index) => ({ solution: { content: content(index) }, key: 'k' }));
    const batch = addCandidateBatch(fleet, { candidates: same, evaluation });
    await expect(batch).rejects.toMatchObject({ code: 'key-conflict', field: 'candidates.key' });
    expect(await fleet.queue('solution-check').count()).toBe(0);
  });

  it('without a candidate is rejected', async () => {
    const { fleet } = await startFleet([]);
    const empty = addCandidateBatch(fleet, { candidates: [], evaluation });
    await expect(empty).rejects.toMatchObject({ code: 'invalid-payload', field: 'candidates' });
  });
});
