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

/** Priority in the job itself and, where it waits, in the order of the queue. */
async function placeOf(queue: string, id: string) {
  const score = await fleet.client.zscore(key(queue, 'prioritized'), id);
  const own = Number(await fleet.client.hget(key(queue, id), 'priority'));
  return { own, waiting: score === null ? undefined : Math.floor(Number(score) / BAND) };
}

describe('a new job is given its place among the others', () => {
  it('each job of a tenant after the last', async () => {
    const ids = [];
    for (const name of ['a', 'b', 'c']) ids.push((await addSolutionCheck(fleet, script(name))).id);
    const places = await Promise.all(ids.map((id) => placeOf('solution-check', id)));
    expect(places).toEqual([1, 2, 3].map((tag) => ({ own: tag, waiting: tag })));
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
      expect(await placeOf('solution-check', near)).toEqual({ own: 2, waiting: undefined });
      expect(await placeOf('solution-check', far)).toEqual({ own: UNSCHEDULED, waiting: undefined });
    },
  );

  it('a delayed job, by a worker', async () => {
    const queue = fleet.queue('solution-check');
    await queue.pause();
    const { id } = await addSolutionCheck(fleet, script('late'), { delayMs: 1_500 });
    await startWorker(createOfflineRunner());
    await expect.poll(async () => (await placeOf('solution-check', id)).own).toBe(1);
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
    expect(await placeOf('summarize', summarize.id)).toEqual({ own: 2, waiting: 2 });
    expect(await placeOf('extract', extract.id)).toEqual({ own: 2, waiting: undefined });
  });

  it('every job of a flow with more jobs than are placed at once', async () => {
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
    const places = await Promise.all(waiting.map((id) => placeOf('solution-check', id)));
    expect(places).toEqual(waiting.map((_, at) => ({ own: at + 1, waiting: at + 1 })));
  });

  it('a job that is there under the same id keeps its place', async () => {
    const options = { key: 'same' };
    const [first] = await Promise.all(
      [0, 1, 2, 3].map(() => addSolutionCheck(fleet, script('same'), options)),
    );
    expect(await placeOf('solution-check', first?.id ?? '')).toEqual({ own: 1, waiting: 1 });
    expect(await fleet.queue('solution-check').getPrioritizedCount()).toBe(1);
  });

  it('by a Redis that has forgotten its scripts too', async () => {
    await addSolutionCheck(fleet, script('before'));
    await fleet.client.script('FLUSH');
    const { id } = await addSolutionCheck(fleet, script('after'));
    expect(await placeOf('solution-check', id)).toEqual({ own: 2, waiting: 2 });
  });

  it('by a worker, if its producer ended before it was scheduled', async () => {
    const step = { ablationCode: 'x', rawOutput: 'a: 1', ...script('x'), previousBlocks: [] };
    const { summarize } = await addRefinementStep(fleet, step);
    const queue = fleet.queue('summarize');
    await (await queue.getJob(summarize.id))?.changePriority({ priority: UNSCHEDULED });
    expect(await placeOf('summarize', summarize.id)).toEqual({ own: UNSCHEDULED, waiting: UNSCHEDULED });
    expect(await scheduleDueJobs(fleet.client, fleet.prefix, 'summarize', 1)).toBe(1);
    expect(await placeOf('summarize', summarize.id)).toEqual({ own: 2, waiting: 2 });
  });
});

describe('a batch of candidates', () => {
  it('of more candidates than one transaction has is refused whole, and stored once where it is sent twice', async () => {
    const evaluation = { queue: 'evaluate', name: 'score' };
    const content = (at: number) => `candidate = ${at}\n`;
    const many = Array.from({ length: 300 }, (_, at) => ({
      solution: { content: content(at) },
      key: `many:${at}`,
    }));
    const last = { solution: { content: content(299) }, key: 'many:299' };
    await addCandidateBatch(fleet, { candidates: [last], evaluation });
    const other = { ...last, solution: { content: 'another = 1\n' } };
    const refused = addCandidateBatch(fleet, { candidates: [...many.slice(0, -1), other], evaluation });
    await expect(refused).rejects.toMatchObject({ code: 'key-conflict' });
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
