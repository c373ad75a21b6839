import { describe, expect, it } from 'vitest';
import { costsOfDay } from '../../src/calls/budget/read-costs.js';
import type { WorkerOptions } from '../../src/fleet/worker.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { readCallRecords } from '../../src/queues/call-record.js';
import { correction, leaks } from '../support/agent-answers.js';
import { fleetCommand } from '../support/fleet-command.js';
import { lapseLocks } from '../support/lapse-locks.js';
import type { MessagesApi } from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';
import { workerHere } from '../support/worker-here.js';
import { workerProcesses } from '../support/worker-processes.js';

const PAYLOAD = {
  solution: { content: 'a = fit(all)\nprint(a)\n' },
  model: 'claude-sonnet-5-5',
  tags: { run: 'faults' },
};

const redis = redisOfFile();
const processes = workerProcesses(redis, 'faults', {
  FLEET_LOCK_MS: '2000',
  FLEET_CALL_RETRIES: '0',
  FLEET_DRAIN_SECONDS: '0',
});
const { answering, environment } = processes;
const startProcess = (env: Record<string, string> = {}) =>
  processes.start(['--kinds', 'solution-check'], env);

/** A worker in this process, for the tests in which it is not killed. */
const startWorker = (server: MessagesApi, options: Partial<WorkerOptions> = {}) =>
  workerHere(redis, processes.prefix, server, { concurrency: 1, ...options });

/** The next worker takes the jobs of a killed one at once. */
const lapse = () => lapseLocks(processes.fleet.client, processes.prefix);

const costs = () => costsOfDay(processes.fleet.client, processes.fleet.prefix, Date.now());
const jobKey = (id: string) => processes.fleet.queue('solution-check').toKey(id);
/** A worker that wakes may report that it did not crash; nothing else. */
const jobFields = async (id: string) => {
  const { 'fleet:crashes': _deaths, ...fields } = await processes.fleet.client.hgetall(jobKey(id));
  return fields;
};
const statesOf = async (id: string) =>
  (await readCallRecords(processes.fleet.client, jobKey(id))).map(({ step, state }) => `${step} ${state}`);

describe('a worker that is killed', () => {
  it('between sent and answered leaves one unknown call; its successor sends that one again and no other', async () => {
    const server = await answering((_, index) => {
      if (index === 0) return leaks('a = fit(all)');
      return index === 1 ? { kind: 'hang' } : correction('a = fit(train)');
    });
    const doomed = await startProcess();
    const handle = await addSolutionCheck(processes.fleet, PAYLOAD);
    await server.arrived(2);
    await doomed.end('SIGKILL');
    await lapse();
    await startWorker(server);
    const result = await handle.result();
    expect(result).toMatchObject({ status: 'corrected', usage: { calls: 1, reusedCalls: 1 } });
    expect(server.requests).toHaveLength(3);
    expect(await statesOf(handle.id)).toEqual([
      'detect answered',
      'correct-1-1 in-doubt',
      'correct-1-1 answered',
    ]);
    const view = await handle.view();
    expect(view.usage).toMatchObject({ calls: 2, reusedCalls: 1 });
    expect(view.callsInDoubt).toMatchObject([{ step: 'correct-1-1', likelyUsd: expect.any(Number) }]);
    expect(await costs()).toMatchObject({ calls: 2, callsInDoubt: 1, reservedUsd: 0, callsUnderWay: 0 });
  });

  it('shows in fleet costs, of the day and of the run; calls that waited for its prompt cache go on', async () => {
    const server = await answering((_, index) => (index === 0 ? { kind: 'hang' } : leaks()));
    // The lock is removed below; until then it must not run out.
    const doomed = await startProcess({ FLEET_LOCK_MS: '60000', FLEET_CONCURRENCY: '1' });
    await addSolutionCheck(processes.fleet, PAYLOAD);
    await server.arrived(1);
    const other = await startWorker(server, { calls: { cacheWaitMs: 600_000, shortWaitMs: 600_000 } });
    const waiting = await addSolutionCheck(processes.fleet, { ...PAYLOAD, tags: { run: 'waiting' } });
    await expect.poll(() => jobFields(waiting.id)).toHaveProperty('fleet:ledger:1:cacheSince');
    await doomed.end('SIGKILL');
    expect((await waiting.result()).usage.calls).toBe(1);
    await other.stop(0);
    await lapse();
    const json = await fleetCommand(['costs', '--run', 'faults', '--json'], { env: environment() });
    expect(JSON.parse(json.stdout)).toMatchObject({
      name: 'faults',
      calls: 0,
      callsInDoubt: 1,
      cacheReadFraction: null,
    });
    const text = await fleetCommand(['costs'], { env: environment() });
    expect(text.stdout).toContain('in doubt: 1 call');
    expect(text.stdout).toContain('prompt cache: 0 % of the input was read from it');
    expect(text.exitCode).toBe(0);
    // No worker takes the job here: the doctor releases its reservation.
    expect((await fleetCommand(['doctor', '--repair'], { env: environment() })).exitCode).toBe(0);
    expect(await costs()).toMatchObject({ callsInDoubt: 1, reservedUsd: 0, callsUnderWay: 0 });
  });

  it('or stopped after its answers were written: each is paid once, however often the job is handed on', async () => {
    const blocks = ['a = fit(all)', 'print(a)'];
    const server = await answering((request, index) => {
      // These calls hang, so that their workers end with all earlier answers in the ledger.
      if (index === 1 || index === 3) return { kind: 'hang' };
      return request.body.output_config ? leaks(...blocks) : correction('a = fit(train)');
    });
    const handle = await addSolutionCheck(processes.fleet, PAYLOAD);
    for (const arrived of [2, 4]) {
      const stopping = await startWorker(server);
      await server.arrived(arrived);
      await stopping.stop(0);
    }
    await startWorker(server);
    await handle.wait();
    const records = await readCallRecords(processes.fleet.client, jobKey(handle.id));
    const paid = records.filter(({ state }) => state === 'answered').map(({ digest }) => digest);
    expect(new Set(paid).size).toBe(paid.length);
    // A call that was aborted before it arrived is in doubt too.
    expect(records.filter(({ state }) => state === 'in-doubt').length).toBeGreaterThanOrEqual(
      server.requests.length - paid.length,
    );
  });
});

describe('a worker that must stop', () => {
  it('keeps the lock of a call that takes longer than the lock: it is made once, with another worker waiting', async () => {
    // A worker on a busy machine may get no processor time for a while: it must not lose its lock because of that.
    const lockMs = 5_000;
    const server = await answering(() => ({ ...leaks(), delayMs: 2.5 * lockMs }));
    const draining = await startWorker(server, { lockMs });
    const handle = await addSolutionCheck(processes.fleet, PAYLOAD);
    await server.arrived(1);
    await startWorker(server, { lockMs });
    await draining.stop(300_000);
    expect((await handle.result()).usage.calls).toBe(1);
    expect(server.requests).toHaveLength(1);
    expect((await handle.view()).callsInDoubt).toBeUndefined();
  });
});

describe('a worker that is stopped and wakes after its job was taken over', () => {
  it('aborts its call, and writes neither result, ledger nor cost', async () => {
    const server = await answering((_, index) => (index === 0 ? { kind: 'hang' } : leaks()));
    const sleeper = await startProcess();
    const handle = await addSolutionCheck(processes.fleet, PAYLOAD);
    await server.arrived(1);
    sleeper.child.kill('SIGSTOP');
    const successor = await startWorker(server);
    await handle.result();
    const before = await jobFields(handle.id);
    const costsBefore = await costs();
    sleeper.child.kill('SIGCONT');
    await server.requests[0]?.aborted;
    await sleeper.printed('this worker writes nothing more');
    expect(await jobFields(handle.id)).toEqual(before);
    expect(await costs()).toEqual(costsBefore);
    expect(await statesOf(handle.id)).toEqual(['detect in-doubt', 'detect answered']);
    expect(server.requests).toHaveLength(2);
    // The lock was lost because the process was paused, and the log says how that looks from inside.
    expect(sleeper.lines.join('\n')).toContain('event loop lag');
    // It continues with other work.
    await successor.stop(0);
    const next = await addSolutionCheck(processes.fleet, PAYLOAD);
    expect((await next.result()).status).toBe('clean');
  });
});
