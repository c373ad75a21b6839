import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { costsOfDay } from '../../src/calls/budget/read-costs.js';
import { IsolatedProcess } from '../../src/fleet/isolation/isolated-process.js';
import { DEFAULT_COMPUTE_LIMITS } from '../../src/fleet/two-lanes.js';
import type { WorkerOptions } from '../../src/fleet/worker.js';
import type { JobHandle } from '../../src/producers/job-handle.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { readCallRecords } from '../../src/queues/call-record.js';
import { correction, leaks, runnerFor } from '../support/agent-answers.js';
import { isRunning } from '../support/embedded-redis-users.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { startFleetCommand } from '../support/fleet-command.js';
import { type MessagesApi, type Script, startMessagesApi, textReply } from '../support/messages-api.js';
import { testProgram } from '../support/programs.js';
import { redisOfFile } from '../support/redis.js';

const redis = redisOfFile();
const PROGRAM = pathToFileURL(testProgram('test/fleet/isolated-program'));

let test: TestFleet;
let api: MessagesApi;
let replies: Script = () => leaks();
let fleets = 0;

/** Answers as the running test says. */
async function startApi(): Promise<MessagesApi> {
  const started = await startMessagesApi({
    reply: (request, index) =>
      typeof replies === 'function' ? replies(request, index) : (replies[index] ?? leaks()),
  });
  process.env.TEST_API_URL = started.url;
  return started;
}

/** Each test of the block has a fleet of its own. */
function fleetOfEachTest(): void {
  beforeEach(async () => {
    fleets += 1;
    replies = () => leaks();
    test = await startTestFleet(redis, `isolated-${fleets}`);
    api = await startApi();
  });
  afterEach(async () => {
    await test.close();
    await api.close();
  });
}
afterEach(() => {
  delete process.env.TEST_NEVER_READY;
});
afterAll(() => {
  delete process.env.TEST_API_URL;
});

const startWorker = (options: Partial<WorkerOptions> = {}) =>
  test.worker(runnerFor(api), { isolatedProcess: PROGRAM, ...options });

const submit = (content: string) => addSolutionCheck(test.fleet, { solution: { content } });
const keyOf = ({ id }: JobHandle<'solution-check'>) => test.fleet.queue('solution-check').toKey(id);

/** A job in whose attempts so many workers have crashed. No worker takes it before it has its crashes. */
async function submitWithCrashes(
  content: string,
  crashes = 1,
  settings: { verify?: 'agent'; trial?: boolean } = {},
): Promise<JobHandle<'solution-check'>> {
  const queue = test.fleet.queue('solution-check');
  await queue.pause();
  const handle = await addSolutionCheck(test.fleet, { solution: { content }, ...settings });
  const runs = Array.from({ length: crashes }, (_, index) => `run-${index}@0`);
  await test.fleet.client.hset(keyOf(handle), 'fleet:crashes', runs.join(' '));
  await queue.resume();
  return handle;
}

/** The process in which the job runs, as the worker's log names it. */
async function isolatedPid(): Promise<number> {
  await test.logged('runs in the isolated process');
  const line = test.logLines.find(({ msg }) => String(msg).includes('runs in the isolated process'));
  return Number(/\((\d+)\)/.exec(String(line?.msg))?.[1]);
}

async function gone(pid: number): Promise<void> {
  await expect.poll(() => isRunning(pid)).toBe(false);
}

describe('jobs in whose attempts a worker crashed, one after another in the same process', () => {
  beforeAll(async () => {
    test = await startTestFleet(redis, 'isolated-shared');
    api = await startApi();
    // A job that waits for its child leaves the only slot.
    await startWorker({ concurrency: 1, trials: { sandbox: 'off' } });
  });
  afterAll(async () => {
    await test.close();
    await api.close();
  });
  beforeEach(() => {
    (test.logLines as unknown[]).length = 0;
    replies = () => leaks();
  });

  it('that is withCrash does its work there, with its ledger, its log and its costs', async () => {
    const withoutCrash = await submit('x = 1\n');
    const withCrash = await submitWithCrashes('x = 1\n');
    const here = await withoutCrash.result();
    const isolated = await withCrash.result();
    expect(isolated).toEqual(here);
    expect(await readCallRecords(test.fleet.client, keyOf(withCrash))).toMatchObject([
      { step: 'detect', state: 'answered' },
    ]);
    const { logs } = await test.fleet.queue('solution-check').getJobLogs(withCrash.id);
    expect(logs.join('\n')).toContain('runs in the isolated process');
  });

  it('starts children there, and waits for them without the process', async () => {
    const earlier = api.requests.length;
    replies = ({ body, text }) => {
      if (!text.includes('fit(all)')) return leaks();
      return body.output_config === undefined ? correction('a = fit(train)') : leaks('a = fit(all)');
    };
    const handle = await submitWithCrashes('a = fit(all)\nprint(a)\n', 1, { verify: 'agent' });
    expect((await handle.result()).notes).toContain(
      'the agent checked the corrected script again and found no leakage',
    );
    expect(api.requests).toHaveLength(earlier + 3);
  });

  it('has the settings for trials of its worker there', async () => {
    const handle = await submitWithCrashes('x = 1\n', 1, { trial: true });
    expect(await handle.wait()).toMatchObject({ state: 'failed', error: { code: 'trial-unavailable' } });
  });

  it('fails there as it would anywhere: with its code, the answer as it came, and what that cost', async () => {
    replies = () => textReply('no JSON');
    const handle = await submitWithCrashes('x = 1\n');
    const view = await handle.wait();
    expect(view).toMatchObject({ state: 'failed', error: { code: 'answer-invalid' }, usage: { calls: 3 } });
    const { logs } = await test.fleet.queue('solution-check').getJobLogs(handle.id);
    expect(logs.join('\n')).toContain('answer that could not be used:\nno JSON');
  });

  it('is not ended without proof, however many workers crashed in its attempts', async () => {
    const handle = await submitWithCrashes('x = 1\n', 15);
    expect((await handle.result()).status).toBe('clean');
  });

  it.runIf(process.platform === 'linux')('is what the system ends first when memory runs out', async () => {
    replies = () => ({ kind: 'hang' });
    const handle = await submitWithCrashes('x = 1\n');
    const pid = await isolatedPid();
    await expect.poll(() => readFile(`/proc/${pid}/oom_score_adj`, 'utf8')).toBe('1000\n');
    await handle.cancel();
    expect((await handle.wait()).state).toBe('cancelled');
  });
});

describe('a job in whose attempt a worker crashed', () => {
  fleetOfEachTest();

  it('that kills its process is proven to be the cause and ends, while its worker and other jobs go on', async () => {
    const killer = await submitWithCrashes('x = "KILL"\n');
    const others = await Promise.all([submit('a = 1\n'), submit('b = 1\n'), submitWithCrashes('c = 1\n')]);
    await startWorker();
    expect(await killer.wait()).toMatchObject({
      state: 'failed',
      error: {
        code: 'killed-its-worker',
        message: expect.stringContaining('isolated process in which it ran, which ended by SIGKILL'),
      },
    });
    for (const other of others) expect((await other.result()).status).toBe('clean');
    // A person who retries it starts with reset counters.
    expect(await test.fleet.client.hexists(keyOf(killer), 'fleet:crashes')).toBe(0);
  });

  it('dies in mid-call: the call is unknown, and nothing stays reserved', async () => {
    replies = () => ({ kind: 'hang' });
    const handle = await submitWithCrashes('x = 1\n');
    await startWorker();
    await api.arrived(1);
    process.kill(await isolatedPid(), 'SIGKILL');
    expect(await handle.wait()).toMatchObject({
      state: 'failed',
      error: { code: 'killed-its-worker' },
      callsInDoubt: [{ step: 'detect' }],
    });
    const costs = await costsOfDay(test.fleet.client, test.fleet.prefix, Date.now());
    expect(costs).toMatchObject({ reservedUsd: 0, callsUnderWay: 0, callsInDoubt: 1 });
  });

  it('is cancelled there, also when it does not listen', async () => {
    await startWorker({ abortGraceMs: 500 });
    for (const content of ['x = 1\n', 'x = "DEAF"\n']) {
      replies = () => ({ kind: 'hang' });
      (test.logLines as unknown[]).length = 0;
      const handle = await submitWithCrashes(content);
      // It is at work there.
      await isolatedPid();
      await test.logged('progress');
      await handle.cancel();
      expect((await handle.wait()).state).toBe('cancelled');
      // The next one finds the process free.
      replies = () => leaks();
      const next = await submitWithCrashes('y = 1\n');
      expect((await next.result()).status).toBe('clean');
    }
  });

  it('returns to the queue when its worker stops, and the process ends with it', async () => {
    replies = () => ({ kind: 'hang' });
    const handle = await submitWithCrashes('x = 1\n');
    const worker = await startWorker();
    await api.arrived(1);
    const pid = await isolatedPid();
    await worker.stop(0);
    expect(await handle.view()).toMatchObject({ state: 'waiting', attempts: 0 });
    await gone(pid);
  });

  it('is not blamed for a crash of its worker before it is at work there', async () => {
    const hasMarker = (handle: JobHandle<'solution-check'>) =>
      test.fleet.client.hexists(keyOf(handle), 'fleet:attempt');
    process.env.TEST_NEVER_READY = '1';
    const waiting = await submitWithCrashes('x = 1\n');
    const stuck = await startWorker({ concurrency: 1 });
    await expect.poll(async () => (await waiting.view()).state).toBe('active');
    await expect.poll(() => hasMarker(waiting)).toBe(0);
    // It can be stopped there, too.
    await stuck.stop(0);
    expect((await waiting.view()).state).toBe('waiting');
    delete process.env.TEST_NEVER_READY;
    await waiting.cancel();
    const working = await submitWithCrashes('x = "DEAF"\n');
    await startWorker({ abortGraceMs: 500 });
    await test.logged('runs in the isolated process');
    expect(await hasMarker(working)).toBe(1);
    await working.cancel();
    expect((await working.wait()).state).toBe('cancelled');
  });

  it('is not blamed for a crash of its worker while another such job runs there', async () => {
    for (const isIsolated of [true, false]) {
      replies = () => ({ kind: 'hang' });
      const arrived = api.requests.length;
      const first = await submitWithCrashes('x = 1\n');
      const worker = isIsolated ? await startWorker() : await test.worker(runnerFor(api));
      await api.arrived(arrived + 1);
      const second = await submitWithCrashes('y = 1\n');
      await expect.poll(async () => (await second.view()).state).toBe('delayed');
      expect(await test.fleet.client.hexists(keyOf(first), 'fleet:attempt')).toBe(1);
      expect(await test.fleet.client.hexists(keyOf(second), 'fleet:attempt')).toBe(0);
      await second.cancel();
      await first.cancel();
      expect((await first.wait()).state).toBe('cancelled');
      await worker.stop(0);
    }
  });

  it('runs in its worker’s process if no other can be started', async () => {
    const handle = await submitWithCrashes('x = 1\n');
    await startWorker({ isolatedProcess: new URL('no-such-program.ts', import.meta.url) });
    expect((await handle.result()).status).toBe('clean');
    await test.logged('the isolated process could not be started');
  });
});

describe('the isolated process', () => {
  fleetOfEachTest();

  it('is started again after it ended without a job, by itself or from outside, and that is no crash of a job', async () => {
    for (const idleMs of [1, 60_000]) {
      const isolatedProcess = new IsolatedProcess({
        ...{ program: PROGRAM, redisUrl: redis.url, prefix: test.fleet.prefix, graceMs: 1_000, idleMs },
        workspaces: { roots: [] },
        computeLimits: DEFAULT_COMPUTE_LIMITS,
        kindsFrom: [],
        trials: {},
        submission: { redisUrl: redis.url, prefix: test.fleet.prefix },
      });
      // No worker owns this job, so its call is rejected; what matters is that it was tried.
      const run = () => {
        const key = `${test.fleet.prefix}:summarize:nobody`;
        const job = {
          ...{ key, token: 'none', id: 'nobody', tenant: '', startedChildren: [] },
          heritage: { parentKey: key },
        };
        const payload = { ablationCode: 'x = 1', rawOutput: 'a: 1' };
        const log = { info: () => undefined, warn: () => undefined, progress: () => undefined };
        return isolatedProcess.run({ kind: 'summarize', payload, job }, new AbortController().signal, log);
      };
      await expect(run()).rejects.toMatchObject({ code: 'lock-lost' });
      if (idleMs > 1) {
        process.kill(await isolatedProcess.open(), 'SIGKILL');
        // Its end is not known here yet.
        await expect(run()).rejects.toMatchObject({ code: 'lock-lost' });
      } else {
        const again = await Promise.allSettled([run(), run(), run()]);
        expect(again).toMatchObject(again.map(() => ({ reason: { code: 'lock-lost' } })));
      }
      await isolatedProcess.close();
    }
  });
});

describe('the built worker', () => {
  fleetOfEachTest();

  it('runs jobs with crashes; when it is killed from outside no job is blamed, and no process remains', async () => {
    replies = () => ({ kind: 'hang' });
    const handle = await submitWithCrashes('x = 1\n');
    const env = {
      FLEET_REDIS_URL: redis.url,
      FLEET_PREFIX: test.fleet.prefix,
      FLEET_LOCK_MS: '2000',
      FLEET_AGENT: 'anthropic',
      ANTHROPIC_API_KEY: 'k',
      ANTHROPIC_BASE_URL: api.url,
    };
    const first = startFleetCommand(['worker', '--kinds', 'solution-check'], { env });
    await api.arrived(1);
    await first.printed('runs in the isolated process');
    const line = first.lines.find((text) => text.includes('runs in the isolated process'));
    const pid = Number(/isolated process \((\d+)\)/.exec(line ?? '')?.[1]);
    expect(isRunning(pid)).toBe(true);
    const ended = once(first.child, 'exit');
    await first.end('SIGKILL');
    await ended;
    await gone(pid);
    replies = () => leaks();
    const second = startFleetCommand(['worker', '--kinds', 'solution-check', '--drain', '5'], { env });
    expect((await handle.result()).status).toBe('clean');
    expect(await second.end('SIGTERM')).toBe(0);
  });
});
