import { setTimeout as passes } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { addJobs } from '../../src/producers/add-jobs.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { readCallRecords } from '../../src/queues/call-record.js';
import { leaks } from '../support/agent-answers.js';
import { errorReply, type Script } from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';
import { workerHere } from '../support/worker-here.js';
import { type FleetProcesses, startFleetProcesses } from './fleet-processes.js';

/** A busy worker keeps its jobs. */
const LONG_LOCK = { FLEET_LOCK_MS: '30000' };
const script = (name: string) => ({ solution: { content: `name = '${name}'\n` } });

const redis = redisOfFile();
let processes: FleetProcesses;
let count = 0;
afterEach(() => processes.close());

async function start(reply: Script, env: Readonly<Record<string, string>> = {}) {
  count += 1;
  const prefix = `stopping-${count}`;
  processes = await startFleetProcesses(redis, prefix, reply, env);
  const { api } = processes;
  /** The worker after those that were stopped. */
  const next = () => workerHere(redis, prefix, api);
  return { ...processes, next };
}

describe('a worker that is stopped at any moment', () => {
  it('leaves no active job without a worker, and makes each call once', async () => {
    const JOBS = 30;
    const { fleet, api, worker, next } = await start(() => ({ ...leaks(), delayMs: 20 }), {
      FLEET_CONCURRENCY: '3',
      ...LONG_LOCK,
    });
    const queue = fleet.queue('solution-check');
    const outcomes = await addJobs(
      fleet,
      Array.from({ length: JOBS }, (_, index) => ({
        kind: 'solution-check' as const,
        payload: script(`job ${index}`),
      })),
    );
    expect(outcomes).toHaveLength(JOBS);
    for (const moment of [17, 0]) {
      const stopped = await worker();
      await api.arrived(api.requests.length + 1);
      await passes(moment);
      expect(await stopped.end('SIGTERM')).toBe(0);
      expect(await queue.getJobCountByTypes('active')).toBe(0);
    }
    expect(await queue.getJobCountByTypes('completed')).toBeGreaterThan(0);
    await next();
    await expect.poll(() => queue.getJobCountByTypes('completed')).toBe(JOBS);
    expect(new Set(api.requests.map(({ text }) => text)).size).toBe(JOBS);
    expect(api.requests).toHaveLength(JOBS);
  });
});

describe('a call that fails while its worker stops', () => {
  it('leaves its job delayed or failed, as at any other time, and not active', async () => {
    let answer: () => void = () => undefined;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const { fleet, api, worker } = await start(
      async (request) => {
        await answered;
        return errorReply(request.text.includes('passing') ? 500 : 401);
      },
      // Both calls are sent at once, as if their instructions were too short for the prompt cache.
      { FLEET_DRAIN_SECONDS: '60', FLEET_CACHE_WAIT_MS: '0', ...LONG_LOCK },
    );
    const stopping = await worker();
    const passing = await addSolutionCheck(fleet, script('passing'));
    const final = await addSolutionCheck(fleet, script('final'));
    await api.arrived(2);
    stopping.child.kill('SIGTERM');
    await stopping.printed('"stopping"');
    const ended = new Promise((resolve) => stopping.child.once('exit', resolve));
    answer();
    expect(await ended).toBe(0);
    const view = await passing.view();
    expect(view).toMatchObject({ state: 'delayed', attempts: 1 });
    expect(view.error?.code).toBeUndefined();
    expect(await final.view()).toMatchObject({
      state: 'failed',
      attempts: 1,
      error: { code: 'unauthorized' },
    });
  });
});

describe('a platform that kills soon after it said stop', () => {
  it('costs the running call and nothing else: the next worker goes on within a lock duration, and no crash is counted', async () => {
    const { fleet, api, worker, next } = await start(
      (_, index) => (index === 0 ? { kind: 'hang' } : leaks()),
      // Longer than the platform is willing to wait.
      { FLEET_DRAIN_SECONDS: '3600', FLEET_JOB_TIMEOUT_MS: '7200000' },
    );
    const doomed = await worker();
    const handle = await addSolutionCheck(fleet, script('held'));
    const key = fleet.queue('solution-check').toKey(handle.id);
    await api.arrived(1);
    doomed.child.kill('SIGTERM');
    // Says "stopping", and clears the crash markers of its jobs: what follows is no crash.
    await doomed.printed('"stopping"');
    await expect.poll(() => fleet.client.hexists(key, 'fleet:attempt')).toBe(0);
    await doomed.end('SIGKILL');
    await next();
    expect((await handle.result()).status).toBe('clean');
    const [running, ...later] = (await readCallRecords(fleet.client, key)).map(({ state }) => state);
    expect(running).toBe('in-doubt');
    // On a busy machine the next worker may lose the lock too, before its call arrives.
    expect(later.filter((state) => state === 'answered')).toHaveLength(1);
    expect(api.requests.length).toBeLessThanOrEqual(1 + later.length);
    expect(await fleet.client.hget(key, 'fleet:crashes')).toBeNull();
  });

  it('is harmless if the time to drain is shorter: the job is waiting again before the kill', async () => {
    const { fleet, api, worker, next } = await start(
      (_, index) => (index === 0 ? { kind: 'hang' } : leaks()),
      {
        FLEET_DRAIN_SECONDS: '1',
        // Taking it over would need to wait for this.
        FLEET_LOCK_MS: '3600000',
      },
    );
    const stopping = await worker();
    const handle = await addSolutionCheck(fleet, script('handed back'));
    await api.arrived(1);
    expect(await stopping.end('SIGTERM')).toBe(0);
    expect(await handle.view()).toMatchObject({ state: 'waiting', attempts: 0 });
    await next();
    expect((await handle.result()).status).toBe('clean');
  });
});
