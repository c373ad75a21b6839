import { describe, expect, it } from 'vitest';
import { examine } from '../../src/fleet/doctor/examine.js';
import { PAYLOAD_GRACE_MS } from '../../src/payloads/sweep-payloads.js';
import { referencesIn } from '../../src/payloads/text-reference.js';
import { addRefinementStep } from '../../src/producers/flows/refinement-step.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { inFlightKey, payloadKey, spendBase } from '../../src/queues/redis-keys.js';
import { leaks, runnerFor } from '../support/agent-answers.js';
import { fleetOfTest, type TestFleet } from '../support/fleet.js';
import { brokenInvariants } from '../support/invariants.js';
import type { MessagesApi, Script } from '../support/messages-api.js';
import { jsonReply, textReply } from '../support/messages-api-replies.js';
import { redisOfFile } from '../support/redis.js';

const CHECK = { solution: { content: 'x = 1\n' } };
const LONG = { solution: { content: 'x = 1\n'.repeat(20_000) } };

const redis = redisOfFile();
let test: TestFleet;
let api: MessagesApi;

const answer: Script = ({ text }) => {
  if (text.includes('<ablation-code-')) return textReply('The fit matters most.');
  if (text.includes('The fit matters most.'))
    return jsonReply({ plans: [{ code_block: 'x = 1', plan: 'tune it' }] });
  return leaks();
};

async function startFleet(reply = answer) {
  // Every test repairs what it damaged, because closing checks the invariants.
  ({ test, api } = await fleetOfTest(redis, '{invariants}', reply));
  const { client, prefix } = test.fleet;
  const key = (rest: string) => `${prefix}:solution-check:${rest}`;
  const found = async () => (await examine(client, prefix)).problems.map(({ problem }) => problem);
  const repair = () => examine(client, prefix, { repair: true });
  return { ...test, client, prefix, key, found, repair };
}

describe('the doctor checks the invariants of the data', () => {
  it('a job in no state: it is found, put back, and runs', async () => {
    const { fleet, client, key, found, repair, worker } = await startFleet();
    const job = await addSolutionCheck(fleet, CHECK);
    await client.zrem(key('prioritized'), job.id);
    expect(await found()).toEqual(['no-state']);
    await repair();
    expect(await found()).toEqual([]);
    await worker(runnerFor(api));
    expect((await job.result()).status).toBe('clean');
  });

  it('a job in two states runs once', async () => {
    const { fleet, client, key, found, repair, worker } = await startFleet();
    const job = await addSolutionCheck(fleet, CHECK);
    await client.zadd(key('delayed'), (Date.now() + 1e9) * 4096, job.id);
    expect(await found()).toEqual(['two-states']);
    await repair();
    expect(await found()).toEqual([]);
    await worker(runnerFor(api));
    await job.result();
    expect(api.requests).toHaveLength(1);
  });

  it('an ended job that is listed as waiting too stays ended', async () => {
    const { fleet, client, key, found, repair, worker } = await startFleet();
    const at = await worker(runnerFor(api));
    const job = await addSolutionCheck(fleet, CHECK);
    await job.result();
    await at.stop(5_000);
    await client.lpush(key('wait'), job.id);
    expect(await found()).toEqual(['two-states']);
    await repair();
    expect(await found()).toEqual([]);
    expect((await job.view()).state).toBe('completed');
  });

  it('a state that lists a job which does not exist is cleared of it', async () => {
    const { client, key, found, repair } = await startFleet();
    await client.zadd(key('prioritized'), 1, 'solution-check-nobody');
    await client.lpush(key('active'), 'solution-check-no-one');
    expect(await found()).toEqual(['ghost', 'ghost']);
    await repair();
    expect(await found()).toEqual([]);
  });

  it('a running job without a worker returns to the queue', async () => {
    const { fleet, client, key, found, repair, worker } = await startFleet();
    const job = await addSolutionCheck(fleet, CHECK);
    await client.zrem(key('prioritized'), job.id);
    await client.lpush(key('active'), job.id);
    expect(await found()).toEqual(['no-owner']);
    await repair();
    expect((await job.view()).state).toBe('waiting');
    await worker(runnerFor(api));
    expect((await job.result()).status).toBe('clean');
  });

  it('a running job with its worker is left alone', async () => {
    const { fleet, found, worker } = await startFleet(() => ({ ...leaks(), delayMs: 300 }));
    await worker(runnerFor(api));
    const job = await addSolutionCheck(fleet, CHECK);
    await api.arrived(1);
    expect(await found()).toEqual([]);
    await job.result();
  });

  it('a parent whose child has ended without telling it learns the result', async () => {
    const { fleet, client, prefix, found, repair, worker } = await startFleet();
    const step = await addRefinementStep(fleet, {
      ablationCode: 'x',
      rawOutput: 'a: 1',
      solution: { content: 'x = 1\n' },
      previousBlocks: [],
    });
    const summarizing = await worker(runnerFor(api), { kinds: ['summarize'] });
    await step.summarize.wait();
    await summarizing.stop(5_000);
    // What a half-written record would leave: the child has ended, and its parent does not know.
    const parent = `${prefix}:extract:${step.extract.id}`;
    const child = `${prefix}:summarize:${step.summarize.id}`;
    await client.zrem(`${prefix}:extract:prioritized`, step.extract.id);
    await client.zadd(`${prefix}:extract:waiting-children`, Date.now(), step.extract.id);
    await client.del(`${parent}:processed`);
    await client.sadd(`${parent}:dependencies`, child);
    expect(await found()).toEqual(['orphaned-parent']);
    await repair();
    expect(await found()).toEqual([]);
    await worker(runnerFor(api));
    expect(await step.extract.wait()).toMatchObject({ state: 'completed' });
  });

  it('money that is reserved for a dead worker comes back', async () => {
    const { client, prefix, found, repair } = await startFleet();
    const day = Math.floor(Date.now() / 86_400_000);
    const flight = { token: 'dead', amount: '700', likely: '300', day: String(day), run: '', by: 'dead#1' };
    await client.hset(inFlightKey(prefix), `1 ${prefix}:extract:x`, JSON.stringify(flight));
    await client.hset(`${spendBase(prefix)}:day:${day}`, 'reserved', 700);
    expect(await found()).toEqual(['idle-reservation']);
    expect((await brokenInvariants(client, prefix)).join()).toContain('nano-dollars are reserved');
    await repair();
    expect(await client.hmget(`${spendBase(prefix)}:day:${day}`, 'reserved', 'inDoubt')).toEqual([
      '0',
      '300',
    ]);
    expect(await found()).toEqual([]);
  });

  it('texts without a job are removed; a missing text is reported and stays a problem', async () => {
    const { fleet, client, prefix, found } = await startFleet();
    const job = await addSolutionCheck(fleet, LONG);
    await fleet.payloads.offload({ content: 'y = 2\n'.repeat(20_000) }, [`${prefix}:extract:never`]);
    const later = { now: Date.now() + PAYLOAD_GRACE_MS + 1_000 };
    const { problems, left } = await examine(client, prefix, { repair: true, sweep: later });
    expect(problems.map(({ problem }) => problem)).toEqual(['orphaned-text']);
    expect(left).toEqual([]);
    const data = JSON.parse((await client.hget(`${prefix}:solution-check:${job.id}`, 'data')) ?? '');
    await client.del(payloadKey(prefix, referencesIn(data)[0] ?? ''));
    expect(await found()).toEqual(['missing-text']);
    expect((await examine(client, prefix, { repair: true })).left).toHaveLength(1);
    // A job that runs into it says so, and the text can be handed in again.
    const again = await addSolutionCheck(fleet, LONG);
    expect(again.id).not.toBe(job.id);
    expect(await found()).toEqual([]);
  });
});
