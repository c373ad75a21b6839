import { describe, expect, it, onTestFinished } from 'vitest';
import { addJob } from '../../src/producers/add-job.js';
import { addJobs } from '../../src/producers/add-jobs.js';
import type { FleetClient } from '../../src/producers/fleet-client.js';
import { addRefinementStep } from '../../src/producers/flows/refinement-step.js';
import { waitForJob } from '../../src/producers/wait-for-job.js';
import { startTestGateway, type TestGateway } from '../gateway/gateway-fixture.js';
import { runnerFor } from '../support/agent-answers.js';
import { startTestFleet } from '../support/fleet.js';
import { fleetCommand } from '../support/fleet-command.js';
import { errorReply, startMessagesApi, textReply } from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';

const redis = redisOfFile();
let fleets = 0;

const PAYLOAD = { ablationCode: 'print("baseline 0.8")', rawOutput: 'baseline: 0.80\n' };
const STEP = { ...PAYLOAD, solution: { content: 'x = 1\n' }, previousBlocks: [] };

interface Target {
  readonly fleet: FleetClient;
  readonly gateway: TestGateway;
  readonly env: Readonly<Record<string, string>>;
}

interface Submitted {
  /** The job that calls the agent. */
  readonly id: string;
  readonly outcome: string;
}

interface EntryPoint {
  readonly name: string;
  submit(target: Target, key: string, force?: true): Promise<Submitted>;
}

const forced = (force: true | undefined) => (force === undefined ? {} : { force });

/** Every entry point that submits a summary. */
const ENTRY_POINTS: readonly EntryPoint[] = [
  {
    name: 'TypeScript, one job',
    submit: ({ fleet }, key, force) => addJob(fleet, 'summarize', PAYLOAD, { key, ...forced(force) }),
  },
  {
    name: 'TypeScript, a batch',
    submit: async ({ fleet }, key, force) => {
      const [outcome] = await addJobs(fleet, [
        { kind: 'summarize', payload: PAYLOAD, options: { key, ...forced(force) } },
      ]);
      if (outcome === undefined || 'error' in outcome) throw outcome?.error ?? new Error('no outcome');
      return outcome.handle;
    },
  },
  {
    name: 'TypeScript, a flow',
    submit: async ({ fleet }, key, force) => {
      const { summarize, extract } = await addRefinementStep(fleet, STEP, { key, ...forced(force) });
      return { id: summarize.id, outcome: extract.outcome };
    },
  },
  {
    name: 'HTTP, one job',
    submit: async ({ gateway }, key, force) =>
      (await gateway.send('POST', '/v1/jobs/summarize', { payload: PAYLOAD, key, ...forced(force) })).json,
  },
  {
    name: 'HTTP, a batch',
    submit: async ({ gateway }, key, force) => {
      const jobs = [{ kind: 'summarize', payload: PAYLOAD, key, ...forced(force) }];
      return (await gateway.send('POST', '/v1/jobs:batch', { jobs })).json.jobs[0];
    },
  },
  {
    name: 'HTTP, a flow',
    submit: async ({ gateway }, key, force) => {
      const body = { ...STEP, key, ...forced(force) };
      const { json } = await gateway.send('POST', '/v1/flows/refinement', body);
      return { id: json.summarize.id, outcome: json.extract.outcome };
    },
  },
  {
    name: 'the command line',
    submit: async ({ env }, key, force) => {
      const flags = force ? ['--force'] : [];
      const args = ['submit', 'summarize', '--data', '-', '--json', '--key', key, ...flags];
      const { stdout } = await fleetCommand(args, { env, input: JSON.stringify(PAYLOAD) });
      return JSON.parse(stdout);
    },
  },
];

async function open(): Promise<Target> {
  fleets += 1;
  const prefix = `entries-${fleets}`;
  const test = await startTestFleet(redis, prefix);
  const gateway = await startTestGateway(redis, prefix);
  onTestFinished(async () => {
    await gateway.close();
    await test.close();
  });
  return { fleet: test.fleet, gateway, env: { FLEET_REDIS_URL: redis.url, FLEET_PREFIX: prefix } };
}

describe.each(ENTRY_POINTS)('through $name', ({ submit }) => {
  it('a key runs again after a failure, gives what is there after success, and says which happened', async () => {
    fleets += 1;
    const prefix = `entries-${fleets}`;
    const test = await startTestFleet(redis, prefix);
    const gateway = await startTestGateway(redis, prefix);
    let broken = true;
    const api = await startMessagesApi({
      reply: ({ body }) => {
        if (broken) return errorReply(401);
        const plans = [{ code_block: 'x = 1', plan: 'another number' }];
        return textReply(body.output_config === undefined ? 'all is well' : JSON.stringify({ plans }));
      },
    });
    onTestFinished(async () => {
      await gateway.close();
      await test.close();
      await api.close();
    });
    const target = { fleet: test.fleet, gateway, env: { FLEET_REDIS_URL: redis.url, FLEET_PREFIX: prefix } };
    await test.worker(runnerFor(api));
    const key = 'a:b 🎈 --key ../x';
    const first = await submit(target, key);
    expect(first.outcome).toBe('created');
    expect((await waitForJob(test.fleet, first.id)).state).toBe('failed');
    broken = false;
    const second = await submit(target, key);
    expect(second).toMatchObject({ id: first.id, outcome: 'retried' });
    expect((await waitForJob(test.fleet, first.id)).state).toBe('completed');
    // A flow is there until its last job has ended.
    await expect.poll(async () => (await submit(target, key, true)).outcome).toBe('replaced');
    expect((await waitForJob(test.fleet, first.id)).state).toBe('completed');
    expect(await submit(target, key)).toMatchObject({ id: first.id, outcome: 'existing' });
  });

  it('jobs have the same attempts and retention as through any other', async () => {
    const target = await open();
    const { id } = await submit(target, 'kept');
    const job = await target.fleet.queue('summarize').getJob(id);
    const week = 7 * 86_400;
    expect(job?.opts).toMatchObject({
      attempts: 3,
      backoff: { type: 'exponential', delay: 2_000 },
      removeOnComplete: { age: week },
      removeOnFail: { age: week },
      stackTraceLimit: 0,
      keepLogs: 500,
    });
  });
});

describe('what a submission may not say', () => {
  it.each([
    { field: 'budgetUsd', value: Number.NaN },
    { field: 'budgetUsd', value: -1 },
    { field: 'tenant', value: '' },
    { field: 'tenant', value: 't'.repeat(201) },
    { field: 'delayMs', value: -1 },
    { field: 'key', value: 'k'.repeat(65_537) },
  ])('$field $value is rejected by TypeScript, HTTP and its batches alike', async ({ field, value }) => {
    const { fleet, gateway } = await open();
    const options = { [field]: value };
    await expect(addJob(fleet, 'summarize', PAYLOAD, options)).rejects.toMatchObject({ field });
    const [outcome] = await addJobs(fleet, [{ kind: 'summarize', payload: PAYLOAD, options }]);
    expect(outcome).toMatchObject({ error: { field } });
    const single = await gateway.send('POST', '/v1/jobs/summarize', { payload: PAYLOAD, ...options });
    const jobs = [{ kind: 'summarize', payload: PAYLOAD, ...options }];
    const batch = await gateway.send('POST', '/v1/jobs:batch', { jobs });
    // JSON has no NaN: there the field is null, which is rejected as well.
    expect(single.status).toBe(422);
    expect(batch.json.jobs[0].error).toMatchObject({ status: 422 });
  });
});
