import { describe, expect, it } from 'vitest';
import { findOrphanedParents, freeOrphanedParent } from '../../src/fleet/doctor/waiting-parents.js';
import { batchOutcomes } from '../../src/producers/flows/batch-outcomes.js';
import { addCandidateBatch } from '../../src/producers/flows/candidate-batch.js';
import { addRefinementStep } from '../../src/producers/flows/refinement-step.js';
import { runnerFor } from '../support/agent-answers.js';
import { startPipelineWorker } from '../support/evaluation-worker.js';
import { fleetOfTest, type TestFleet } from '../support/fleet.js';
import type { MessagesApi } from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';

const STEP = { ablationCode: 'x', rawOutput: 'a: 1', solution: { content: 'x = 1\n' }, previousBlocks: [] };

const redis = redisOfFile();
let test: TestFleet;
let api: MessagesApi;

async function startFleet() {
  ({ test, api } = await fleetOfTest(redis, '{doctor}'));
  return test;
}

/** The result of a crash of Redis without its file, or of manual changes to the data. */
async function loseJob(queue: string, id: string): Promise<void> {
  const { client, prefix } = test.fleet;
  await client.del(`${prefix}:${queue}:${id}`);
  await client.lrem(`${prefix}:${queue}:wait`, 0, id);
}

describe('the doctor', () => {
  it('finds nothing if every child exists', async () => {
    const { fleet } = await startFleet();
    await addRefinementStep(fleet, STEP);
    expect(await findOrphanedParents(fleet.client, fleet.prefix)).toEqual([]);
  });

  it('finds a job whose child is gone, and frees it: it ends, and says what it lacked', async () => {
    const { fleet, worker } = await startFleet();
    const { extract, summarize } = await addRefinementStep(fleet, STEP);
    await loseJob('summarize', summarize.id);
    const [orphan, ...others] = await findOrphanedParents(fleet.client, fleet.prefix);
    expect(others).toEqual([]);
    expect(orphan).toEqual({
      queue: 'extract',
      id: extract.id,
      missing: [`${fleet.prefix}:summarize:${summarize.id}`],
      ended: [],
    });
    if (orphan === undefined) throw new Error('unreachable');
    await freeOrphanedParent(fleet.client, fleet.prefix, orphan);
    await worker(runnerFor(api));
    const view = await extract.wait();
    expect(view).toMatchObject({ state: 'failed', error: { code: 'invalid-payload' } });
    expect(await findOrphanedParents(fleet.client, fleet.prefix)).toEqual([]);
    expect(await fleet.client.exists(`${fleet.prefix}:summarize:${summarize.id}`)).toBe(0);
  });

  it('tells a job that reads the failures of its children about one that failed unnoticed', async () => {
    const { fleet } = await startFleet();
    const { job, children: [child] = [] } = await fleet.flows.add({
      name: 'parent',
      queueName: 'select',
      children: [{ name: 'child', queueName: 'evaluate', opts: { ignoreDependencyOnFailure: true } }],
    });
    const key = `${fleet.prefix}:evaluate:${child?.job.id}`;
    await fleet.client.lrem(`${fleet.prefix}:evaluate:wait`, 0, child?.job.id ?? '');
    await fleet.client.hset(key, { finishedOn: 1, failedReason: 'why' });
    for (const orphan of await findOrphanedParents(fleet.client, fleet.prefix)) {
      await freeOrphanedParent(fleet.client, fleet.prefix, orphan);
    }
    expect(await job.getState()).toBe('waiting');
    expect(await job.getIgnoredChildrenFailures()).toEqual({ [key]: 'why' });
    expect(await fleet.client.hget(`${fleet.prefix}:select:${job.id}`, 'defa')).toBeNull();
    await fleet.client.zadd(`${fleet.prefix}:evaluate:failed`, 1, child?.job.id ?? '');
  });

  it('releases jobs in pipeline queues too, and leaves existing children alone', async () => {
    const { fleet, worker } = await startFleet();
    const candidates = [0, 1].map((index) => ({ solution: { content: `x = ${index}\n` } }));
    const batch = await addCandidateBatch(fleet, {
      candidates,
      evaluation: { queue: 'evaluate', name: 'score' },
      afterAll: { queue: 'select', name: 'best' },
    });
    const lost = batch.evaluations[0]?.evaluation.id ?? '';
    await fleet.client.del(`${fleet.prefix}:evaluate:${lost}`);
    await fleet.client.zrem(`${fleet.prefix}:evaluate:waiting-children`, lost);
    for (const orphan of await findOrphanedParents(fleet.client, fleet.prefix)) {
      await freeOrphanedParent(fleet.client, fleet.prefix, orphan);
    }
    await worker(runnerFor(api));
    const evaluating = startPipelineWorker(redis, fleet, 'evaluate', async () => 'scored');
    const selecting = startPipelineWorker(redis, fleet, 'select', (job) => batchOutcomes(fleet, job));
    try {
      expect(await batch.afterAll?.returned()).toEqual([
        { evaluation: batch.evaluations[1]?.evaluation.id, state: 'evaluated', result: 'scored' },
      ]);
    } finally {
      await evaluating.close();
      await selecting.close();
    }
  });
});
