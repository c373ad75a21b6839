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

/** Hears nothing: a question about \`deaf\` is never answered, whatever its signal says. */
function deafRunner(): { runner: AgentRunner; asked: Promise<void> } {
  const real = runnerFor(api);
  let told: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    told = resolve;
  });
  const ask = (request: Parameters<AgentRunner['ask']>[0], context?: Parameters<AgentRunner['ask']>[1]) => {
    if (!JSON.stringify(request).includes('deaf')) return real.ask(request, context);
    told();
    return new Promise(() => undefined);
  };
  return { runner: { name: real.name, ask: ask as AgentRunner['ask'] }, asked };
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
    const { runner, asked } = deafRunner();
    await worker(runner, { concurrency: 1, abortGraceMs: 100 });
    const deaf = await addSolutionCheck(fleet, script('deaf'));
    const next = await addSolutionCheck(fleet, script('next'));
    await asked;
    await cancelJob(fleet, deaf.id);
    expect((await deaf.wait()).state).toBe('cancelled');
    expect((await next.result()).status).toBe('clean');
  });

  it('does not keep a worker from stopping; its job goes back to the queue', async () => {
    const { fleet, worker } = await startFleet();
    const { runner, asked } = deafRunner();
    const stuck = await worker(runner, { abortGraceMs: 100 });
    const deaf = await addSolutionCheck(fleet, script('deaf'));
    await asked;
    await stuck.stop(0);
    expect(await deaf.view()).toMatchObject({ state: 'waiting', attempts: 0 });
  });
});

describe('a job that runs too long', () => {
  it('is told to stop, and fails with its own code', async () => {
    const { fleet, worker } = await startFleet(() => ({ kind: 'hang' }));
    await worker(runnerFor(api), { jobTimeoutMs: 300 });
    const job = await addSolutionCheck(fleet, script('long'));
    await api.arrived(1);
    expect(await job.wait()).toMatchObject({ state: 'failed', attempts: 1, error: { code: 'job-timeout' } });
    await api.requests[0]?.aborted;
  });
});
