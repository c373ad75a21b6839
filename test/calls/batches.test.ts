import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { execa } from 'execa';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { BatchTiming } from '../../src/calls/batches/batch-timing.js';
import { readBatches } from '../../src/calls/batches/read-batches.js';
import { costsOfDay } from '../../src/calls/budget/read-costs.js';
import { cancelJob } from '../../src/producers/cancel-job.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { readCallRecords } from '../../src/queues/call-record.js';
import { batchBase } from '../../src/queues/redis-keys.js';
import { startTestGateway } from '../gateway/gateway-fixture.js';
import { correction, leaks } from '../support/agent-answers.js';
import { fleetOfTest } from '../support/fleet.js';
import { fleetCommand } from '../support/fleet-command.js';
import { errorReply, jsonReply, type Script } from '../support/messages-api.js';
import { testProgram } from '../support/programs.js';
import { withPythonClient } from '../support/python-client.js';
import { redisOfFile } from '../support/redis.js';
import { BATCH_TIMING, type BatchCrash, batchRunner, KILLS_ITSELF } from './batch-runner.js';

const PROGRAM = testProgram('test/calls/batch-worker');

const redis = redisOfFile();
const LEAK = 'a = fit(all)\nprint(a)\n';

function script(name: string) {
  return { solution: { content: `${LEAK}print("${name}")\n` } };
}

async function startFleet(reply?: Script) {
  const { test, api } = await fleetOfTest(redis, 'batches', reply);
  const { fleet, worker, logged } = test;
  const prefix = fleet.prefix;
  return {
    fleet,
    api,
    logged,
    batches: api.batches,
    check: (name: string, deadline = '+1d') => addSolutionCheck(fleet, script(name), { deadline }),
    work: (timing: Partial<BatchTiming> = {}) =>
      worker(batchRunner(api), { lockMs: 2_000, calls: { batches: { ...BATCH_TIMING, ...timing } } }),
    records: (id: string) => readCallRecords(fleet.client, `${prefix}:solution-check:${id}`),
    costs: () => costsOfDay(fleet.client, prefix, Date.now()),
    /** Names of the keys of batches that are left. */
    left: () => fleet.client.keys(`${batchBase(prefix)}:*`),
  };
}

describe('a job that can wait', () => {
  it('is answered by a batch, at half the price, and has no slot meanwhile', async () => {
    const { fleet, check, work, batches, api, costs, records, left } = await startFleet();
    const jobs = await Promise.all(['one', 'two', 'three'].map((name) => check(name)));
    const worker = await work();
    await batches.created(1);
    await expect.poll(async () => (await jobs[0]?.view())?.state).toBe('delayed');
    const [first] = jobs;
    expect(await first?.view()).toMatchObject({
      progress: expect.stringContaining('in a batch, at half the price'),
      callsInBatches: [{ step: 'detect', turn: 1, model: 'claude-test' }],
    });
    expect(await costs()).toMatchObject({ calls: 0, callsInBatches: 3, callsUnderWay: 0 });
    expect(await readBatches(fleet.client, fleet.prefix)).toEqual({ queued: 0, sent: 3, batches: 1 });
    expect(await records(first?.id ?? '')).toMatchObject([
      { step: 'detect', state: 'in-batch', batch: true },
    ]);
    batches.endAtOnce();
    const results = await Promise.all(jobs.map((job) => job.result()));
    // 100 tokens in and 20 out, at half of 10 and 50 dollars for a million.
    const usage = { calls: 1, reusedCalls: 0, inputTokens: 100, outputTokens: 20, costUsd: 0.001 };
    for (const result of results) expect(result).toMatchObject({ status: 'clean', usage });
    expect(await first?.view()).toMatchObject({ usage });
    expect(api.requests).toHaveLength(0);
    expect(batches.lines).toHaveLength(3);
    const spent = { calls: 3, spentUsd: 0.003, batchCalls: 3, batchUsd: 0.003 };
    expect(await costs()).toMatchObject({ ...spent, reservedUsd: 0, callsInBatches: 0 });
    await worker.stop(1_000);
    expect(await left()).toEqual([]);
  });

  it('uses an answer that is known instead, and its own answer is known to others', async () => {
    const { fleet, work, batches, api, costs, left } = await startFleet();
    const submit = (deadline?: string) =>
      addSolutionCheck(fleet, script('one'), { reuse: 'fleet', ...(deadline && { deadline }) });
    const first = await submit('+1d');
    const worker = await work();
    await batches.created(1);
    // It waits for the batch of the other job: it has enough time for one of its own.
    const second = await submit('+1d');
    await expect
      .poll(async () => (await second.view()).progress)
      .toContain('another job asks the same in a batch');
    // This one has not.
    const urgent = await submit();
    expect(await urgent.result()).toMatchObject({ usage: { calls: 1, costUsd: 0.002 } });
    expect(await second.result()).toMatchObject({ usage: { calls: 0, reusedCalls: 1 } });
    batches.endAtOnce();
    expect(await first.result()).toMatchObject({ usage: { calls: 1, costUsd: 0.001 } });
    const known = await submit('+1d');
    expect(await known.result()).toMatchObject({ usage: { calls: 0, reusedCalls: 1, costUsd: 0 } });
    expect([batches.lines.length, api.requests.length]).toEqual([1, 1]);
    expect(await costs()).toMatchObject({
      calls: 2,
      batchCalls: 1,
      reusedCalls: 2,
      spentUsd: 0.003,
      reservedUsd: 0,
    });
    await worker.stop(1_000);
    expect(await left()).toEqual([]);
  });

  it('waits for the answer of a batch until its job has used it', async () => {
    const { fleet, work, batches } = await startFleet();
    const submit = () => addSolutionCheck(fleet, script('one'), { reuse: 'fleet', deadline: '+1d' });
    const first = await submit();
    await work();
    await batches.created(1);
    const second = await submit();
    await expect.poll(async () => (await second.view()).state).toBe('delayed');
    batches.endAtOnce();
    await first.result();
    // 100 tokens in and 20 out cost 0.002 dollars, half of that in the batch.
    expect(await second.result()).toMatchObject({ usage: { calls: 0, reusedCalls: 1 } });
    expect(batches.lines).toHaveLength(1);
    expect(await costsOfDay(fleet.client, fleet.prefix, Date.now())).toMatchObject({ reusedUsd: 0.001 });
  });

  it('uses the answer of a batch whose job was cancelled meanwhile', async () => {
    const { fleet, check, work, batches, api, costs } = await startFleet();
    const submit = () => addSolutionCheck(fleet, script('one'), { reuse: 'fleet', deadline: '+1d' });
    const [first] = await Promise.all([submit(), check('two')]);
    await work();
    await batches.created(1);
    const second = await submit();
    await expect
      .poll(async () => (await second.view()).progress)
      .toContain('another job asks the same in a batch');
    await cancelJob(fleet, first.id);
    await expect.poll(async () => (await first.view()).state).toBe('cancelled');
    batches.endAtOnce();
    expect(await second.result()).toMatchObject({ usage: { calls: 0, reusedCalls: 1 } });
    expect([batches.lines.length, api.requests.length]).toEqual([2, 0]);
    expect(await costs()).toMatchObject({ calls: 2, reusedCalls: 1, reusedUsd: 0.001 });
  });

  it('asks again where another job could not use the answer of its batch', async () => {
    const { fleet, work, batches } = await startFleet((_request, index) =>
      index === 0 ? leaks('a = fit(all)') : correction('a = = 1'),
    );
    const submit = () => addSolutionCheck(fleet, script('one'), { reuse: 'fleet', deadline: '+1d' });
    batches.endAtOnce();
    await work();
    const job = await submit();
    expect(await job.result()).toMatchObject({ status: 'uncorrected' });
    expect(await job.view()).toMatchObject({ usage: { calls: 3 } });
    // Its detection was usable, and its corrections were not.
    const next = await submit();
    await next.result();
    expect(await next.view()).toMatchObject({ usage: { calls: 2 } });
    expect(batches.lines).toHaveLength(5);
  });

  it('continues by itself where the conversation goes on, and begins the next one in a batch', async () => {
    const { check, work, batches, api } = await startFleet((request, index) => {
      if (request.text.includes('cannot be used')) return leaks('a = fit(all)');
      return index === 0 ? jsonReply({ answers: 'none' }) : correction('a = fit(train)');
    });
    batches.endAtOnce();
    const job = await check('one');
    await work();
    // A result counts the calls of the last attempt, and the view those of all.
    expect(await job.result()).toMatchObject({ status: 'corrected', usage: { calls: 1, reusedCalls: 2 } });
    expect(await job.view()).toMatchObject({ usage: { calls: 3, costUsd: 0.004 } });
    expect(api.requests).toHaveLength(1);
    expect(batches.lines).toHaveLength(2);
  });

  it('does not wait without a deadline, nor for one that is too near', async () => {
    const { fleet, check, work, batches, api } = await startFleet();
    await work({ minMs: 3_600_000 });
    const near = await check('near', '+62m');
    const none = await addSolutionCheck(fleet, script('none'));
    await Promise.all([near.result(), none.result()]);
    expect(api.requests).toHaveLength(2);
    expect(batches.lines).toHaveLength(0);
  });

  it('has the deadline of the worker if it names none', async () => {
    const { fleet, check, work, batches, api } = await startFleet();
    batches.endAtOnce();
    await work({ afterMs: 86_400_000 });
    const [none, now] = await Promise.all([addSolutionCheck(fleet, script('none')), check('now', '+0m')]);
    expect(await none.result()).toMatchObject({ usage: { costUsd: 0.001 } });
    expect(await now.result()).toMatchObject({ usage: { costUsd: 0.002 } });
    expect([batches.lines.length, api.requests.length]).toEqual([1, 1]);
  });

  it.each([
    ['expired', 'expired'],
    ['was cancelled by somebody else', 'canceled'],
    ['ended with an error', errorReply(500, 'internal')],
  ] as const)('is answered by itself once its call %s in the batch', async (_, fate) => {
    const { test, api } = await fleetOfTest(redis, 'batches');
    const { batches } = api;
    batches.endAtOnce();
    batches.fate = () => fate;
    await test.worker(batchRunner(api), { calls: { batches: BATCH_TIMING } });
    const job = await addSolutionCheck(test.fleet, script('one'), { deadline: '+1d' });
    expect(await job.result()).toMatchObject({ status: 'clean', usage: { calls: 1, costUsd: 0.002 } });
    expect(api.requests).toHaveLength(1);
    expect(batches.lines).toHaveLength(1);
  });

  it('is answered by itself when its deadline nears, and both answers are paid for', async () => {
    const { check, work, batches, api, costs, records } = await startFleet();
    const worker = await work({ marginMs: 500 });
    const job = await check('one', new Date(Date.now() + 6_000).toISOString());
    expect(await job.result()).toMatchObject({ status: 'clean', usage: { calls: 1, costUsd: 0.002 } });
    expect(api.requests).toHaveLength(1);
    await expect.poll(() => batches.batches.map(({ status }) => status)).toEqual(['canceling']);
    await batches.end();
    await expect.poll(async () => (await costs()).reservedUsd).toBe(0);
    expect(await records(job.id)).toMatchObject([
      { state: 'failed', batch: true, end: { outcome: 'cancelled' } },
      { state: 'answered' },
    ]);
    await worker.stop(1_000);
  });
});

/** A process with workers that are stopped in the life of a batch; it is gone after the test. */
function startStopping(crashes: readonly BatchCrash[]): ChildProcess {
  const child = fork(PROGRAM, [redis.url, JSON.stringify(crashes)], { stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

it('a crash of every worker at any point loses nothing and sends nothing twice', async () => {
  const points = [
    'before its creation',
    'before its id is recorded',
    'while it runs',
    'while its results are read',
    KILLS_ITSELF,
  ];
  // One process has the workers of all points, since it is most of the work.
  const crashes = await Promise.all(
    points.map(async (point) => {
      const started = await startFleet();
      const jobs = await Promise.all(['one', 'two'].map((name) => started.check(name)));
      return { ...started, point, jobs, prefix: started.fleet.prefix, url: started.api.url };
    }),
  );
  const endAt = (end: string) => crashes.find(({ point }) => point === end)?.batches.endAtOnce();
  endAt('while its results are read');
  const dying = startStopping(crashes.map(({ prefix, url, point }) => ({ prefix, url, point })));
  const reached = new Set<unknown>();
  while (reached.size < points.length - 1) reached.add((await once(dying, 'message'))[0]);
  endAt(KILLS_ITSELF);
  const [, signal] = await once(dying, 'exit');
  expect(signal).toBe('SIGKILL');
  expect([...reached, KILLS_ITSELF].sort()).toEqual(points.toSorted());
  await Promise.all(
    crashes.map(async ({ point, jobs, work, batches, api, costs, left }) => {
      batches.endAtOnce();
      const worker = await work();
      for (const job of jobs) {
        expect(await job.result(), point).toMatchObject({ status: 'clean' });
        // Of all attempts: on a busy machine the lock may run out once more.
        expect(await job.view(), point).toMatchObject({ usage: { calls: 1, costUsd: 0.001 } });
      }
      const ids = batches.lines.map(({ custom_id }) => custom_id);
      expect([ids.length, new Set(ids).size, api.requests.length], point).toEqual([2, 2, 0]);
      expect(await costs(), point).toMatchObject({ calls: 2, spentUsd: 0.002, reservedUsd: 0 });
      await worker.stop(1_000);
      expect(await left(), point).toEqual([]);
    }),
  );
});

it('a worker that is paused before it sends a batch cancels it if another worker has sent the calls meanwhile', async () => {
  const { fleet, check, work, batches, api, costs } = await startFleet();
  const job = await check('one');
  const paused = startStopping([{ prefix: fleet.prefix, url: api.url, point: 'paused before its creation' }]);
  await once(paused, 'message');
  const worker = await work({ requestMs: 100 });
  await batches.created(1);
  paused.kill('SIGCONT');
  await batches.created(2);
  await expect.poll(() => batches.batches[1]?.status).toBe('canceling');
  paused.kill('SIGKILL');
  batches.endAtOnce();
  await job.result();
  expect(await job.view()).toMatchObject({ usage: { calls: 1, costUsd: 0.001 } });
  expect(await costs()).toMatchObject({ calls: 1, spentUsd: 0.001, reservedUsd: 0 });
  expect(api.requests).toHaveLength(0);
  await worker.stop(1_000);
});

it('a deadline and known answers are named by every way to submit', async () => {
  const { fleet, work, batches, api, costs } = await startFleet();
  batches.endAtOnce();
  await work();
  const gateway = await startTestGateway(redis, fleet.prefix);
  onTestFinished(() => gateway.close());
  const env = { FLEET_REDIS_URL: redis.url, FLEET_PREFIX: fleet.prefix };
  const ways: Record<string, (payload: unknown, reuse: 'none' | 'fleet') => Promise<unknown>> = {
    http: (payload, reuse) =>
      gateway.send('POST', '/v1/jobs/solution-check?wait=60s', { payload, deadline: '+1d', reuse }),
    python: async (payload, reuse) => {
      const submitted = `FleetClient("${gateway.url}").submit("solution-check", json.loads(sys.argv[1]), deadline="+1d", reuse="${reuse}")`;
      const program = `import json, sys\nfrom solution_fleet import FleetClient\n${submitted}.result()`;
      await execa('python3', ['-c', program, JSON.stringify(payload)], { env: withPythonClient() });
    },
    command: (payload, reuse) =>
      fleetCommand(
        ['submit', 'solution-check', '--data', '-', '--deadline', '+1d', '--reuse', reuse, '--wait'],
        {
          env,
          input: JSON.stringify(payload),
        },
      ),
  };
  for (const [name, submit] of Object.entries(ways)) {
    for (const reuse of ['none', 'fleet'] as const) await submit(script(name), reuse);
  }
  const each = Object.keys(ways).length;
  expect([batches.lines.length, api.requests.length]).toEqual([each, 0]);
  expect(await costs()).toMatchObject({ calls: each, batchCalls: each, reusedCalls: each });
});

describe('a batch', () => {
  it.each([
    ['that is lost before it is created is sent again', 'lost-before'],
    ['whose creation is not confirmed is found', 'lost-after'],
  ] as const)('%s', async (_, fault) => {
    const { check, work, batches, api } = await startFleet();
    batches.creations.push(fault);
    batches.endAtOnce();
    const job = await check('one');
    await work({ requestMs: 200 });
    expect(await job.result()).toMatchObject({ usage: { calls: 1, costUsd: 0.001 } });
    expect([batches.lines.length, api.requests.length]).toEqual([1, 0]);
  });

  it('that is not confirmed is not taken for one of the same size that somebody else sent', async () => {
    const { check, work, batches, api } = await startFleet();
    batches.add([{ custom_id: 'other', params: { model: 'm', messages: [] } }]);
    batches.creations.push('lost-before');
    batches.endAtOnce();
    const job = await check('one');
    await work({ requestMs: 200 });
    expect(await job.result()).toMatchObject({ usage: { calls: 1, costUsd: 0.001 } });
    expect([batches.batches.length, api.requests.length]).toEqual([2, 0]);
  });

  it('that the provider refuses leaves its calls to be sent by themselves', async () => {
    const { check, work, batches, api } = await startFleet();
    batches.creations.push('refused');
    const job = await check('one');
    await work();
    expect(await job.result()).toMatchObject({ usage: { calls: 1, costUsd: 0.002 } });
    expect([batches.lines.length, api.requests.length]).toEqual([0, 1]);
  });

  it('whose results break off is read again', async () => {
    const { check, work, batches, costs } = await startFleet();
    batches.breakResultsAfter = 1;
    batches.endAtOnce();
    const jobs = await Promise.all(['one', 'two', 'three'].map((name) => check(name)));
    await work();
    for (const job of jobs) expect(await job.result()).toMatchObject({ usage: { costUsd: 0.001 } });
    expect(await costs()).toMatchObject({ calls: 3, spentUsd: 0.003 });
  });

  it('that is gone leaves its calls in doubt, and they are sent by themselves', async () => {
    const { check, work, batches, api, costs } = await startFleet();
    const job = await check('one');
    await work();
    await batches.created(1);
    batches.isGone = true;
    expect(await job.result()).toMatchObject({ usage: { calls: 1, costUsd: 0.002 } });
    expect(await costs()).toMatchObject({ calls: 1, callsInDoubt: 1, reservedUsd: 0 });
    expect(api.requests).toHaveLength(1);
  });

  it('is as large as the limits say', async () => {
    const { check, work, batches } = await startFleet();
    batches.endAtOnce();
    const jobs = await Promise.all(['one', 'two', 'three'].map((name) => check(name)));
    await work({ maxLines: 2, collectMs: 300 });
    await Promise.all(jobs.map((job) => job.result()));
    expect(batches.batches.map(({ lines }) => lines.length).sort()).toEqual([1, 2]);
  });
});

describe('a cancelled job', () => {
  it('takes its call out of the next batch', async () => {
    const { fleet, check, work, batches, costs, left } = await startFleet();
    const job = await check('one');
    const worker = await work({ collectMs: 60_000 });
    await expect.poll(async () => (await job.view()).state).toBe('delayed');
    await cancelJob(fleet, job.id);
    await expect.poll(async () => (await costs()).reservedUsd).toBe(0);
    await worker.stop(1_000);
    expect(await left()).toEqual([]);
    expect(batches.lines).toHaveLength(0);
  });

  it('keeps its call if it was retried before a worker could take the call out', async () => {
    const { fleet, check, work, batches, records, costs } = await startFleet();
    const job = await check('one');
    await work({ collectMs: 60_000 });
    await expect.poll(async () => (await job.view()).state).toBe('delayed');
    const cancelled = `${batchBase(fleet.prefix)}:cancelled`;
    await fleet.client.sadd(cancelled, fleet.jobKey('solution-check', job.id));
    await expect.poll(() => fleet.client.exists(cancelled)).toBe(0);
    expect(await records(job.id)).toMatchObject([{ state: 'in-batch' }]);
    expect(batches.lines).toHaveLength(0);
    await cancelJob(fleet, job.id);
    await expect.poll(async () => (await costs()).reservedUsd).toBe(0);
  });

  it('cancels no batch that may be that of somebody else', async () => {
    const { fleet, check, work, batches, costs, left } = await startFleet();
    batches.add([{ custom_id: 'other', params: { model: 'm', messages: [] } }]);
    batches.creations.push('lost-before');
    const job = await check('one');
    const worker = await work({ requestMs: 200 });
    const isFound = async () =>
      (
        await Promise.all(
          (
            await left()
          )
            .filter((key) => /:of:[^:]+$/.test(key))
            .map((key) => fleet.client.hget(key, 'isSure')),
        )
      ).includes('');
    await expect.poll(isFound).toBe(true);
    await cancelJob(fleet, job.id);
    const log = async () => (await fleet.queue('solution-check').getJobLogs(job.id)).logs.join('\n');
    await expect.poll(log).toContain('it is not certain which batch has its call, so none is cancelled');
    batches.endAtOnce();
    await batches.end();
    await expect.poll(async () => (await costs()).reservedUsd).toBe(0);
    expect(batches.batches).toMatchObject([{ status: 'ended' }]);
    expect(batches.lines).toHaveLength(1);
    await worker.stop(1_000);
    expect(await left()).toEqual([]);
  });

  it('cancels its batch if no other job waits for it, and otherwise says that it cannot', async () => {
    const { fleet, check, work, batches, costs } = await startFleet();
    const [one, two] = await Promise.all([check('one'), check('two')]);
    await work();
    await batches.created(1);
    await cancelJob(fleet, one.id);
    const logOf = async (id: string) => (await fleet.queue('solution-check').getJobLogs(id)).logs.join('\n');
    await expect
      .poll(() => logOf(one.id))
      .toContain(
        'its batch cannot be cancelled, for 1 other call waits for it; the call of this job may be billed',
      );
    expect(batches.batches).toMatchObject([{ status: 'in_progress' }]);
    await cancelJob(fleet, two.id);
    await expect.poll(() => batches.batches[0]?.status).toBe('canceling');
    expect(await logOf(two.id)).toContain('its batch is cancelled');
    await batches.end();
    await expect.poll(async () => (await costs()).reservedUsd).toBe(0);
    expect(await costs()).toMatchObject({ calls: 0, spentUsd: 0 });
  });
});
