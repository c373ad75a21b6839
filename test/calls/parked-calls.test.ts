import { describe, expect, it, onTestFinished } from 'vitest';
import { retryJob } from '../../src/producers/retry-job.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { startFleetProcesses } from '../field-reports/fleet-processes.js';
import { leaks, runnerFor } from '../support/agent-answers.js';
import { startTestFleet } from '../support/fleet.js';
import { type Script, startMessagesApi, textReply } from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';
import { workerHere } from '../support/worker-here.js';

const redis = redisOfFile();
let fleets = 0;
const PAYLOAD = { solution: { content: 'x = 1\n' } };
const PARK = { callsInDoubt: 'park' } as const;

async function startFleet(reply: Script) {
  fleets += 1;
  const test = await startTestFleet(redis, `parked-${fleets}`);
  const api = await startMessagesApi({ reply });
  onTestFinished(async () => {
    await test.close();
    await api.close();
  });
  return { ...test, api };
}

describe('with FLEET_IN_DOUBT=park', () => {
  it('SIGTERM in the middle of a call: the job waits, the next worker parks it, and only a person sends the call again', async () => {
    fleets += 1;
    const { fleet, api, worker, close } = await startFleetProcesses(
      redis,
      `parked-${fleets}`,
      (_, index) => (index === 0 ? { kind: 'hang' } : leaks()),
      { FLEET_IN_DOUBT: 'park', FLEET_DRAIN_SECONDS: '0' },
    );
    onTestFinished(() => close());
    const stopped = await worker();
    const handle = await addSolutionCheck(fleet, PAYLOAD);
    await api.arrived(1);
    expect(await stopped.end('SIGTERM')).toBe(0);
    expect(await handle.view()).toMatchObject({ state: 'waiting', attempts: 0, callsInDoubt: [{ turn: 1 }] });
    const next = await worker();
    expect(await handle.wait()).toMatchObject({
      state: 'failed',
      error: { code: 'call-in-doubt', retryable: false },
    });
    expect(await next.end('SIGTERM')).toBe(0);
    expect(api.requests).toHaveLength(1);
    await workerHere(redis, fleet.prefix, api, { calls: PARK });
    await retryJob(fleet, handle.id);
    expect((await handle.result()).status).toBe('clean');
    expect(api.requests).toHaveLength(2);
  });

  it('a worker that must stop while it parks a job still parks it: the next one does not send the call', async () => {
    const { fleet, worker, api } = await startFleet((_, index) => (index === 0 ? { kind: 'hang' } : leaks()));
    const first = await worker(runnerFor(api), { calls: PARK });
    const handle = await addSolutionCheck(fleet, PAYLOAD);
    await api.arrived(1);
    await first.stop(0);
    // Its runner continues only once the worker is stopping, as if both happened at the same moment.
    const real = runnerFor(api);
    let parked: () => void = () => undefined;
    const parking = new Promise<void>((resolve) => {
      parked = resolve;
    });
    let stop: () => void = () => undefined;
    const stopping = new Promise<void>((resolve) => {
      stop = resolve;
    });
    const ask = async (...args: Parameters<typeof real.ask>) => {
      try {
        return await real.ask(...args);
      } catch (thrown) {
        parked();
        await stopping;
        throw thrown;
      }
    };
    const second = await worker({ name: real.name, ask: ask as typeof real.ask }, { calls: PARK });
    await parking;
    const ended = second.stop(60_000);
    second.abortRunning();
    stop();
    await ended;
    expect(await handle.view()).toMatchObject({ state: 'failed', error: { code: 'call-in-doubt' } });
    await worker(runnerFor(api), { calls: PARK });
    const other = await addSolutionCheck(fleet, { solution: { content: 'y = 1\n' } });
    await other.result();
    expect(api.requests).toHaveLength(2);
    expect((await handle.view()).state).toBe('failed');
  });

  it('a job whose worker crashes between parking the call and failing the job is parked again', async () => {
    const { fleet, worker, api } = await startFleet((_, index) => (index === 0 ? { kind: 'hang' } : leaks()));
    const first = await worker(runnerFor(api), { calls: PARK });
    const handle = await addSolutionCheck(fleet, PAYLOAD);
    await api.arrived(1);
    await first.stop(0);
    // The state after such a crash: the field of the parked call, and a stalled job.
    const key = fleet.queue('solution-check').toKey(handle.id);
    await fleet.client.hset(key, { 'fleet:ledger:1:asked': 0, stc: 1 });
    await worker(runnerFor(api), { calls: PARK });
    expect(await handle.wait()).toMatchObject({ error: { code: 'call-in-doubt' } });
    expect(api.requests).toHaveLength(1);
    await retryJob(fleet, handle.id);
    expect((await handle.result()).status).toBe('clean');
    expect(api.requests).toHaveLength(2);
  });
});

it('a job whose last answer is found unusable while its worker stops has failed, and is not asked again', async () => {
  let second: { abortRunning(): void } | undefined;
  const { fleet, worker, api } = await startFleet(() => textReply('no JSON'));
  const real = runnerFor(api);
  const ask = async (...args: Parameters<typeof real.ask>) => {
    try {
      return await real.ask(...args);
    } finally {
      second?.abortRunning();
    }
  };
  second = await worker({ name: real.name, ask: ask as typeof real.ask });
  const handle = await addSolutionCheck(fleet, PAYLOAD);
  expect(await handle.wait()).toMatchObject({
    state: 'failed',
    error: { code: 'answer-invalid' },
  });
  expect(api.requests).toHaveLength(3);
});
