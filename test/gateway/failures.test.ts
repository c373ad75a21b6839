import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { TestFleet } from '../support/fleet.js';
import { redisOfFile } from '../support/redis.js';
import { gatewayOfTest, type TestGateway } from './gateway-fixture.js';
import { SseClient } from './sse-client.js';

/** In every payload, and never in the log. */
const SECRET = 'secret_script';
const SUBMIT = '/v1/jobs/solution-check';
const CHECK = { payload: { solution: { content: `${SECRET} = 1\n` } } };
const JOB = 'solution-check-00000000-0000-4000-8000-000000000000';

const redis = redisOfFile();
let test: TestFleet;
let gateway: TestGateway;

beforeEach(async () => {
  ({ test, gateway } = await gatewayOfTest(redis, 'failures'));
});

interface LogLine {
  readonly level: number;
  readonly requestId?: string;
  readonly route?: string;
  readonly err?: { readonly stack: string };
}

/** What is logged of requests that failed. */
function failures(): LogLine[] {
  const lines = gateway.log().split('\n').filter(Boolean);
  return lines
    .map((line) => JSON.parse(line) as LogLine)
    .filter(({ level, requestId }) => level >= 40 && requestId);
}

/** Replaces a key with a value of another type, so that Redis rejects commands on it. */
async function damage(key: string): Promise<() => Promise<void>> {
  const full = test.fleet.queue('solution-check').toKey(key);
  await test.fleet.client.del(full);
  await test.fleet.client.set(full, 'damaged');
  return async () => {
    await test.fleet.client.del(full);
  };
}

describe('a request that fails by a defect', () => {
  it.each([
    ['GET', `/v1/jobs/${JOB}`, '/v1/jobs/{id}', undefined, JOB, 'broken-record'],
    ['GET', `/v1/jobs/${JOB}?wait=5s`, '/v1/jobs/{id}', undefined, JOB, 'broken-record'],
    ['DELETE', `/v1/jobs/${JOB}`, '/v1/jobs/{id}', undefined, JOB, 'broken-record'],
    ['POST', SUBMIT, SUBMIT, CHECK, 'wait'],
    ['POST', '/v1/jobs:batch', '/v1/jobs:batch', { jobs: [{ kind: 'solution-check', ...CHECK }] }, 'wait'],
    ['GET', '/board/api/queues', '/board', undefined, 'wait'],
    ['PUT', '/board/api/queues/solution-check/promote', '/board', undefined, 'delayed'],
  ])(
    '%s %s leaves one line with id, route and stack',
    async (method, path, route, body, key, code = 'internal') => {
      const mend = await damage(key);
      const answer = await gateway.send(method, path, body);
      await mend();
      expect(gateway.log()).not.toContain(SECRET);
      const problem = answer.json.jobs === undefined ? answer.json : answer.json.jobs[0].error;
      expect(problem).toMatchObject({ status: 500, code });
      expect(problem.requestId).toBe(answer.headers.get('x-request-id'));
      expect(answer.text).not.toContain('WRONGTYPE');
      expect(failures()).toMatchObject([
        { level: 50, requestId: problem.requestId, route, err: { stack: expect.stringContaining('at ') } },
      ]);
    },
  );

  it('in an event stream that has begun ends it, and leaves one line', async () => {
    const { json } = await gateway.send('POST', SUBMIT, CHECK);
    const client = new SseClient(`${gateway.url}/v1/jobs/${json.id}/events`);
    await client.seen('state');
    const job = test.fleet.queue('solution-check').toKey(json.id);
    await test.fleet.client.hset(job, { finishedOn: Date.now(), data: '{' });
    const events = test.fleet.queue('solution-check').toKey('events');
    await test.fleet.client.xadd(events, '*', 'event', 'completed', 'jobId', json.id);
    await client.ended;
    await test.fleet.queue('solution-check').obliterate({ force: true });
    expect(failures()).toMatchObject([{ level: 50, route: '/v1/jobs/{id}/events', err: {} }]);
  });

  it('a client that leaves is no failure', async () => {
    const { json } = await gateway.send('POST', SUBMIT, CHECK);
    const requests = [
      `GET /v1/jobs/${json.id}?wait=60s HTTP/1.1\r\nhost: localhost\r\n\r\n`,
      `GET /v1/jobs/${json.id}/events HTTP/1.1\r\nhost: localhost\r\n\r\n`,
      `POST ${SUBMIT} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{`,
      `POST /v1/evaluations/claim?wait=60s HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 13\r\n\r\n{"queue":"q"}`,
    ];
    for (const request of requests) {
      const socket = connect(gateway.port, '127.0.0.1');
      await once(socket, 'connect');
      socket.write(request);
      await vi.waitFor(() => expect(gateway.openRequests).toBe(1));
      socket.destroy();
      await vi.waitFor(() => expect(gateway.openRequests).toBe(0));
    }
    expect(failures()).toEqual([]);
  });
});
