import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Role } from '../../src/gateway/auth/roles.js';
import { TokenStore } from '../../src/gateway/auth/token-store.js';
import { waitForJob } from '../../src/producers/wait-for-job.js';
import { startTestGateway, type TestGateway } from '../gateway/gateway-fixture.js';
import { attempts, timeFor } from '../support/attempts.js';
import { collectGarbage } from '../support/collect-garbage.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { forMany, KeepAliveClient } from '../support/keep-alive-client.js';
import { redisOfFile } from '../support/redis.js';
import { WAIT_LIMIT_MS } from '../support/wait-limit-ms.js';

const redis = redisOfFile();
let test: TestFleet;
let gateway: TestGateway;
let client: KeepAliveClient;
/** Texts of tokens, one of each role. */
const tokens = new Map<Role, string>();
/** Names of queues without submissions, none twice. */
let invented = 0;

beforeAll(async () => {
  test = await startTestFleet(redis, 'invented');
  const store = new TokenStore(test.fleet.client, 'invented');
  for (const role of ['read', 'submit'] as const) tokens.set(role, (await store.add(role, role)).token);
  gateway = await startTestGateway(redis, 'invented', {}, { logger: pino({ level: 'silent' }) });
  client = new KeepAliveClient(gateway.url);
});
afterAll(async () => {
  client.close();
  await gateway.close();
  await test.close();
});

/** The gateway writes fewer statistics records than this over time. */
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

const bearer = (role: Role) => ({ authorization: `Bearer ${tokens.get(role)}` });

const lease = (more: object) => {
  const queue = newQueue();
  return { queue, id: idIn(queue), lease: 'x', ...more };
};

type Requested = readonly [path: string, body?: object];

/** Every route that takes an id of a job or the name of a queue, with the status for one that there is not. */
const ROUTES: readonly [string, number, Role, string, () => Requested][] = [
  ['GET', 404, 'read', 'GET', () => [`/v1/jobs/${newId()}`]],
  ['GET with wait', 404, 'read', 'GET', () => [`/v1/jobs/${newId()}?wait=5m`]],
  ['GET of a kind with wait', 404, 'read', 'GET', () => [`/v1/jobs/${idIn('extract')}?wait=5m`]],
  ['events', 404, 'read', 'GET', () => [`/v1/jobs/${newId()}/events`]],
  ['cancel', 404, 'submit', 'DELETE', () => [`/v1/jobs/${newId()}`]],
  ['retry', 404, 'submit', 'POST', () => [`/v1/jobs/${newId()}/retry`]],
  ['retry with wait', 404, 'submit', 'POST', () => [`/v1/jobs/${newId()}/retry?wait=5m`]],
  ['dead letter', 404, 'read', 'GET', () => [`/v1/dead-letters/${newId()}`]],
  ['retry of dead letters', 200, 'submit', 'POST', () => ['/v1/dead-letters:retry', { ids: [newId()] }]],
  ['claim', 204, 'submit', 'POST', () => ['/v1/evaluations/claim', { queue: newQueue() }]],
  ['heartbeat', 409, 'submit', 'POST', () => ['/v1/evaluations/heartbeat', lease({})]],
  ['complete', 409, 'submit', 'POST', () => ['/v1/evaluations/complete', lease({ result: 1 })]],
  ['fail', 409, 'submit', 'POST', () => ['/v1/evaluations/fail', lease({ message: 'm' })]],
  ['run', 200, 'read', 'GET', () => [`/v1/runs/${newQueue()}`]],
  ['known solutions', 200, 'read', 'GET', () => [`/v1/known/${newQueue()}`]],
  ['job on the board', 404, 'read', 'GET', () => [`/board/api/queues/${newQueue()}/${newId()}`]],
  ['job of a kind on the board', 404, 'read', 'GET', () => [`/board/api/queues/extract/${newId()}`]],
];

/** Several times what one request could open. */
const COUNT = attempts(40);
/** What the heap of gateway and test may grow by, in bytes: thousands of requests that leave 1 kB each are too many. */
const MAX_GROWTH = 8 * 2 ** 20;

function heap(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

describe('ids and queues that there are not', () => {
  it.each(ROUTES)(
    '%s: %d, and nothing is opened or stored',
    async (_name, expected, role, method, invent) => {
      const send = async (statuses: Set<number>) => {
        const [path, body] = invent();
        statuses.add((await client.send(method, path, body, tokens.get(role))).status);
      };
      // What is opened once, for all of them.
      await forMany(Array(16), () => send(new Set()));
      const before = await state();
      const keys = await test.fleet.client.dbsize();
      // A few requests tell nothing, and collecting takes as long as all of them.
      const heapBefore = COUNT < 1_000 ? 0 : heap();
      const statuses = new Set<number>();
      await forMany(Array(COUNT), () => send(statuses));
      expect(statuses).toEqual(new Set([expected]));
      if (COUNT >= 1_000) expect(heap() - heapBefore).toBeLessThan(MAX_GROWTH);
      expect(await state()).toEqual(before);
      expect(await test.fleet.client.dbsize()).toBeLessThan(keys + OWN_RECORDS);
      expect(gateway.openQueues).toBeLessThan(10);
      expect(gateway.eventListeners).toBe(0);
    },
    timeFor(COUNT),
  );

  it('waits of a producer are rejected without a connection', async () => {
    const before = await connections();
    await forMany(Array(COUNT), async () => {
      const queue = newQueue();
      const wait = waitForJob(test.fleet, idIn(queue), { timeout: WAIT_LIMIT_MS }, queue);
      await expect(wait).rejects.toMatchObject({ code: 'job-not-found' });
    });
    expect(await connections()).toBe(before);
    expect(test.fleet.openQueues).toBe(0);
  });

  it('a claim that waits needs no separate connection', async () => {
    const before = await state();
    const claims = Array.from({ length: 20 }, () =>
      gateway.send('POST', '/v1/evaluations/claim?wait=600ms', { queue: newQueue() }, bearer('submit')),
    );
    for (const claim of claims) expect((await claim).status).toBe(204);
    expect(await state()).toEqual(before);
  });
});

describe('many queues that there are', () => {
  it('are waited for over one connection', async () => {
    const queues = Array.from({ length: 110 }, () => newQueue());
    for (const queue of queues) {
      await test.fleet.queue(queue).add('job', {}, { jobId: idIn(queue) });
    }
    const before = await connections();
    const waits = queues.map((queue) =>
      waitForJob(test.fleet, idIn(queue), { timeout: WAIT_LIMIT_MS }, queue),
    );
    const overHttp = queues
      .slice(0, 40)
      .map((queue) => gateway.send('GET', `/v1/jobs/${idIn(queue)}?wait=60s`, undefined, bearer('read')));
    while (gateway.eventListeners < overHttp.length) await pause(20);
    expect(await connections()).toBeLessThanOrEqual(before + 2);
    await forMany(queues, async (queue) => {
      await client.send('DELETE', `/v1/jobs/${idIn(queue)}`, undefined, tokens.get('submit'));
    });
    for (const wait of waits) expect((await wait).state).toBe('cancelled');
    for (const answer of overHttp) expect((await answer).status).toBe(200);
    expect(gateway.eventListeners).toBe(0);
    expect(test.fleet.openQueues).toBeLessThanOrEqual(100);
  });
});
