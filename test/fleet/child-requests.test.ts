import { UnrecoverableError, Worker } from 'bullmq';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { findUnservedKinds } from '../../src/fleet/doctor/unserved-kinds.js';
import { findUnservedChildren } from '../../src/fleet/doctor/waiting-parents.js';
import { defineKind, type Kind } from '../../src/processors/define-kind.js';
import type { ChildWork, Work } from '../../src/processors/processor.js';
import { addJob } from '../../src/producers/add-job.js';
import { cancelJob } from '../../src/producers/cancel-job.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { KIND_NAMES } from '../../src/queues/registry.js';

import { startTestFleet } from '../support/fleet.js';
import { startFleetCommand } from '../support/fleet-command.js';
import { testProgram } from '../support/programs.js';
import { redisOfFile } from '../support/redis.js';
import { forgetful } from './forgetful-kinds.js';

const redis = redisOfFile();
let fleets = 0;

const echo = defineKind({
  name: 'echo',
  payload: z.object({ text: z.string() }),
  result: z.strictObject({ text: z.string() }),
  process: async ({ text }) => ({ text }),
});

/** A fleet with a kind whose processor is this function; it is defined in no other process. */
async function startWith(process: (work: Work) => Promise<unknown>) {
  fleets += 1;
  const parent = defineKind({
    name: 'parent',
    payload: z.object({}),
    result: z.unknown(),
    defaults: { attempts: 1 },
    process: (_payload, work) => process(work),
  });
  const test = await startTestFleet(redis, `requests-${fleets}`, { kinds: [parent] });
  onTestFinished(() => test.close());
  const start = () => test.worker(createOfflineRunner(), { kinds: [parent] });
  const serveEcho = () => test.worker(createOfflineRunner(), { kinds: [echo] });
  return { ...test, start, serveEcho, submit: () => addJob(test.fleet, parent, {}) };
}

/** Calls as a processor in JavaScript may make them. */
const loose = (jobs: ChildWork) =>
  jobs as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;

describe('a result with fields of a newer version', () => {
  const newer = defineKind({
    name: 'echo',
    payload: z.object({ text: z.string() }),
    result: z.strictObject({ text: z.string(), language: z.string() }),
    process: async ({ text }) => ({ text, language: 'none' }),
  });

  it('is left to a newer worker by a job that waited for it', async () => {
    fleets += 1;
    const asking = (child: typeof echo | typeof newer) =>
      defineKind({
        name: 'asking',
        payload: z.object({}),
        result: z.unknown(),
        process: (_payload, { jobs }) => jobs.child(child, { text: 'a' }, { name: 'a' }),
      });
    const test = await startTestFleet(redis, `newer-${fleets}`, { kinds: [asking(echo), echo] });
    onTestFinished(() => test.close());
    const job = await addJob(test.fleet, asking(echo), {});
    const run = (...kinds: Kind[]) =>
      test.worker(createOfflineRunner(), { kinds, newerContractDelayMs: 100 });
    await test.fleet.queue('echo').pause();
    const first = await run(asking(echo), echo);
    await test.logged('waits for its children');
    await first.stop(1_000);
    await test.fleet.queue('echo').resume();
    const second = await run(newer);
    await test.logged('job completed');
    await second.stop(1_000);
    const older = await run(asking(echo), echo);
    await test.logged('it is left for a newer worker');
    await older.stop(1_000);
    await run(asking(newer), newer);
    expect(await job.result()).toEqual({ text: 'a', language: 'none' });
  });

  it('loses them for an older client', async () => {
    fleets += 1;
    const test = await startTestFleet(redis, `newer-${fleets}`, { kinds: [echo] });
    onTestFinished(() => test.close());
    await test.worker(createOfflineRunner(), { kinds: [newer] });
    expect(await (await addJob(test.fleet, echo, { text: 'a' })).result()).toEqual({ text: 'a' });
  });
});

describe('a child of a kind that its worker does not know', () => {
  it('is refused with the most similar kind, which is probably meant', async () => {
    const { start, submit, fleet } = await startWith(({ jobs }) =>
      jobs.child('solution-chek', { solution: { content: 'x = 1\n' } }, { name: 'a' }),
    );
    await start();
    const { state, error } = await (await submit()).wait();
    expect([state, error?.code]).toEqual(['failed', 'unknown-kind']);
    expect(error?.message).toContain('the most similar kind is "solution-check"');
    expect(await fleet.client.keys(`${fleet.prefix}:solution-chek:*`)).toEqual([]);
  });

  it('runs if a connected worker serves the kind, or did', async () => {
    const { start, serveEcho, submit } = await startWith(({ jobs }) =>
      jobs.child('echo', { text: 'a' }, { name: 'a' }),
    );
    const other = await serveEcho();
    await start();
    expect(await (await submit()).result()).toEqual({ text: 'a' });
    await other.stop(0);
    const later = await submit();
    await expect.poll(() => later.state()).toBe('waiting-children');
    await serveEcho();
    expect(await later.result()).toEqual({ text: 'a' });
  });

  it('waits if its definition was passed; its parent and the doctor name it without knowing the kind', async () => {
    const { start, serveEcho, submit, fleet } = await startWith(({ jobs }) =>
      jobs.child(echo, { text: 'a' }, { name: 'a' }),
    );
    await start();
    const job = await submit();
    const stranger = await FleetClient.open({ redisUrl: redis.url, prefix: fleet.prefix, waitForSlow: true });
    onTestFinished(() => stranger.close());
    const detail = expect.stringMatching(
      /^it waits for echo-.*, and no connected worker serves the kind echo$/,
    );
    await expect.poll(() => job.view()).toMatchObject({ state: 'waiting-children', waitReason: detail });
    const unserved = () => findUnservedChildren(stranger.client, stranger.prefix, KIND_NAMES);
    const problem = { problem: 'unserved-child', queue: 'parent', id: job.id, detail };
    expect(await unserved()).toEqual([problem]);
    const summary = await addJob(stranger, 'summarize', { ablationCode: 'x = 1', rawOutput: 'base 0.5' });
    const waitReason = 'no connected worker serves the kind summarize';
    expect(await summary.view()).toMatchObject({ state: 'waiting', waitReason });
    const kinds = () => findUnservedKinds(stranger.client, stranger.prefix, KIND_NAMES);
    expect(await kinds()).toEqual([
      {
        problem: 'unserved-kind',
        queue: 'summarize',
        id: 'summarize',
        detail: `1 job waits, and ${waitReason}`,
      },
    ]);
    await summary.cancel();
    await serveEcho();
    await expect.poll(unserved).toEqual([]);
    expect(await kinds()).toEqual([]);
    expect(await job.result()).toEqual({ text: 'a' });
  });
});

describe('a request for a child', () => {
  const script = { solution: { content: 'x = 1\n' } };
  it.each<[string, (jobs: ReturnType<typeof loose>) => Promise<unknown> | undefined, string]>([
    ['no options', (jobs) => jobs.child?.('summarize', {}), 'child: options must be an object with the name'],
    ['no name', (jobs) => jobs.child?.('summarize', {}, {}), 'child: options.name is missing'],
    [
      'a name that is no text',
      (jobs) => jobs.childIn?.('own', {}, { name: 7 }),
      'options.name must be a text',
    ],
    ['an unknown option', (jobs) => jobs.childIn?.('own', {}, { name: 'a', orElze: 1 }), 'options.orElze'],
    ['no payload', (jobs) => jobs.child?.('summarize'), 'child: payload must be an object'],
    [
      'no kind',
      (jobs) => jobs.child?.(undefined, {}, { name: 'a' }),
      'child: kind must be the name of a kind',
    ],
    [
      'tags that are none',
      (jobs) => jobs.childIn?.('own', { tags: 'a' }, { name: 'a' }),
      '"tags" must be an',
    ],
    ['a queue of no name', (jobs) => jobs.childIn?.('a:b', {}, { name: 'a' }), 'childIn: queue must be 1 to'],
    [
      'attempts below one',
      (jobs) => jobs.childIn?.('own', {}, { name: 'a', attempts: 0 }),
      'options.attempts',
    ],
    ['no list', (jobs) => jobs.children?.({}), 'children: requests must be an array'],
    [
      'one of several that is wrong',
      (jobs) => jobs.children?.([{ queue: 'own', payload: {}, options: { name: 'a' } }, { queue: 'own' }]),
      'children: requests[1].payload must be an object',
    ],
    [
      'no evaluation',
      (jobs) => jobs.evaluation?.(undefined, { name: 'a' }),
      'evaluation: evaluation must be',
    ],
    [
      'no script',
      (jobs) => jobs.evaluation?.({ queue: 'own' }, { name: 'a' }),
      'evaluation.solution must be',
    ],
    [
      'an evaluation without a name',
      (jobs) => jobs.evaluation?.({ ...script, queue: 'own' }),
      'options must be',
    ],
  ])('that has %s fails the job, and says which argument is wrong', async (_what, request, message) => {
    const { start, submit, fleet } = await startWith(async ({ jobs }) => request(loose(jobs)));
    await start();
    const job = await submit();
    const { error } = await job.wait();
    expect([error?.code, error?.message]).toEqual(['usage', expect.stringContaining(message)]);
    expect(await fleet.client.scard(`${fleet.jobKey('parent', job.id)}:dependencies`)).toBe(0);
  });
});

describe('a job that is cancelled while it waits for its children', () => {
  it('ends at once with those that wait: in other queues, delayed, and children of children', async () => {
    const { start, submit, fleet } = await startWith(({ jobs }) =>
      jobs.children([
        { queue: 'own', payload: {}, options: { name: 'own' } },
        { queue: 'late', payload: {}, options: { name: 'late' } },
      ]),
    );
    const worker = await start();
    const job = await submit();
    await expect.poll(() => job.state()).toBe('waiting-children');
    await worker.stop(0);
    const [own] = await fleet.queue('own').getPrioritized();
    const [late] = await fleet.queue('late').getPrioritized();
    const below = { id: late?.id ?? '', queue: `${fleet.prefix}:late` };
    const grandchild = await fleet.queue('own').add('below', {}, { parent: below, delay: 600_000 });
    await cancelJob(fleet, job.id);
    expect(await Promise.all([own, late, grandchild].map((child) => child?.getState()))).toEqual(
      Array(3).fill('failed'),
    );
    expect(await fleet.queue('parent').getJobState(job.id)).toBe('failed');
    expect((await job.view()).state).toBe('cancelled');
    expect((await fleet.queue('own').getFailed()).map(({ failedReason }) => failedReason)).toEqual(
      Array(2).fill('[job-cancelled] the job was cancelled'),
    );
  });

  it('waits for one that a worker has, or that has stalled, until its worker ends it', async () => {
    const { start, submit, fleet } = await startWith(({ jobs }) =>
      jobs.children(
        ['running', 'stalled'].map((queue) => ({ queue, payload: {}, options: { name: queue } })),
      ),
    );
    const worker = await start();
    const job = await submit();
    await expect.poll(() => job.state()).toBe('waiting-children');
    await worker.stop(0);
    const running = new Worker('running', null, { connection: fleet.client, prefix: fleet.prefix });
    onTestFinished(() => running.close());
    const active = await running.getNextJob('token');
    const [stalled] = await fleet.queue('stalled').getPrioritized();
    await fleet.client.hset(fleet.jobKey('stalled', stalled?.id ?? ''), 'stc', 1);
    await cancelJob(fleet, job.id);
    expect([await active?.getState(), await stalled?.getState()]).toEqual(['active', 'prioritized']);
    expect(await fleet.queue('parent').getJobState(job.id)).toBe('waiting-children');
    await active?.moveToFailed(new UnrecoverableError('x'), 'token');
    await fleet.queue('stalled').remove(stalled?.id ?? '');
    await expect.poll(() => fleet.queue('parent').getJobState(job.id)).not.toBe('waiting-children');
  });
});

describe('a request that is not awaited', () => {
  it('fails its job with its error', async () => {
    const { start, submit, logged } = await startWith(async ({ jobs }) => {
      void jobs.child('summarize', { ablationCode: '', rawOutput: '' }, { name: 'a' });
      return 'done';
    });
    await start();
    const { error } = await (await submit()).wait();
    expect(error).toMatchObject({
      code: 'invalid-payload',
      message: expect.stringContaining('ablationCode'),
    });
    await logged('was not awaited, so the job fails with it');
  });

  it('inside an async function that is not awaited never ends the worker, and fails its job', async () => {
    const { fleet, submitForgetful, worker } = await startForgetful();
    const completed = { state: 'completed', result: { done: true } };
    expect(await submitForgetful('waits')).toMatchObject(completed);
    const invalid = { state: 'failed', error: { code: 'invalid-payload' } };
    expect(await submitForgetful('fails')).toMatchObject(invalid);
    expect(await submitForgetful('wraps')).toMatchObject({
      error: { code: 'processor-failed', message: 'a message of the author' },
    });
    expect(await submitForgetful('handles')).toMatchObject(completed);
    const late = await submitForgetful('late');
    expect(late).toMatchObject(completed);
    worker.child.kill('SIGUSR2');
    await worker.printed(`job ${late.id}: a request that was not awaited failed after the attempt had ended`);
    expect(await fleet.client.keys(`${fleet.jobKey('forgetful', late.id)}:dependencies`)).toEqual([]);
    expect(await worker.end('SIGTERM')).toBe(0);
  });
});

/** A worker process with the kind whose processor forgets to await. */
async function startForgetful() {
  fleets += 1;
  const { fleet } = await startTestFleet(redis, `requests-${fleets}`, { kinds: [forgetful] }).then((test) => {
    onTestFinished(() => test.close());
    return test;
  });
  const env = { FLEET_REDIS_URL: redis.url, FLEET_PREFIX: fleet.prefix, FLEET_AGENT: 'offline' };
  const module = testProgram('test/fleet/forgetful-kinds');
  const worker = startFleetCommand(['worker', '--kinds-from', module], { env });
  onTestFinished(async () => void (await worker.end('SIGKILL')));
  const submitForgetful = async (way: string) => (await addJob(fleet, forgetful, { way })).wait();
  return { fleet, worker, submitForgetful };
}
