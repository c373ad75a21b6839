import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { waitForJob } from '../../src/producers/wait-for-job.js';
import { startTestGateway, type TestGateway } from '../gateway/gateway-fixture.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { redisOfFile } from '../support/redis.js';

const redis = redisOfFile();
let test: TestFleet;
let gateway: TestGateway;
/** Names of queues that nobody submitted to, none twice. */
let invented = 0;

beforeAll(async () => {
  test = await startTestFleet(redis, 'invented');
  gateway = await startTestGateway(redis, 'invented');
  return async () => {
    await gateway.close();
    await test.close();
  };
});

/** The gateway's own records of statistics, which come by and by, are fewer than this. */
const OWN_RECORDS = 10;

/** What requests for invented names must not add to. */
async function state() {
  return { keys: await test.fleet.client.keys('*anything*'), connections: await connections() };
}

function newQueue(): string {
  invented += 1;
  return `anything-${invented}`;
}
const idIn = (queue: string) => `${queue}-${'a'.repeat(40)}`;
const newId = () => idIn(newQueue());

async function connections(): Promise<number> {
  return String(await test.fleet.client.client('LIST'))
    .trim()
    .split('\n').length;
}

/** Sends requests, some at a time over connections that are kept. */
async function sendMany(count: number, send: () => Promise<{ status: number }>): Promise<Set<number>> {
  const statuses = new Set<number>();
  const one = async () => {
    while (count > 0) {
      count -= 1;
      statuses.add((await send()).status);
    }
  };
  await Promise.all(Array.from({ length: 16 }, one));
  return statuses;
}

const lease = (more: object) => {
  const queue = newQueue();
  return { queue, id: idIn(queue), lease: 'x', ...more };
};

/** Every route that takes an id of a job or the name of a queue, with the status for one that there is not. */
const ROUTES: readonly [string, number, () => Promise<{ status: number }>][] = [
  ['GET', 404, () => gateway.send('GET', `/v1/jobs/${newId()}`)],
  ['GET with wait', 404, () => gateway.send('GET', `/v1/jobs/${newId()}?wait=5m`)],
  ['GET of a kind with wait', 404, () => gateway.send('GET', `/v1/jobs/${idIn('extract')}?wait=5m`)],
  ['events', 404, () => gateway.send('GET', `/v1/jobs/${newId()}/events`)],
  ['cancel', 404, () => gateway.send('DELETE', `/v1/jobs/${newId()}`)],
  ['retry', 404, () => gateway.send('POST', `/v1/jobs/${newId()}/retry`)],
  ['retry with wait', 404, () => gateway.send('POST', `/v1/jobs/${newId()}/retry?wait=5m`)],
  ['dead letter', 404, () => gateway.send('GET', `/v1/dead-letters/${newId()}`)],
  ['retry of dead letters', 200, () => gateway.send('POST', '/v1/dead-letters:retry', { ids: [newId()] })],
  ['claim', 204, () => gateway.send('POST', '/v1/evaluations/claim', { queue: newQueue() })],
  ['heartbeat', 409, () => gateway.send('POST', '/v1/evaluations/heartbeat', lease({}))],
  ['complete', 409, () => gateway.send('POST', '/v1/evaluations/complete', lease({ result: 1 }))],
  ['fail', 409, () => gateway.send('POST', '/v1/evaluations/fail', lease({ message: 'm' }))],
  ['run', 200, () => gateway.send('GET', `/v1/runs/${newQueue()}`)],
  ['known solutions', 200, () => gateway.send('GET', `/v1/known/${newQueue()}`)],
  ['job on the board', 404, () => gateway.send('GET', `/board/api/queues/${newQueue()}/${newId()}`)],
  ['job of a kind on the board', 404, () => gateway.send('GET', `/board/api/queues/extract/${newId()}`)],
];

const COUNT = 150;

describe('ids and queues that there are not', () => {
  it.each(ROUTES)('%s: %d, and nothing is opened or kept', async (_name, status, send) => {
    expect((await send()).status).toBe(status);
    const before = await state();
    const keys = await test.fleet.client.dbsize();
    expect(await sendMany(COUNT, send)).toEqual(new Set([status]));
    expect(await state()).toEqual(before);
    expect(await test.fleet.client.dbsize()).toBeLessThan(keys + OWN_RECORDS);
    expect(gateway.openQueues).toBeLessThan(10);
    expect(gateway.eventListeners).toBe(0);
  });

  it('waits of a producer are refused without a connection', async () => {
    const before = await connections();
    const waits = Array.from({ length: COUNT }, () => {
      const queue = newQueue();
      return waitForJob(test.fleet, idIn(queue), { timeout: 60_000 }, queue);
    });
    for (const wait of waits) await expect(wait).rejects.toMatchObject({ code: 'job-not-found' });
    expect(await connections()).toBe(before);
    expect(test.fleet.openQueues).toBe(0);
  });

  it('a claim that waits looks without a connection of its own', async () => {
    const before = await state();
    const claims = Array.from({ length: 20 }, () =>
      gateway.send('POST', '/v1/evaluations/claim?wait=600ms', { queue: newQueue() }),
    );
    for (const claim of claims) expect((await claim).status).toBe(204);
    expect(await state()).toEqual(before);
  });
});

describe('many queues that there are', () => {
  it('are waited for over one connection', async () => {
    const queues = Array.from({ length: 150 }, () => newQueue());
    for (const queue of queues) {
      await test.fleet.queue(queue).add('job', {}, { jobId: idIn(queue) });
    }
    const before = await connections();
    const waits = queues.map((queue) => waitForJob(test.fleet, idIn(queue), { timeout: 60_000 }, queue));
    const overHttp = queues
      .slice(0, 40)
      .map((queue) => gateway.send('GET', `/v1/jobs/${idIn(queue)}?wait=60s`));
    while (gateway.eventListeners < overHttp.length) await pause(20);
    expect(await connections()).toBeLessThanOrEqual(before + 2);
    await Promise.all(queues.map((queue) => gateway.send('DELETE', `/v1/jobs/${idIn(queue)}`)));
    for (const wait of waits) expect((await wait).state).toBe('cancelled');
    for (const answer of overHttp) expect((await answer).status).toBe(200);
    expect(gateway.eventListeners).toBe(0);
    expect(test.fleet.openQueues).toBeLessThanOrEqual(100);
  });
});
