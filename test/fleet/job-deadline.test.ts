import { describe, expect, it } from 'vitest';
import type { AgentRunner } from '../../src/agents/agent-runner.js';
import { cancelJob } from '../../src/producers/cancel-job.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { runnerFor } from '../support/agent-answers.js';
import { fleetOfTest, type TestFleet } from '../support/fleet.js';
import type { MessagesApi, Script } from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';

const redis = redisOfFile();
let test: TestFleet;
let api: MessagesApi;

async function startFleet(reply?: Script) {
  ({ test, api } = await fleetOfTest(redis, 'deadline', reply));
  return test;
}

const script = (name: string) => ({ solution: { content: `name = '${name}'\n` } });

/** Ignores aborts: a request about \`deaf\` is never answered. */
function deafRunner(): { runner: AgentRunner; called: Promise<void> } {
  const real = runnerFor(api);
  let onCall: () => void = () => undefined;
  const called = new Promise<void>((resolve) => {
    onCall = resolve;
  });
  const ask = (request: Parameters<AgentRunner['ask']>[0], context?: Parameters<AgentRunner['ask']>[1]) => {
    if (!JSON.stringify(request).includes('deaf')) return real.ask(request, context);
    onCall();
    return new Promise(() => undefined);
  };
  return { runner: { name: real.name, ask: ask as AgentRunner['ask'] }, called };
}

describe('a handler that ignores its abort', () => {
  it('is let go of at the end of its time and named, and its slot is free', async () => {
    const { fleet, worker, logged } = await startFleet();
    const { runner } = deafRunner();
    await worker(runner, { concurrency: 1, jobTimeoutMs: 8_000, abortGraceMs: 100 });
    const deaf = await addSolutionCheck(fleet, script('deaf'));
    const next = await addSolutionCheck(fleet, script('next'));
    expect(await deaf.wait()).toMatchObject({ state: 'failed', error: { code: 'handler-ignored-abort' } });
    expect((await next.result()).status).toBe('clean');
    await logged('ignored its abort');
  });

  it('a cancelled one is cancelled all the same', async () => {
    const { fleet, worker } = await startFleet();
    const { runner, called } = deafRunner();
    await worker(runner, { concurrency: 1, abortGraceMs: 100 });
    const deaf = await addSolutionCheck(fleet, script('deaf'));
    const next = await addSolutionCheck(fleet, script('next'));
    await called;
    await cancelJob(fleet, deaf.id);
    expect((await deaf.wait()).state).toBe('cancelled');
    expect((await next.result()).status).toBe('clean');
  });

  it('does not prevent a worker from stopping; its job returns to the queue', async () => {
    const { fleet, worker } = await startFleet();
    const { runner, called } = deafRunner();
    const stuck = await worker(runner, { abortGraceMs: 100 });
    const deaf = await addSolutionCheck(fleet, script('deaf'));
    await called;
    await stuck.stop(0);
    expect(await deaf.view()).toMatchObject({ state: 'waiting', attempts: 0 });
  });
});

describe('a job that runs too long', () => {
  it('is aborted, and fails with a specific code', async () => {
    const { fleet, worker } = await startFleet(() => ({ kind: 'hang' }));
    await worker(runnerFor(api), { jobTimeoutMs: 300 });
    const job = await addSolutionCheck(fleet, script('long'));
    await api.arrived(1);
    expect(await job.wait()).toMatchObject({ state: 'failed', attempts: 1, error: { code: 'job-timeout' } });
    await api.requests[0]?.aborted;
  });
});
