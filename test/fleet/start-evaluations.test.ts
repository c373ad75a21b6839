import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import type { ParentJob } from '../../src/fleet/children/child-jobs.js';
import { WaitForChildren } from '../../src/fleet/children/wait-for-children.js';
import { packagePath } from '../../src/package-root.js';
import { MAX_CHILD_DEPTH } from '../../src/producers/add-child.js';
import { cancelJob } from '../../src/producers/cancel-job.js';
import type { FleetClient } from '../../src/producers/fleet-client.js';
import { checkedSolution } from '../../src/producers/flows/checked-solution.js';
import { forgetChildren, readJobFlags } from '../../src/queues/job-flags.js';
import { startPipelineWorker } from '../support/evaluation-worker.js';
import { fleetOfTest, type TestFleet } from '../support/fleet.js';
import { redisOfFile } from '../support/redis.js';
import { parentJobs } from './parent-jobs.js';

const redis = redisOfFile();
const { newParent, attempt, failChild } = parentJobs(redis, () => fleet);
let test: TestFleet;
let fleet: FleetClient;

beforeEach(async () => {
  ({ test } = await fleetOfTest(redis, 'start-evaluations'));
  ({ fleet } = test);
});

const waiting = () => fleet.queue('solution-check').count();

describe('an evaluation that a job starts', () => {
  const LEAKY = readFileSync(packagePath('examples', 'scripts', 'leaky_scaler.py'), 'utf8');
  const evaluation = { solution: { content: LEAKY }, queue: 'evaluate', data: { fold: 1 } };
  const options = { name: 'evaluation-1' };
  const inherited = { tenant: 'team', submitter: 'token 1', priority: 5, budgetUsd: 2, budgetJob: 'p' };

  /** The job waits for its evaluation, which ends; what the job is told then. */
  async function outcome(parent: ParentJob) {
    await expect(attempt(parent).evaluation(evaluation, options)).rejects.toThrow(WaitForChildren);
    await expect.poll(() => fleet.client.scard(`${parent.key}:dependencies`)).toBe(0);
    return attempt(parent).evaluation(evaluation, options);
  }
  function evaluator(run: (script: string) => unknown) {
    const { ran, close } = startPipelineWorker(redis, fleet, 'evaluate', async (job) =>
      run((await checkedSolution(job)).solution.content),
    );
    onTestFinished(close);
    return ran;
  }

  it('REQ-SF-022: gets the script that the check left, and the job gets the check too', async () => {
    const scripts: string[] = [];
    evaluator((script) => {
      scripts.push(script);
      return { score: 0.5 };
    });
    await test.worker(createOfflineRunner());
    const ended = await outcome(await newParent());
    expect(ended).toMatchObject({ check: { status: 'corrected' }, returned: { score: 0.5 } });
    expect(scripts).toEqual([ended.check?.solution.content]);
    expect(scripts).not.toContain(LEAKY);
  });

  it('is one, however often it is started, with all that the job hands on', async () => {
    const parent = await newParent();
    const heritage = { ...parent.heritage, ...inherited, tags: { run: 'r', step: '2' } };
    for (let at = 0; at < 3; at += 1) {
      const jobs = attempt({ ...parent, heritage });
      await expect(jobs.evaluation(evaluation, options)).rejects.toThrow(WaitForChildren);
    }
    const [job, ...others] = await fleet.queue('evaluate').getWaitingChildren();
    const [ofScript, ...otherChecks] = await fleet.queue('solution-check').getPrioritized();
    expect([others, otherChecks]).toEqual([[], []]);
    const tags = { run: 'r', step: '2', parent: parent.id };
    expect(job?.data).toMatchObject({ fold: 1, tags });
    expect(ofScript?.data.tags).toEqual(tags);
    expect(job?.opts).toMatchObject({ fleet: { ...inherited, depth: 1 } });
    expect(ofScript?.opts).toMatchObject({ fleet: { ...inherited, depth: 2 } });
    expect(await fleet.client.exists(`${fleet.prefix}::run:r`)).toBe(1);
  });

  it('ends with the reason of a failure, which is no failure of the job', async () => {
    evaluator(() => {
      throw new Error('ended with 1');
    });
    await test.worker(createOfflineRunner());
    expect(await outcome(await newParent())).toMatchObject({
      check: { status: 'corrected' },
      failure: { code: 'job-failed', message: 'ended with 1' },
    });
  });

  it('REQ-SF-022: never runs if its check fails, and both run again when the job does', async () => {
    const ran = evaluator(() => 0.5);
    const parent = await newParent();
    await expect(attempt(parent).evaluation(evaluation, options)).rejects.toThrow(WaitForChildren);
    const [ofScript] = await fleet.queue('solution-check').getPrioritized();
    await failChild(ofScript?.id ?? '', '[bad-request] no such model');
    await expect.poll(() => fleet.client.scard(`${parent.key}:dependencies`)).toBe(0);
    const failed = await attempt(parent).evaluation(evaluation, options);
    expect(failed).not.toHaveProperty('check');
    expect(failed).toMatchObject({
      failure: { code: 'child-failed', message: expect.stringContaining('no such model') },
    });
    expect(ran).toEqual([]);

    await fleet.client.hset(parent.key, 'finishedOn', Date.now());
    await forgetChildren(fleet.client, parent.key);
    await test.worker(createOfflineRunner());
    const heritage = { ...parent.heritage, budgetUsd: 9, budgetJob: parent.id };
    expect(await outcome({ ...parent, heritage })).toMatchObject({ returned: 0.5 });
    expect(ran).toHaveLength(1);
    const again = await fleet.queue('solution-check').getJob(ofScript?.id ?? '');
    expect(again?.opts).toMatchObject({ fleet: { budgetUsd: 9, budgetJob: parent.id } });
  });

  it('is cancelled with its check when the job is', async () => {
    const parent = await newParent();
    await expect(attempt(parent).evaluation(evaluation, options)).rejects.toThrow(WaitForChildren);
    await cancelJob(fleet, parent.id, 'parents');
    const [job] = await fleet.queue('evaluate').getFailed();
    const [ofScript] = await fleet.queue('solution-check').getFailed();
    // No worker is needed to end them.
    expect(await fleet.client.scard(`${parent.key}:dependencies`)).toBe(0);
    for (const [queue, id] of [
      ['evaluate', job?.id],
      ['solution-check', ofScript?.id],
    ]) {
      expect((await readJobFlags(fleet.client, fleet.jobKey(queue ?? '', id ?? ''))).cancelled).toBe(true);
    }
  });

  it('is refused if it or its check would be too deep, or if the job is gone', async () => {
    const parent = await newParent();
    const heritage = { ...parent.heritage, depth: MAX_CHILD_DEPTH - 1 };
    const deep = attempt({ ...parent, heritage }).evaluation(evaluation, options);
    await expect(deep).rejects.toMatchObject({ code: 'child-limit' });
    const jobs = attempt({ ...parent, heritage: { parentKey: fleet.jobKey('parents', 'gone') } });
    await expect(jobs.evaluation(evaluation, options)).rejects.toMatchObject({ code: 'lock-lost' });
    expect(await waiting()).toBe(0);
  });

  it('needs the result of its check', async () => {
    evaluator(() => 0.5);
    await test.worker(createOfflineRunner());
    const parent = await newParent();
    await outcome(parent);
    const [job] = await fleet.queue('evaluate').getCompleted();
    await job?.remove({ removeChildren: false });
    await expect(attempt(parent).evaluation(evaluation, options)).rejects.toMatchObject({
      code: 'broken-record',
    });
  });
});
