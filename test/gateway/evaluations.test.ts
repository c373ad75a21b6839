import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { findUnservedQueues } from '../../src/fleet/doctor/unserved-kinds.js';
import { defineKind } from '../../src/processors/define-kind.js';
import { addJob } from '../../src/producers/add-job.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { boundedOutcomes } from '../../src/producers/flows/batch-outcomes.js';
import { addKnownSolutions } from '../../src/producers/known-solutions.js';
import { digestOf } from '../../src/queues/digest.js';
import { KIND_NAMES } from '../../src/queues/registry.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { redisOfFile } from '../support/redis.js';
import { type Answer, gatewayOfTest, startTestGateway, type TestGateway } from './gateway-fixture.js';

const CLEAN = 'x = 1\nprint(x)\n';
const STALLED_CHECK = { stalledCheckMs: 200 };

const redis = redisOfFile();
/** With a worker: of all tests that need no other. */
let shared: { readonly test: TestFleet; readonly gateway: TestGateway };
let test: TestFleet;
let gateway: TestGateway;
/** The pipeline queue of the test. */
let queue: string;
let queues = 0;

beforeAll(async () => {
  const fleet = await startTestFleet(redis, 'evaluations');
  await fleet.worker(createOfflineRunner());
  shared = { test: fleet, gateway: await startTestGateway(redis, 'evaluations', {}, STALLED_CHECK) };
});
afterAll(async () => {
  await shared.gateway.close();
  await shared.test.close();
});
beforeEach(() => {
  ({ test, gateway } = shared);
  queues += 1;
  queue = `evaluate-${queues}`;
});

/** For a test about what no worker has checked yet, or about all queues. */
async function startWithoutWorker(): Promise<void> {
  ({ test, gateway } = await gatewayOfTest(redis, 'unchecked', STALLED_CHECK));
  queue = 'evaluate';
}

const guarded = () => ({
  solution: { content: CLEAN },
  evaluation: { queue, name: 'score', data: { fold: 3 }, opts: { attempts: 2 } },
});

const claim = (query = '?wait=20s', leaseMs = 60_000) =>
  gateway.send('POST', `/v1/evaluations/claim${query}`, { queue, leaseMs });
const report = (what: string, { json }: Answer, more = {}) =>
  gateway.send('POST', `/v1/evaluations/${what}`, {
    queue: json.queue,
    id: json.id,
    lease: json.lease,
    ...more,
  });
const jobOf = async ({ json }: Answer) => (await gateway.send('GET', `/v1/jobs/${json.id}`)).json;

async function submit(body: object = guarded()): Promise<string> {
  const { json } = await gateway.send('POST', '/v1/flows/guarded-evaluation', body);
  return json.evaluation.id;
}

describe('evaluations over HTTP', () => {
  it('REQ-SF-022: nothing is handed out before its check is completed', async () => {
    await startWithoutWorker();
    const id = await submit();
    expect((await claim('')).status).toBe(204);
    await test.worker(createOfflineRunner());
    const claimed = await claim();
    expect(claimed.status).toBe(200);
    expect(claimed.json).toMatchObject({
      id,
      queue,
      name: 'score',
      data: { fold: 3 },
      attempt: 1,
      solution: { content: CLEAN },
      status: 'clean',
    });
    expect(claimed.json.data).toEqual({ fold: 3 });
    expect((await claim('')).status).toBe(204);
    expect((await report('complete', claimed, { result: { score: 0.8 } })).status).toBe(204);
    expect(await jobOf(claimed)).toMatchObject({ state: 'completed', result: { score: 0.8 } });
  });

  it('REQ-SF-022: a job that was put into the queue past the check is failed and not handed out', async () => {
    await submit();
    const evaluations = test.fleet.queue(queue);
    const forged = await evaluations.add('score', { script: 'evil()' }, { lifo: true });
    const guard = { v: 1, check: 'solution-check-x', digest: digestOf('evil()'), onUncorrected: 'evaluate' };
    const worse = await evaluations.add('score', { script: 'evil()', solutionFleet: guard }, { lifo: true });
    const claimed = await claim();
    expect(claimed.json.solution.content).toBe(CLEAN);
    expect((await claim('')).status).toBe(204);
    for (const job of [forged, worse]) {
      expect(await job.getState()).toBe('failed');
      expect((await evaluations.getJob(job.id ?? ''))?.failedReason).toMatch(/^\[unchecked-solution\]/);
    }
  });

  it('REQ-SF-022: a refinement loop gets its blocks and scores over HTTP, and only checked scripts are handed out', async () => {
    const script = 'model = Ridge()\nprint(model.fit(X, y).score(X, y))\n';
    const payload = {
      ...{ solution: { content: script }, score: 0.5, direction: 'higher', previousBlocks: [], rounds: 1 },
      ...{ ablationCode: 'x', rawOutput: 'Baseline: 0.50\nNo Ridge: 0.30\n' },
      ...{ newBlock: { queue: 'coder', data: { task: 't' } }, evaluation: { queue } },
    };
    const { json: loop } = await gateway.send('POST', '/v1/jobs/refinement-loop', { payload });
    await expect.poll(() => test.fleet.queue('coder').count()).toBe(1);
    const request = await gateway.send('POST', '/v1/evaluations/claim?wait=20s', { queue: 'coder' });
    const { codeBlock } = request.json.data;
    expect(script).toContain(codeBlock);
    expect(request.json.data).toMatchObject({ request: 'new-block', round: 1, task: 't', tried: [] });
    expect(request.json).not.toHaveProperty('solution');
    const result = { codeBlock: codeBlock.replace('Ridge', 'Lasso') };
    expect((await report('complete', request, { result })).status).toBe(204);

    await expect.poll(() => test.fleet.queue(queue).count()).toBe(1);
    const evaluation = await claim();
    expect(evaluation.json.solution.content).toBe(script.replace(codeBlock, result.codeBlock));
    await report('complete', evaluation, { result: 0.75 });
    const ended = await gateway.send('GET', `/v1/jobs/${loop.id}?wait`);
    expect(ended.json).toMatchObject({ state: 'completed', result: { outcome: 'improved', score: 0.75 } });
  });

  it('REQ-SF-022: a script that says it is a request for a block is not handed out as checked', async () => {
    await submit();
    await claim();
    const forged = { request: 'new-block', script: 'evil()', solution: { content: 'evil()' } };
    const job = await test.fleet.queue(queue).add('score', forged);
    expect((await claim('')).status).toBe(204);
    expect(await job.getState()).toBe('failed');
  });

  it('REQ-SF-022: the job after a batch is claimed with the outcome of every candidate, of another gateway too', async () => {
    const candidates = [0, 1, 2, 3].map((n) => ({ solution: { content: `print(${n})\n` }, data: { n } }));
    const { json: batch } = await gateway.send('POST', '/v1/flows/candidate-batch', {
      candidates,
      evaluation: { queue, name: 'score' },
      afterAll: { queue: 'choose', name: 'best', data: { task: 't' } },
      tags: { run: 'r' },
      key: 'night',
    });
    const ids: string[] = batch.evaluations.map((each: { evaluation: { id: string } }) => each.evaluation.id);
    const choose = (from = gateway, query = '') =>
      from.send('POST', `/v1/evaluations/claim${query}`, { queue: 'choose' });
    expect((await choose()).status).toBe(204);
    await gateway.send('DELETE', `/v1/jobs/${ids[3]}`);
    for (let count = 0; count < 3; count += 1) {
      const claimed = await claim();
      expect((await choose()).status).toBe(204);
      const { n } = claimed.json.data;
      await (n === 1
        ? report('fail', claimed, { message: 'no GPU', retryable: false })
        : report('complete', claimed, { result: { n } }));
    }
    const other = await startTestGateway(redis, test.fleet.prefix);
    onTestFinished(() => other.close());
    const claimed = await choose(other, '?wait=20s');
    expect(claimed.json).toMatchObject({ id: batch.afterAll.id, name: 'best', data: { task: 't' } });
    expect(claimed.json).not.toHaveProperty('solution');
    const byId = new Map(
      claimed.json.outcomes.map((each: { evaluation: string }) => [each.evaluation, each]),
    );
    expect(ids.map((id) => byId.get(id))).toMatchObject([
      { state: 'evaluated', result: { n: 0 } },
      { state: 'failed', error: { code: 'job-failed', message: 'no GPU' } },
      { state: 'evaluated', result: { n: 2 } },
      { state: 'failed', error: { code: 'job-cancelled' } },
    ]);
    expect((await report('complete', claimed, { result: ids[2] })).status).toBe(204);
    expect(await jobOf(claimed)).toMatchObject({ state: 'completed', result: ids[2], key: 'night' });
    const listed = async (kind: string) => (await gateway.send('GET', `/v1/jobs?kind=${kind}`)).json.jobs;
    const failed = { id: ids[1], state: 'failed', key: 'night#1', tags: { run: 'r' } };
    expect(await listed(queue)).toContainEqual(expect.objectContaining(failed));
    expect(await listed('solution-check')).toContainEqual(
      expect.objectContaining({ key: 'night#1', status: 'clean' }),
    );
    const letters = await gateway.send('GET', '/v1/dead-letters?run=r');
    expect(letters.json.jobs).toMatchObject([failed]);
    const unknown = await gateway.send('GET', '/v1/jobs?kind=evaluates');
    expect([unknown.status, unknown.json.code]).toEqual([404, 'unknown-kind']);
  });

  it('a job that a processor requests with childIn is claimed in the same way; until then its parent says who is missing', async () => {
    await startWithoutWorker();
    const scoring = defineKind({
      name: 'scoring',
      payload: z.object({}),
      result: z.strictObject({ scores: z.array(z.unknown()) }),
      process: async (_payload, { jobs }) => ({
        scores: [
          await jobs.childIn('scorer', { seed: 7 }, { name: 'score' }),
          await jobs.childIn('scorer', { seed: 8 }, { name: 'again', orElse: 'none' }),
        ],
      }),
    });
    const { client, prefix } = test.fleet;
    const fleet = FleetClient.on(client, { redisUrl: redis.url, prefix, kinds: [scoring] });
    onTestFinished(() => fleet.close());
    await test.worker(createOfflineRunner(), { kinds: [scoring] });
    const job = await addJob(fleet, scoring, {});
    const waitReason = async () => (await job.view()).waitReason;
    await expect
      .poll(waitReason)
      .toMatch(
        /^it waits for scorer-.*, and no worker is connected to the pipeline queue scorer, and no program/,
      );
    const claimNext = () =>
      gateway.send('POST', '/v1/evaluations/claim?wait=20s', { queue: 'scorer', leaseMs: 60_000 });
    const first = await claimNext();
    expect(first.json).toMatchObject({ queue: 'scorer', data: { seed: 7 } });
    expect(first.json).not.toHaveProperty('solution');
    expect(await waitReason()).toBeUndefined();
    expect((await report('complete', first, { result: 0.75 })).status).toBe(204);
    const second = await claimNext();
    expect(second.json).toMatchObject({ queue: 'scorer', data: { seed: 8 } });
    expect(await waitReason()).toBeUndefined();
    await report('fail', second, { message: 'no GPU', retryable: false });
    expect(await job.result()).toEqual({ scores: [0.75, 'none'] });
  });

  it('results that are too large for one answer are left out of the outcomes, and can be read by themselves', async () => {
    const parent = test.fleet.queue(queue);
    const job = await parent.add('best', {});
    const processed = `${parent.toKey(job.id ?? '')}:processed`;
    const results = ['a', 'b', 'c'].map((name) => [
      test.fleet.jobKey('evaluate', name),
      JSON.stringify(name.repeat(40)),
    ]);
    await test.fleet.client.hset(processed, Object.fromEntries(results));
    const outcomes = await boundedOutcomes(test.fleet, job, 90);
    expect(outcomes).toEqual([
      { evaluation: 'a', state: 'evaluated', result: 'a'.repeat(40) },
      { evaluation: 'b', state: 'evaluated', result: 'b'.repeat(40) },
      { evaluation: 'c', state: 'evaluated', resultLeftOut: true },
    ]);
    await parent.obliterate({ force: true });
  });

  it('a job in a queue that nobody serves says so, with the queue that was meant, and so do the doctor and the overview', async () => {
    await startWithoutWorker();
    await submit();
    await test.worker(createOfflineRunner());
    await report('complete', await claim(), { result: 1 });
    const id = await submit({
      ...guarded(),
      evaluation: { queue: 'evaluat', name: 'score', opts: { attempts: 2 } },
    });
    const read = async () => (await gateway.send('GET', `/v1/jobs/${id}`)).json;
    const sentence = /^no worker is connected to the pipeline queue evaluat, .*did you mean "evaluate"\?$/;
    await expect.poll(async () => (await read()).waitReason).toMatch(sentence);
    const { client, prefix } = test.fleet;
    const found = () => findUnservedQueues(client, prefix, KIND_NAMES);
    expect(await found()).toMatchObject([{ problem: 'unserved-queue', id: 'evaluat' }]);
    const page = (await gateway.send('GET', '/')).text;
    expect(page).toContain('1 job waits: no worker is connected to the pipeline queue evaluat');
    const cells = page.replaceAll(/<[^>]*>/g, ' ');
    expect(cells).toMatch(/ evaluate\s+0\s+–\s/);
    expect(cells).toMatch(/ evaluat\s+1\s+\d+ s\s/);
    const claimed = await gateway.send('POST', '/v1/evaluations/claim', { queue: 'evaluat' });
    expect(claimed.status).toBe(200);
    await report('fail', claimed, { message: 'again' });
    await expect.poll(async () => (await read()).state).toMatch(/waiting|delayed/);
    expect(await read()).not.toHaveProperty('waitReason');
    expect(await found()).toEqual([]);
  });

  it('a script is handed out with its statuses, and one without the required status fails', async () => {
    const copy = 'print(1)\n';
    await addKnownSolutions(test.fleet, [{ testCaseId: 'digits', solution: copy }]);
    const testCase = { id: 'digits', name: 'Digits', difficulty: 'easy' };
    const required = {
      ...guarded(),
      contamination: { testCase },
      require: { leakage: ['clean'], contamination: 'clean' },
    };
    const refused = await submit({ ...required, solution: { content: copy } });
    expect((await gateway.send('GET', `/v1/jobs/${refused}`)).json.state).toBe('waiting-children');
    const id = await submit(required);
    const claimed = await claim();
    expect(claimed.json).toMatchObject({ id, contamination: { status: 'clean', testCaseId: 'digits' } });
    await expect.poll(async () => (await claim('')).status).toBe(204);
    await expect
      .poll(async () => (await gateway.send('GET', `/v1/jobs/${refused}`)).json)
      .toMatchObject({
        state: 'failed',
        error: {
          code: 'solution-refused',
          message: expect.stringMatching(/^evaluation job .* its script is contaminated/),
        },
      });
  });

  it('a failure that may pass uses an attempt, one that cannot ends the evaluation', async () => {
    await submit();
    const first = await claim();
    await report('fail', first, { message: 'out of memory' });
    const second = await claim();
    expect(second.json).toMatchObject({ id: first.json.id, attempt: 2 });
    expect(second.json.lease).not.toBe(first.json.lease);
    await report('fail', second, { message: 'no such metric', retryable: false });
    expect(await jobOf(second)).toMatchObject({ state: 'failed', error: { message: 'no such metric' } });
  });

  it('a lease that runs out goes to the next who claims, and its first holder can do no more', async () => {
    await submit();
    const lost = await claim('?wait=20s', 1_000);
    const taken = await claim('?wait=30s');
    expect(taken.json.id).toBe(lost.json.id);
    for (const [what, more] of [
      ['heartbeat', {}],
      ['complete', { result: 'late' }],
      ['fail', { message: 'late' }],
    ] as const) {
      const refused = await report(what, lost, more);
      expect([what, refused.status, refused.json.code]).toEqual([what, 409, 'lease-lost']);
    }
    expect((await report('complete', taken, { result: 'in time' })).status).toBe(204);
    expect((await jobOf(taken)).result).toBe('in time');
  });

  it('a heartbeat keeps the lease', async () => {
    await submit();
    const claimed = await claim('?wait=20s', 4_000);
    expect((await report('heartbeat', claimed, { leaseMs: 600_000 })).json).toEqual({ leaseMs: 600_000 });
    // Longer than the first lease: without the heartbeat another would get it.
    expect((await claim('?wait=8s')).status).toBe(204);
    expect((await report('complete', claimed, { result: 1 })).status).toBe(204);
  });

  it('a cancelled evaluation is not handed out, and its holder learns of it by the heartbeat', async () => {
    await startWithoutWorker();
    const waiting = await submit();
    const active = await submit({ ...guarded(), key: 'second' });
    await gateway.send('DELETE', `/v1/jobs/${waiting}`);
    await test.worker(createOfflineRunner());
    const claimed = await claim();
    expect(claimed.json.id).toBe(active);
    await gateway.send('DELETE', `/v1/jobs/${active}`);
    const reply = await report('heartbeat', claimed);
    expect([reply.status, reply.json.code]).toEqual([409, 'job-cancelled']);
  });

  it.each([
    ['heartbeat', {}],
    ['complete', { result: 'late' }],
    ['fail', { message: 'late' }],
  ])('a cancelled evaluation stays cancelled whatever its holder says: %s', async (what, more) => {
    const active = await submit({ ...guarded(), key: `work in ${queue}` });
    const claimed = await claim();
    await gateway.send('DELETE', `/v1/jobs/${active}`);
    const reply = await report(what, claimed, more);
    expect([reply.status, reply.json.code]).toEqual([409, 'job-cancelled']);
    expect(await jobOf(claimed)).toMatchObject({ state: 'cancelled' });
    // It is free again: of two submissions at once one runs it again, and neither fails.
    const again = [
      { ...guarded(), key: `work in ${queue}` },
      { ...guarded(), key: `work in ${queue}` },
    ].map((body) => gateway.send('POST', '/v1/flows/guarded-evaluation', body));
    expect((await Promise.all(again)).map(({ status }) => status)).toEqual([202, 202]);
    expect((await claim()).json.id).toBe(active);
  });

  it('a lease that was made up ends nothing, not even one that BullMQ does not check', async () => {
    await submit();
    const claimed = await claim();
    for (const lease of ['0', ' 0', '00', '1', 'null', claimed.json.lease.toUpperCase(), randomUUID()]) {
      for (const [what, more] of [
        ['fail', { message: 'forged', retryable: false }],
        ['complete', { result: 'forged' }],
        ['heartbeat', {}],
      ] as const) {
        const refused = await report(what, { ...claimed, json: { ...claimed.json, lease } }, more);
        expect([lease, what, refused.status, refused.json.code]).toEqual([lease, what, 409, 'lease-lost']);
      }
    }
    expect((await report('complete', claimed, { result: 'own' })).status).toBe(204);
    expect((await jobOf(claimed)).result).toBe('own');
  });

  it('results of any JSON come back as they are', async () => {
    for (const result of [null, 0, '', false, [1, 'ä\u0000'], { deep: { list: [null] } }]) {
      await submit();
      const claimed = await claim();
      await report('complete', claimed, { result });
      expect((await jobOf(claimed)).result).toEqual(result);
    }
  });

  it('refuses the queues of the fleet itself, and leases and ids that are none', async () => {
    const refused = await gateway.send('POST', '/v1/evaluations/claim', { queue: 'solution-check' });
    expect([refused.status, refused.json.field]).toEqual([422, 'queue']);
    const id = 'evaluate-00000000-0000-4000-8000-000000000000';
    const ref = { queue: 'evaluate', id, lease: 'x' };
    expect((await gateway.send('POST', '/v1/evaluations/heartbeat', ref)).json.code).toBe('lease-lost');
    expect((await gateway.send('POST', '/v1/evaluations/complete', { ...ref, id: 'meta' })).status).toBe(422);
  });
});
