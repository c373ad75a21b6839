import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { retryJob } from '../../src/producers/retry-job.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { leaks, runnerFor } from '../support/agent-answers.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { lapseLocks } from '../support/lapse-locks.js';
import { type MessagesApi, startMessagesApi } from '../support/messages-api.js';
import { PROGRAM_FLAGS, testProgram } from '../support/programs.js';
import { redisOfFile } from '../support/redis.js';

const PROGRAM = testProgram('test/calls/crashing-worker');
/** No worker that lives loses its lock on a busy machine. */
const LOCK_MS = 8_000;

const redis = redisOfFile();
let test: TestFleet;
let api: MessagesApi | undefined;
let fleets = 0;
let supervised = false;
let worker: ChildProcess | undefined;
let crashes = 0;

afterEach(async () => {
  supervised = false;
  if (worker !== undefined && worker.exitCode === null && worker.signalCode === null) {
    worker.kill('SIGKILL');
    await once(worker, 'exit');
  }
  await test.close();
  await api?.close();
  api = undefined;
});

async function startFleet(): Promise<TestFleet> {
  fleets += 1;
  test = await startTestFleet(redis, `crashes-${fleets}`);
  return test;
}

function startProgram(args: readonly string[], stdout: 'ignore' | 'pipe'): ChildProcess {
  return spawn(process.execPath, [...PROGRAM_FLAGS, PROGRAM, redis.url, test.fleet.prefix, ...args], {
    stdio: ['ignore', stdout, 'inherit'],
  });
}

/** A worker that is restarted whenever it crashes, like a container. */
function superviseWorker(): void {
  supervised = true;
  crashes = 0;
  const start = () => {
    worker = startProgram([String(LOCK_MS)], 'ignore');
    worker.once('exit', async () => {
      if (!supervised) return;
      crashes += 1;
      await lapseLocks(test.fleet.client, test.fleet.prefix);
      start();
    });
  };
  start();
}

/** One worker process whose output is read. */
function talkingWorker(...args: string[]): { printed(text: string): Promise<void>; end(): Promise<void> } {
  const child = startProgram(args, 'pipe');
  const { stdout } = child;
  if (stdout === null) throw new TypeError('its output is not piped');
  const exited = once(child, 'exit');
  let output = '';
  stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  return {
    printed: async (text) => {
      while (!output.includes(text)) await once(stdout, 'data');
    },
    end: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

const script = (content: string) => ({ solution: { content } });

describe('a job that kills its worker', () => {
  it('is ended after two crashes, the jobs beside it go on, and a person may try it again', async () => {
    const { fleet } = await startFleet();
    const killer = await addSolutionCheck(fleet, script('x = "KILL"\n'));
    const others = await Promise.all(
      Array.from({ length: 6 }, (_, index) => addSolutionCheck(fleet, script(`x = "SLOW ${index}"\n`))),
    );
    superviseWorker();
    expect(await killer.wait()).toMatchObject({
      state: 'failed',
      error: {
        code: 'killed-its-worker',
        retryable: false,
        message: expect.stringContaining('killed its worker'),
      },
    });
    const views = await Promise.all(others.map((other) => other.wait()));
    expect(views.map(({ state }) => state)).toEqual(others.map(() => 'completed'));
    expect(crashes).toBe(2);
    // By a person it may be tried again, with reset counters.
    supervised = false;
    worker?.kill('SIGKILL');
    const server = await startMessagesApi({ reply: [leaks()] });
    api = server;
    await test.worker(runnerFor(server), { lockMs: 20_000 });
    await retryJob(fleet, killer.id);
    expect((await killer.result()).status).toBe('clean');
  });
});

describe('what is no crash of a worker', () => {
  it('a lock that runs out while Redis is away, however often', async () => {
    const { fleet, logged } = await startFleet();
    let release: (() => void) | undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const server = await startMessagesApi({
      reply: async () => {
        await released;
        return leaks();
      },
    });
    api = server;
    // A busy worker renews this one in time.
    const lockMs = 3_000;
    await test.worker(runnerFor(server), { lockMs, concurrency: 1 });
    const handle = await addSolutionCheck(fleet, script('x = 1\n'));
    await server.arrived(1);
    for (let outage = 0; outage < 3; outage += 1) {
      redis.pause();
      // Longer than the lock, which expires because nothing can renew it.
      await new Promise((resolve) => setTimeout(resolve, lockMs + 500));
      redis.resume();
      await logged('the lock of a job');
      (test.logLines as unknown[]).length = 0;
    }
    release?.();
    const view = await handle.wait();
    expect(view.state).toBe('completed');
    // There was no other worker, so the job continued there and was paid once.
    expect(server.requests).toHaveLength(1);
    expect(view.callsInDoubt).toBeUndefined();
  });

  it('an event loop that is blocked for longer than the lock: the job is done by the other worker, and the log says why', async () => {
    const { fleet } = await startFleet();
    const handle = await addSolutionCheck(fleet, script('x = "BLOCK"\n'));
    const over = join(redis.folder, 'over');
    const blocked = talkingWorker('2000', over);
    try {
      await blocked.printed('asked');
      await test.worker(createOfflineRunner(), { lockMs: LOCK_MS });
      expect((await handle.wait()).state).toBe('completed');
      writeFileSync(over, '');
      await blocked.printed('event loop lag: up to');
      const key = fleet.queue('solution-check').toKey(handle.id);
      await expect.poll(() => fleet.client.hexists(key, 'fleet:crashes')).toBe(0);
    } finally {
      await blocked.end();
    }
  });

  it('a drain that is cut short by SIGKILL', async () => {
    const { fleet } = await startFleet();
    const handle = await addSolutionCheck(fleet, script('x = 1\n'));
    const key = fleet.queue('solution-check').toKey(handle.id);
    const server = await startMessagesApi({ reply: () => ({ kind: 'hang' }) });
    api = server;
    const running = await test.worker(runnerFor(server), { lockMs: 2_000 });
    await server.arrived(1);
    expect(await fleet.client.hexists(key, 'fleet:attempt')).toBe(1);
    const stopped = running.stop(600_000);
    // Removed although the job still runs: a later SIGKILL does not count.
    await expect.poll(() => fleet.client.hexists(key, 'fleet:attempt')).toBe(0);
    expect((await handle.view()).state).toBe('active');
    running.abortRunning();
    await stopped;
    expect(await fleet.client.hmget(key, 'fleet:attempt', 'fleet:crashes')).toEqual([null, null]);
  });
});
