import { beforeEach, describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import type { ChildJobs } from '../../src/fleet/children/child-jobs.js';
import { MAX_CHILDREN, startedChildren } from '../../src/fleet/children/child-script.js';
import { WaitForChildren } from '../../src/fleet/children/wait-for-children.js';
import { MAX_CHILD_DEPTH } from '../../src/producers/add-child.js';
import { cancelJob } from '../../src/producers/cancel-job.js';
import type { FleetClient } from '../../src/producers/fleet-client.js';
import { waitForJob } from '../../src/producers/wait-for-job.js';
import { CONTRACT_VERSION } from '../../src/queues/common.js';
import { CHILDREN_FIELD, flagCancelled, forgetChildren, readJobFlags } from '../../src/queues/job-flags.js';
import { runnerFor } from '../support/agent-answers.js';
import { fleetOfTest, type TestFleet } from '../support/fleet.js';
import type { MessagesApi } from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';
import { parentJobs } from './parent-jobs.js';

const redis = redisOfFile();
const { newParent, attempt, failChild } = parentJobs(redis, () => fleet);
let test: TestFleet;
let fleet: FleetClient;
let api: MessagesApi;

beforeEach(async () => {
  ({ test, api } = await fleetOfTest(redis, 'start-children'));
  ({ fleet } = test);
});

const check = (name: string) => ({ solution: { content: `name = '${name}'\n` } });
const request = (name: string) => ({ queue: 'solution-check', payload: check(name), options: { name } });

const waiting = () => fleet.queue('solution-check').count();

describe('a job that starts children', () => {
  it('adds each once, however many attempts start it before the job waits', async () => {
    const parent = await newParent();
    for (let at = 0; at < 3; at += 1) {
      await expect(attempt(parent).child('solution-check', check('a'), { name: 'a' })).rejects.toThrow(
        WaitForChildren,
      );
    }
    expect(await waiting()).toBe(1);
  });

  it('waits for a child that its processor does not await, and its worker does not end by it', async () => {
    const unhandled: unknown[] = [];
    const listener = (thrown: unknown) => unhandled.push(thrown);
    process.on('unhandledRejection', listener);
    try {
      const jobs = attempt(await newParent());
      void jobs.child('solution-check', check('a'), { name: 'a' });
      expect(await jobs.isWaiting()).toBe(true);
      // Node reports a rejection after the promises of the tick.
      await new Promise((resolve) => setImmediate(resolve));
      expect(unhandled).toEqual([]);
    } finally {
      process.off('unhandledRejection', listener);
    }
  });

  it('adds a child that was recorded but not added when its worker was killed', async () => {
    const parent = await newParent();
    await expect(attempt(parent).children([request('a'), request('b')])).rejects.toThrow(WaitForChildren);
    await fleet.queue('solution-check').obliterate();
    await fleet.client.del(`${parent.key}:dependencies`);
    await expect(attempt(parent).children([request('a'), request('b')])).rejects.toThrow(WaitForChildren);
    expect(await waiting()).toBe(2);
  });

  it.each([
    ['failed', async (id: string) => void (await failChild(id, '[bad-request] x'))],
    ['was cancelled', (id: string) => cancelJob(fleet, id)],
  ])(
    'runs a failed child again that an earlier job of its key left, though its worker is killed in between: it %s',
    async (_name, end) => {
      const parent = await newParent();
      await expect(attempt(parent).children([request('a')])).rejects.toThrow(WaitForChildren);
      const [child] = await fleet.queue('solution-check').getPrioritized();
      await end(child?.id ?? '');
      // Removed and submitted again.
      await fleet.client.del(parent.key, `${parent.key}:failed`, `${parent.key}:dependencies`);
      await fleet.queue('parents').add('parent', {}, { jobId: parent.id });
      // The worker is killed after it added the child again as a dependency, and before it ran it again.
      await fleet.client.sadd(`${parent.key}:dependencies`, fleet.jobKey('solution-check', child?.id ?? ''));
      await expect(attempt(parent).children([request('a')])).rejects.toThrow(WaitForChildren);
      expect(await waiting()).toBe(1);
      const { cancelled } = await readJobFlags(fleet.client, fleet.jobKey('solution-check', child?.id ?? ''));
      expect(cancelled).toBe(false);
    },
  );

  it('does not get the result that a child with another payload gave an earlier job of its key', async () => {
    const parent = await newParent();
    const other = { ...request('old'), options: { name: 'a' } };
    await expect(attempt(parent).children([other])).rejects.toThrow(WaitForChildren);
    await test.worker(createOfflineRunner());
    await expect.poll(() => fleet.client.scard(`${parent.key}:dependencies`)).toBe(0);
    await fleet.client.del(parent.key, `${parent.key}:processed`);
    await fleet.queue('parents').add('parent', {}, { jobId: parent.id });
    await expect(attempt(parent).children([request('a')])).rejects.toThrow(WaitForChildren);
    await expect.poll(() => fleet.client.scard(`${parent.key}:dependencies`)).toBe(0);
    expect(await attempt(parent).children([request('a')])).toMatchObject([check('a')]);
  });

  it('may start others once a person retries it, unless somebody else has done so before', async () => {
    const parent = await newParent();
    const changed = { ...request('b'), options: { name: 'a' } };
    await expect(attempt(parent).children([request('a')])).rejects.toThrow(WaitForChildren);
    await forgetChildren(fleet.client, parent.key);
    await expect(attempt(parent).children([changed])).rejects.toMatchObject({ code: 'child-changed' });
    await fleet.client.hset(parent.key, 'finishedOn', Date.now());
    await forgetChildren(fleet.client, parent.key);
    await expect(attempt(parent).children([changed])).rejects.toThrow(WaitForChildren);
    expect(await waiting()).toBe(2);
  });

  it('goes on where a full Redis stopped it, with a new child and one that has failed', async () => {
    const parent = await newParent();
    await expect(attempt(parent).children([request('a')])).rejects.toThrow(WaitForChildren);
    const [child] = await fleet.queue('solution-check').getPrioritized();
    await failChild(child?.id ?? '', '[bad-request] x');
    await fleet.client.hset(parent.key, 'finishedOn', Date.now());
    await forgetChildren(fleet.client, parent.key);
    const both = [request('a'), request('b')];
    await fleet.client.config('SET', 'maxmemory', '1');
    await expect(attempt(parent).children(both)).rejects.toThrow('no memory left');
    await fleet.client.config('SET', 'maxmemory', '0');
    await expect(attempt(parent).children(both)).rejects.toThrow(WaitForChildren);
    expect(await waiting()).toBe(2);
    expect(await fleet.client.scard(`${parent.key}:dependencies`)).toBe(2);
  });

  it('takes them along if it is cancelled before it waits, even if its worker is killed then', async () => {
    const parent = await newParent();
    await expect(attempt(parent).children([request('a')])).rejects.toThrow(WaitForChildren);
    const [child] = await fleet.queue('solution-check').getPrioritized();
    await cancelJob(fleet, parent.id, 'parents');
    const key = fleet.jobKey('solution-check', child?.id ?? '');
    expect((await readJobFlags(fleet.client, key)).cancelled).toBe(true);
  });

  it.each<[string, (jobs: ChildJobs) => Promise<unknown>]>([
    ['child', (jobs) => jobs.children([request('a')])],
    [
      'check of an evaluation',
      (jobs) => jobs.evaluation({ ...check('a'), queue: 'evaluate' }, { name: 'a' }),
    ],
  ])(
    'never has a %s run that it added after its cancellation, though its worker is killed right then',
    async (_name, start) => {
      const parent = await newParent();
      await expect(start(attempt(parent))).rejects.toThrow(WaitForChildren);
      const [child] = await fleet.queue('solution-check').getPrioritized();
      // `cancelJob` flags the job and then cancels its children; it came between the attempt's first look and the new child.
      await flagCancelled(fleet.client, parent.key);
      await test.worker(runnerFor(api));
      const { state } = await waitForJob(fleet, child?.id ?? '');
      expect([state, api.requests.length]).toEqual(['cancelled', 0]);
    },
  );

  it('adds no child once it is cancelled', async () => {
    const parent = await newParent();
    await flagCancelled(fleet.client, parent.key);
    await expect(attempt(parent).children([request('a')])).rejects.toMatchObject({ code: 'job-cancelled' });
    expect(await waiting()).toBe(0);
  });

  it('adds all that it starts together, one by one or at once, before it waits', async () => {
    const parent = await newParent();
    const jobs = attempt(parent);
    const outcomes = await Promise.allSettled([
      jobs.child('solution-check', check('a'), { name: 'a' }),
      jobs.children([request('b'), request('c')]),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await jobs.isWaiting()).toBe(true);
    expect(await fleet.client.scard(`${parent.key}:dependencies`)).toBe(3);
    await expect(jobs.assertAllStarted()).rejects.toThrow(WaitForChildren);
  });

  it('gets their results in the order of its requests, and the fallback for those that failed', async () => {
    const parent = await newParent();
    const requests = [
      request('a'),
      { queue: 'other', payload: { n: 1 }, options: { name: 'own', orElse: 'nothing' } },
      request('c'),
    ];
    await expect(attempt(parent).children(requests)).rejects.toThrow(WaitForChildren);
    await test.worker(createOfflineRunner());
    const [own] = await fleet.queue('other').getPrioritized();
    expect(own?.data).toEqual({ n: 1, tags: { parent: parent.id } });
    await cancelJob(fleet, own?.id ?? '', 'other');
    await fleet.client.hset(
      `${parent.key}:failed`,
      fleet.jobKey('other', own?.id ?? ''),
      '[job-cancelled] x',
    );
    await fleet.client.srem(`${parent.key}:dependencies`, fleet.jobKey('other', own?.id ?? ''));
    await expect.poll(() => fleet.client.scard(`${parent.key}:dependencies`)).toBe(0);
    const results = await attempt(parent).children(requests);
    expect(results).toMatchObject([
      { solution: check('a').solution },
      'nothing',
      { solution: check('c').solution },
    ]);
  });

  it.each([
    [
      'another payload',
      'child-changed',
      () => [request('a')],
      () => [{ ...request('b'), options: { name: 'a' } }],
    ],
    ['two of one name', 'child-changed', () => [], () => [request('a'), request('a')]],
    [
      'too many',
      'child-limit',
      () => Array.from({ length: MAX_CHILDREN }, (_, at) => request(`n${at}`)),
      () => [request('one-more')],
    ],
    [
      'no script',
      'invalid-payload',
      () => [],
      () => [{ ...request('a'), payload: { solution: { content: '' } } }],
    ],
  ])('is refused %s', async (_name, code, earlier, now) => {
    const parent = await newParent();
    if (earlier().length > 0) {
      await expect(attempt(parent).children(earlier())).rejects.toThrow(WaitForChildren);
    }
    const count = await waiting();
    await expect(attempt(parent).children(now())).rejects.toMatchObject({ code });
    expect(await waiting()).toBe(count);
  });

  it('is refused children below a depth', async () => {
    const parent = await newParent();
    const deep = { ...parent, heritage: { ...parent.heritage, depth: MAX_CHILD_DEPTH } };
    await expect(attempt(deep).children([request('a')])).rejects.toMatchObject({ code: 'child-limit' });
    const above = { ...parent, heritage: { ...parent.heritage, depth: MAX_CHILD_DEPTH - 1 } };
    await expect(attempt(above).children([request('a')])).rejects.toThrow(WaitForChildren);
    const [job] = await fleet.queue('solution-check').getPrioritized();
    expect(job?.opts).toMatchObject({ fleet: { depth: MAX_CHILD_DEPTH } });
  });

  it('adds no children if it lost its lock or was removed', async () => {
    const parent = await newParent();
    await fleet.client.set(`${parent.key}:lock`, 'of another worker');
    await expect(attempt(parent).children([request('a')])).rejects.toMatchObject({ code: 'lock-lost' });
    await fleet.client.del(parent.key);
    await fleet.client.set(`${parent.key}:lock`, 'token');
    await expect(attempt(parent).children([request('a')])).rejects.toMatchObject({ code: 'lock-lost' });
    expect(await waiting()).toBe(0);
  });

  it('fails with the location of the record of its children if that cannot be read', async () => {
    const parent = await newParent();
    await fleet.client.hset(parent.key, CHILDREN_FIELD, 'no JSON');
    await expect(attempt(parent).children([request('a')])).rejects.toMatchObject({
      code: 'broken-record',
      field: CHILDREN_FIELD,
    });
  });

  it.each([
    ['is left to a newer worker that started it', CONTRACT_VERSION + 1, 'newer-contract'],
    ['fails where this version started it before', CONTRACT_VERSION, 'child-changed'],
  ])('and does not start one of an earlier attempt: it %s', async (_name, version, code) => {
    const parent = await newParent();
    await expect(attempt(parent).children([request('a')])).rejects.toThrow(WaitForChildren);
    const [a = { name: '', version: 0 }] = startedChildren(
      (await fleet.client.hget(parent.key, CHILDREN_FIELD)) ?? undefined,
    );
    expect(a).toEqual({ name: 'a', version: CONTRACT_VERSION });
    const later = attempt({ ...parent, startedChildren: [{ name: 'other', version }] });
    await expect(later.assertAllStarted()).rejects.toMatchObject({ code });
  });
});

describe('a job in a pipeline queue that a job starts', () => {
  it('may have attempts, and gives its failure instead of a result', async () => {
    const parent = await newParent();
    const childOptions = {
      name: 'own',
      attempts: 2,
      onFailure: ({ message }: { message: string }) => message,
    };
    const start = () => attempt(parent).childIn('other', { n: 1 }, childOptions);
    await expect(start()).rejects.toThrow(WaitForChildren);
    const [own] = await fleet.queue('other').getPrioritized();
    expect(own?.opts).toMatchObject({ attempts: 2, backoff: { type: 'exponential' } });
    await failChild(own?.id ?? '', 'no idea', 'other');
    expect(await start()).toBe('no idea');
  });

  it('has an id that the job knows', async () => {
    const jobs = attempt(await newParent());
    await expect(jobs.childIn('other', { n: 1 }, { name: 'own' })).rejects.toThrow(WaitForChildren);
    const [own] = await fleet.queue('other').getPrioritized();
    expect([...jobs.ids]).toEqual([['own', own?.id]]);
  });
});
