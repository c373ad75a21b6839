import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addJob } from '../../src/producers/add-job.js';
import { locationOf } from '../../src/producers/find-job.js';
import { viewJob } from '../../src/producers/job-view.js';
import { listJobs } from '../../src/producers/list-jobs.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { redisOfFile } from '../support/redis.js';

const CHECK = { solution: { content: 'print(1)\n' } };
const SUMMARY = { ablationCode: 'print(1)\n', rawOutput: '1' };

const redis = redisOfFile();
let test: TestFleet;
let prefixes = 0;
beforeEach(async () => {
  prefixes += 1;
  test = await startTestFleet(redis, `list-${prefixes}`);
});
afterEach(() => test.close());

/** Job times are whole milliseconds: jobs whose order matters are not made in the same one. */
function nextMillisecond(): void {
  const now = Date.now();
  while (Date.now() === now);
}

async function addChecks(...options: Parameters<typeof addJob<'solution-check'>>[3][]): Promise<string[]> {
  const ids: string[] = [];
  for (const each of options) {
    nextMillisecond();
    ids.push((await addJob(test.fleet, 'solution-check', CHECK, each)).id);
  }
  return ids;
}

async function idsOf(filter: Parameters<typeof listJobs>[1]): Promise<string[]> {
  return (await listJobs(test.fleet, filter)).map(({ id }) => id);
}

describe('listing jobs', () => {
  it('newest first, over all states and positions in the queue', async () => {
    const ids = await addChecks(
      {},
      { delayMs: 900_000 },
      { priority: 9 },
      { delayMs: 60_000 },
      { priority: 1 },
      {},
    );
    expect(await idsOf({})).toEqual([...ids].reverse());
    expect(await idsOf({ limit: 3 })).toEqual([...ids].reverse().slice(0, 3));
  });

  it('the limit is shared among the kinds, and what one does not use goes to the others', async () => {
    await addChecks({}, {}, {}, {}, {}, {});
    for (let count = 0; count < 2; count += 1) await addJob(test.fleet, 'summarize', SUMMARY);
    const kinds = async (limit: number) => (await listJobs(test.fleet, { limit })).map(({ kind }) => kind);
    expect((await kinds(4)).sort()).toEqual(['solution-check', 'solution-check', 'summarize', 'summarize']);
    expect((await kinds(7)).filter((kind) => kind === 'summarize')).toHaveLength(2);
    expect(await kinds(7)).toHaveLength(7);
    expect(await kinds(100)).toHaveLength(8);
  });

  it('filters count before the limit does', async () => {
    const [, delayed] = await addChecks({}, { delayMs: 60_000 }, {}, {});
    expect(await idsOf({ state: 'delayed', limit: 1 })).toEqual([delayed]);
    expect(await idsOf({ run: 'none' })).toEqual([]);
  });
});

describe('a completed job without the time of its end', () => {
  it('is shown as it is, in views and in lists', async () => {
    const [id = ''] = await addChecks({});
    const queue = test.fleet.queue('solution-check');
    const key = queue.toKey(id);
    // As after a damage; a worker writes both in one step.
    await test.fleet.client
      .multi()
      .zrem(queue.toKey('prioritized'), id)
      .zadd(queue.toKey('completed'), 1, id)
      .exec();
    const view = await viewJob(test.fleet, locationOf(test.fleet, id));
    expect(view).toMatchObject({ id, state: 'completed' });
    expect((await listJobs(test.fleet))[0]).toMatchObject({ id, state: 'completed' });
    await test.fleet.client.multi().del(key).zrem(queue.toKey('completed'), id).exec();
  });
});
