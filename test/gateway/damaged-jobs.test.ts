import { randomUUID } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { examine } from '../../src/fleet/doctor/examine.js';
import type { TestFleet } from '../support/fleet.js';
import { redisOfFile } from '../support/redis.js';
import { gatewayOfTest, type TestGateway } from './gateway-fixture.js';

const redis = redisOfFile();

const SOUND = {
  name: 'solution-check',
  data: '{"v":1,"solution":{"content":"x = 1\\n"}}',
  opts: '{"attempts":3}',
  timestamp: '1795899000000',
};
/** Job hashes as nobody stores them, by what is wrong with them; `undefined` removes the field. */
const DAMAGED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'data that are no JSON': { data: '{' },
  'data that are nested too deep': { data: `${'['.repeat(50_000)}${']'.repeat(50_000)}` },
  'options that are no JSON': { opts: '{{' },
  'options that are null': { opts: 'null' },
  'progress that is no JSON': { progress: '{' },
  'a parent that is no JSON': { parent: '{{', parentKey: 'x' },
  'a time that is none': { timestamp: 'abc' },
  'a time that no clock shows': { timestamp: '9'.repeat(400) },
  'a count of attempts that is none': { atm: '1e308' },
};

/** Puts such jobs and a key of another type into a state of the queue; gives their ids. */
async function put({ fleet }: TestFleet, state: string, more: object, score: number): Promise<string[]> {
  const queue = `${fleet.prefix}:solution-check`;
  const ids: string[] = [];
  for (const fields of [...Object.values(DAMAGED), undefined]) {
    const id = `solution-check-${randomUUID()}`;
    ids.push(id);
    if (fields === undefined) await fleet.client.set(`${queue}:${id}`, 'no hash');
    else await fleet.client.hset(`${queue}:${id}`, { ...SOUND, ...more, ...fields });
    await fleet.client.zadd(`${queue}:${state}`, score, id);
  }
  // What is left is damaged on purpose.
  onTestFinished(async () => {
    await fleet.client.del(...ids.map((id) => `${queue}:${id}`));
    await fleet.client.zrem(`${queue}:${state}`, ...ids);
    for (const list of ['failed', 'completed', 'delayed'])
      await fleet.client.zrem(`${queue}:${list}`, ...ids);
  });
  return ids;
}

async function expectAllRoutesWork(gateway: TestGateway): Promise<void> {
  for (const path of [
    '/v1/jobs',
    '/v1/jobs?state=failed',
    '/v1/dead-letters',
    '/metrics',
    '/',
    '/board/api/queues?activeQueue=solution-check&status=latest',
    '/board/api/queues?activeQueue=solution-check&status=failed',
  ]) {
    expect([path, (await gateway.send('GET', path)).status]).toEqual([path, 200]);
  }
  const submitted = await gateway.send('POST', '/v1/jobs/solution-check?wait=30s', {
    payload: { solution: { content: `x = '${randomUUID()}'\n` } },
  });
  expect(submitted.json).toMatchObject({ state: 'completed' });
}

it('damaged jobs that wait fail with their id, and block no other job and no list', async () => {
  const { test, gateway } = await gatewayOfTest(redis, 'damaged-waiting');
  const ids = await put(test, 'prioritized', { priority: '1' }, 2 ** 32);
  const hashes = ids.slice(0, -1);
  // Nobody can take what is no job: it only is in the list that the gateway reads.
  await test.fleet.client.zrem(`${test.fleet.prefix}:solution-check:prioritized`, ids.at(-1) ?? '');
  await test.fleet.client.zadd(`${test.fleet.prefix}:solution-check:delayed`, 2 ** 60, ids.at(-1) ?? '');
  await test.worker(createOfflineRunner());
  await expectAllRoutesWork(gateway);
  const { client, prefix } = test.fleet;
  const reasons = await Promise.all(
    hashes.map((id) => client.hget(`${prefix}:solution-check:${id}`, 'failedReason')),
  );
  const reasonOf = Object.fromEntries(Object.keys(DAMAGED).map((name, at) => [name, reasons[at]]));
  for (const [at, [name, { timestamp }]] of Object.entries(DAMAGED).entries()) {
    // A time that cannot be read is no reason not to run.
    if (timestamp !== undefined) expect(reasonOf[name]).toBeNull();
    else if (name.includes('too deep')) expect(reasonOf[name]).toMatch(/^\[invalid-payload\]/);
    else expect(reasonOf[name]).toMatch(new RegExp(`^\\[broken-record\\].*${hashes[at]}`));
  }
  await client.zrem(`${prefix}:solution-check:delayed`, ids.at(-1) ?? '');
});

it('damaged jobs that have failed are named where they are read, and can be removed', async () => {
  const { test, gateway } = await gatewayOfTest(redis, 'damaged-failed');
  const ended = { finishedOn: '1795899001000', failedReason: '[internal] x' };
  const ids = await put(test, 'failed', ended, 1_795_899_001_000);
  await test.worker(createOfflineRunner());
  await expectAllRoutesWork(gateway);
  for (const id of ids) {
    for (const path of [`/v1/jobs/${id}`, `/v1/jobs/${id}?wait=1s`, `/v1/dead-letters/${id}`]) {
      const { status, json } = await gateway.send('GET', path);
      if (status !== 200)
        expect(json).toMatchObject({ code: 'broken-record', detail: expect.stringContaining(id) });
    }
  }
  const { problems } = await examine(test.fleet.client, test.fleet.prefix);
  expect(problems.map(({ problem }) => problem)).toContain('damaged');
  const dropped = await gateway.send('POST', '/v1/dead-letters:drop', { kind: 'solution-check' });
  expect(dropped.status).toBe(200);
  expect((await gateway.send('GET', '/v1/dead-letters')).json.jobs).toEqual([]);
});
