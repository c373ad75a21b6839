import { describe, expect, it } from 'vitest';
import { costsOfDay, costsOfRun } from '../../src/calls/budget/read-costs.js';
import { addJob } from '../../src/producers/add-job.js';
import { addJobs } from '../../src/producers/add-jobs.js';
import { addCandidateBatch } from '../../src/producers/flows/candidate-batch.js';
import { retryJob } from '../../src/producers/retry-job.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { scheduleDueJobs } from '../../src/queues/fairness/schedule-due-jobs.js';
import { submitterOfTenant } from '../../src/queues/submitter.js';
import { leaks, runnerFor } from '../support/agent-answers.js';
import { fleetOfTest, type TestFleet } from '../support/fleet.js';
import { errorReply, type MessagesApi, type Script } from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';
import { WAIT_LIMIT_MS } from '../support/wait-limit-ms.js';

const redis = redisOfFile();
let test: TestFleet;
let api: MessagesApi;

async function startFleet(reply?: Script) {
  ({ test, api } = await fleetOfTest(redis, 'fair', reply));
  return test;
}

const check = (name: string, run: string) => ({
  solution: { content: `name = '${name}'\n` },
  tags: { run, name },
});
const batch = (run: string, count: number, tenant?: string) =>
  Array.from({ length: count }, (_, at) => ({
    kind: 'solution-check' as const,
    payload: check(`${run}${at}`, run),
    options: tenant === undefined ? {} : { tenant },
  }));

/** The order in which the agent received the scripts. */
const checkedScripts = () => api.requests.map(({ text }) => /name = '(\w+)'/.exec(text)?.[1]);

describe('fairness between tenants', () => {
  it('hundreds of waiting jobs of one run delay the single job of another by one job a slot', async () => {
    const { fleet, worker } = await startFleet();
    await addJobs(fleet, batch('night', 400));
    const single = await addSolutionCheck(fleet, check('single', 'other'));
    await worker(runnerFor(api), { concurrency: 2 });
    await single.result();
    expect(checkedScripts().indexOf('single')).toBeLessThanOrEqual(3);
  });

  it('the tenant of a submission counts, otherwise its run', async () => {
    const { fleet, worker } = await startFleet();
    await addJobs(fleet, [...batch('a', 4, 'one'), ...batch('b', 4, 'one'), ...batch('c', 4)]);
    await worker(runnerFor(api), { concurrency: 1 });
    await api.arrived(12);
    expect(checkedScripts().map((name) => name?.[0])).toEqual([...'acacacac'.slice(0, 8), ...'bbbb']);
  });

  it('priorities apply within a tenant, to single and batch submissions', async () => {
    const { fleet, worker } = await startFleet();
    await addJobs(fleet, [
      { kind: 'solution-check', payload: check('low', 'r'), options: { priority: 2_000 } },
      { kind: 'solution-check', payload: check('plain', 'r') },
      { kind: 'solution-check', payload: check('high', 'r'), options: { priority: 1 } },
    ]);
    await addSolutionCheck(fleet, check('first', 'r'), { priority: 1 });
    await addSolutionCheck(fleet, check('other', 's'), { priority: 2_000_000 });
    await worker(runnerFor(api), { concurrency: 1 });
    await api.arrived(5);
    const order = checkedScripts();
    expect(order.filter((name) => name !== 'other')).toEqual(['high', 'first', 'plain', 'low']);
    expect(order.indexOf('other')).toBeLessThanOrEqual(1);
  });

  it.each([0, -1, 1.5, 2 ** 21, Number.NaN])('priority %d is rejected with its field', async (priority) => {
    const { fleet } = await startFleet();
    const rejected = addSolutionCheck(fleet, check('x', 'r'), { priority });
    await expect(rejected).rejects.toMatchObject({ code: 'invalid-payload', field: 'priority' });
    const [outcome] = await addJobs(fleet, [
      { kind: 'solution-check', payload: check('x', 'r'), options: { priority } },
    ]);
    expect(outcome).toMatchObject({ error: { code: 'invalid-payload', field: 'priority' } });
  });

  it('jobs of flows are scheduled fairly too', async () => {
    const { fleet, worker } = await startFleet();
    await addJobs(fleet, batch('night', 50));
    await addCandidateBatch(fleet, {
      candidates: [{ solution: { content: "name = 'candidate'\n" } }],
      evaluation: { queue: 'evaluate', name: 'score' },
      tags: { run: 'day' },
    });
    await worker(runnerFor(api), { concurrency: 1 });
    await api.arrived(10);
    expect(checkedScripts().indexOf('candidate')).toBeLessThanOrEqual(1);
  });

  it('a tenant that was served before does not wait longer for it', async () => {
    const { fleet, worker } = await startFleet();
    const first = await worker(runnerFor(api), { concurrency: 1 });
    const served = await addJobs(fleet, batch('served', 12));
    await Promise.all(served.map((outcome) => ('handle' in outcome ? outcome.handle.wait() : undefined)));
    await first.stop(5_000);
    await addJobs(fleet, batch('other', 12));
    await addSolutionCheck(fleet, check('again', 'served'));
    await worker(runnerFor(api), { concurrency: 1 });
    await api.arrived(25);
    expect(checkedScripts().slice(12).indexOf('again')).toBeLessThanOrEqual(2);
  });

  it('delayed jobs that become due together do not run before all others', async () => {
    const { fleet, worker } = await startFleet();
    const late = batch('late', 10).map((item) => ({ ...item, options: { delayMs: 3_600_000 } }));
    const delayed = await addJobs(fleet, late);
    const first = await worker(runnerFor(api), { concurrency: 1 });
    // The time of the queue goes on until they become due.
    const served = await addJobs(fleet, batch('before', 15));
    await Promise.all(served.map((outcome) => ('handle' in outcome ? outcome.handle.wait() : undefined)));
    await first.stop(5_000);
    await addJobs(fleet, batch('other', 10));
    const queue = fleet.queue('solution-check');
    for (const outcome of delayed)
      if ('handle' in outcome) await (await queue.getJob(outcome.handle.id))?.promote();
    await scheduleDueJobs(fleet.client, fleet.prefix, 'solution-check', 1);
    await worker(runnerFor(api), { concurrency: 1 });
    await api.arrived(35);
    const order = checkedScripts()
      .slice(15)
      .map((name) => name?.[0]);
    expect(order.slice(0, 10).filter((name) => name === 'o').length).toBeGreaterThanOrEqual(4);
  });

  it('failed jobs that are run again do not run before all others', async () => {
    let failing = true;
    const { fleet, worker } = await startFleet(() => (failing ? errorReply(400) : leaks()));
    const first = await worker(runnerFor(api), { concurrency: 1 });
    const failed = await Promise.all(
      [0, 1, 2, 3, 4].map((at) => addSolutionCheck(fleet, check(`old${at}`, 'old'))),
    );
    await Promise.all(failed.map((job) => job.wait()));
    await first.stop(5_000);
    failing = false;
    const before = api.requests.length;
    for (const { id } of failed) await retryJob(fleet, id);
    await addSolutionCheck(fleet, check('new', 'new'));
    await worker(runnerFor(api), { concurrency: 1 });
    await api.arrived(before + 6);
    expect(checkedScripts().slice(before).indexOf('new')).toBeLessThanOrEqual(1);
  });
});

it('a bound tenant neither uses up nor learns what another one has for a run of the same name', async () => {
  const usage = { input_tokens: 1_000, output_tokens: 30_000 };
  const { fleet, worker } = await startFleet(() => ({ ...leaks(), usage }));
  await worker(runnerFor(api));
  let scripts = 0;
  const submit = async (tenant: string | undefined, budgetUsd: number) => {
    scripts += 1;
    const payload = { ...check(`script${scripts}`, 'night'), model: 'claude-sonnet-5-5' };
    const owner = tenant === undefined ? {} : { tenant, submitter: submitterOfTenant(tenant) };
    const options = { ...owner, budgetUsd };
    const handle = await addJob(fleet, 'solution-check', payload, options);
    const { state, error } = await handle.wait({ timeout: WAIT_LIMIT_MS });
    return state === 'completed' ? state : error?.message;
  };
  const ONE_CALL = 0.4;
  for (let spent = 0; spent < 2; spent += 1) expect(await submit('greedy', 100)).toBe('completed');
  expect(await submit('acme', ONE_CALL)).toBe('completed');
  expect(await submit(undefined, ONE_CALL)).toBe('completed');
  expect(await submit('nosy', 0.000_001)).toContain('$0.0000 are spent');
  const costs = await costsOfRun(fleet.client, fleet.prefix, 'night');
  expect(costs).toMatchObject({ calls: 4, budgetUsd: ONE_CALL, callsUnderWay: 0, reservedUsd: 0 });
  expect(costs.spentUsd).toBeCloseTo((await costsOfDay(fleet.client, fleet.prefix, Date.now())).spentUsd, 9);
});
