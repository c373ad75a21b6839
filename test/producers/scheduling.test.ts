import { beforeEach, describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { addJobs } from '../../src/producers/add-jobs.js';
import type { FleetClient } from '../../src/producers/fleet-client.js';
import { addCandidateBatch } from '../../src/producers/flows/candidate-batch.js';
import { addRefinementStep } from '../../src/producers/flows/refinement-step.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { scheduleDueJobs } from '../../src/queues/fairness/schedule-due-jobs.js';
import { UNSCHEDULED } from '../../src/queues/fairness/schedule-script.js';
import { fleetOfTest, type TestFleet } from '../support/fleet.js';
import { redisOfFile } from '../support/redis.js';

const BAND = 2 ** 32;
const redis = redisOfFile();
let fleet: FleetClient;
let startWorker: TestFleet['worker'];
beforeEach(async () => {
  ({
    test: { fleet, worker: startWorker },
  } = await fleetOfTest(redis, 'place'));
});

const script = (name: string) => ({ solution: { content: `name = '${name}'\n` } });
const key = (queue: string, id: string) => fleet.queue(queue).toKey(id);

/** Priority in the job itself and, if it waits, in the order of the queue. */
async function priorityOf(queue: string, id: string) {
  const score = await fleet.client.zscore(key(queue, 'prioritized'), id);
  const stored = Number(await fleet.client.hget(key(queue, id), 'priority'));
  return { stored, waiting: score === null ? undefined : Math.floor(Number(score) / BAND) };
}

describe('a new job gets its position among the others', () => {
  it('each job of a tenant after the last', async () => {
    const ids = [];
    for (const name of ['a', 'b', 'c']) ids.push((await addSolutionCheck(fleet, script(name))).id);
    const priorities = await Promise.all(ids.map((id) => priorityOf('solution-check', id)));
    expect(priorities).toEqual([1, 2, 3].map((tag) => ({ stored: tag, waiting: tag })));
  });

  it.each(['alone', 'in a batch'])(
    'a delayed job, submitted %s, when it is about to become due',
    async (how) => {
      const submit = async (name: string, delayMs: number) => {
        const item = { kind: 'solution-check' as const, payload: script(name), options: { delayMs } };
        if (how === 'alone') return (await addSolutionCheck(fleet, item.payload, item.options)).id;
        const [outcome] = await addJobs(fleet, [item]);
        return outcome !== undefined && 'handle' in outcome ? outcome.handle.id : '';
      };
      const far = await submit('far', 3_600_000);
      const near = await submit('near', 1_500);
      await addSolutionCheck(fleet, script('meanwhile'));
      await scheduleDueJobs(fleet.client, fleet.prefix, 'solution-check', 1);
      expect(await priorityOf('solution-check', near)).toEqual({ stored: 2, waiting: undefined });
      expect(await priorityOf('solution-check', far)).toEqual({ stored: UNSCHEDULED, waiting: undefined });
    },
  );

  it('a delayed job, by a worker', async () => {
    const queue = fleet.queue('solution-check');
    await queue.pause();
    const { id } = await addSolutionCheck(fleet, script('late'), { delayMs: 1_500 });
    await startWorker(createOfflineRunner());
    await expect.poll(async () => (await priorityOf('solution-check', id)).stored).toBe(1);
    await queue.resume();
  });

  it('delayed jobs, more than are looked at in one step', async () => {
    const item = (at: number) => ({ kind: 'solution-check' as const, payload: script(`due${at}`) });
    await addJobs(
      fleet,
      Array.from({ length: 1_203 }, (_, at) => ({ ...item(at), options: { delayMs: 1_000 } })),
    );
    expect(await scheduleDueJobs(fleet.client, fleet.prefix, 'solution-check', 60_000)).toBe(1_203);
    // Another worker has just looked.
    expect(await scheduleDueJobs(fleet.client, fleet.prefix, 'solution-check', 60_000)).toBe(0);
  });

  it('the jobs of a flow, also those that wait for children', async () => {
    const step = { ablationCode: 'x', rawOutput: 'a: 1', ...script('x'), previousBlocks: [] };
    await addRefinementStep(fleet, step);
    const { extract, summarize } = await addRefinementStep(fleet, step);
    expect(await priorityOf('summarize', summarize.id)).toEqual({ stored: 2, waiting: 2 });
    expect(await priorityOf('extract', extract.id)).toEqual({ stored: 2, waiting: undefined });
  });

  it('every job of a flow with more jobs than one script schedules', async () => {
    const count = 1_203;
    await addCandidateBatch(fleet, {
      candidates: Array.from({ length: count }, (_, at) => script(`candidate${at}`)),
      evaluation: { queue: 'evaluate', name: 'score' },
    });
    const waiting = await fleet.client.zrange(
      key('solution-check', 'prioritized'),
      '-inf',
      '+inf',
      'BYSCORE',
    );
    expect(waiting).toHaveLength(count);
    const priorities = await Promise.all(waiting.map((id) => priorityOf('solution-check', id)));
    expect(priorities).toEqual(waiting.map((_, at) => ({ stored: at + 1, waiting: at + 1 })));
  });

  it('an existing job with the same id keeps its position', async () => {
    const options = { key: 'same' };
    const [first] = await Promise.all(
      [0, 1, 2, 3].map(() => addSolutionCheck(fleet, script('same'), options)),
    );
    expect(await priorityOf('solution-check', first?.id ?? '')).toEqual({ stored: 1, waiting: 1 });
    expect(await fleet.queue('solution-check').getPrioritizedCount()).toBe(1);
  });

  it('by a Redis that has forgotten its scripts too', async () => {
    await addSolutionCheck(fleet, script('before'));
    await fleet.client.script('FLUSH');
    const { id } = await addSolutionCheck(fleet, script('after'));
    // Redis is sent the text of the script in a second command.
    await expect.poll(() => priorityOf('solution-check', id)).toEqual({ stored: 2, waiting: 2 });
  });

  it('by a worker, if its producer ended before it was scheduled', async () => {
    const step = { ablationCode: 'x', rawOutput: 'a: 1', ...script('x'), previousBlocks: [] };
    const { summarize } = await addRefinementStep(fleet, step);
    const queue = fleet.queue('summarize');
    await (await queue.getJob(summarize.id))?.changePriority({ priority: UNSCHEDULED });
    expect(await priorityOf('summarize', summarize.id)).toEqual({
      stored: UNSCHEDULED,
      waiting: UNSCHEDULED,
    });
    expect(await scheduleDueJobs(fleet.client, fleet.prefix, 'summarize', 1)).toBe(1);
    expect(await priorityOf('summarize', summarize.id)).toEqual({ stored: 2, waiting: 2 });
  });
});

describe('a batch of candidates', () => {
  it('of more candidates than one transaction has is rejected atomically, and stored once if it is sent twice', async () => {
    const evaluation = { queue: 'evaluate', name: 'score' };
    const content = (at: number) => `candidate = ${at}\n`;
    const many = Array.from({ length: 300 }, (_, at) => ({
      solution: { content: content(at) },
      key: `many:${at}`,
    }));
    const last = { solution: { content: content(299) }, key: 'many:299' };
    await addCandidateBatch(fleet, { candidates: [last], evaluation });
    const other = { ...last, solution: { content: 'another = 1\n' } };
    const rejected = addCandidateBatch(fleet, { candidates: [...many.slice(0, -1), other], evaluation });
    await expect(rejected).rejects.toMatchObject({ code: 'key-conflict' });
    const stored = () => fleet.queue('evaluate').getWaitingChildrenCount();
    expect(await stored()).toBe(1);
    const both = await Promise.all(
      [many, many].map((list) => addCandidateBatch(fleet, { candidates: list, evaluation })),
    );
    expect(both.map(({ evaluations }) => evaluations.at(-1)?.evaluation.outcome)).toEqual([
      'existing',
      'existing',
    ]);
    expect([await stored(), await fleet.queue('solution-check').count()]).toEqual([300, 300]);
  });
});
