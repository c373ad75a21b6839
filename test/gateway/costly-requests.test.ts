import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Worker } from 'bullmq';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { TokenStore } from '../../src/gateway/auth/token-store.js';
import { MAX_MEMBERS, MAX_OBJECT_MEMBERS } from '../../src/gateway/http/json-bounds.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { addCandidateBatch } from '../../src/producers/flows/candidate-batch.js';
import { workerConnection } from '../../src/queues/connection.js';
import { digestOf } from '../../src/queues/digest.js';
import { NO_USAGE } from '../../src/queues/usage.js';
import { collectGarbage } from '../support/collect-garbage.js';
import { redisOfFile } from '../support/redis.js';
import { type Answer, startTestGateway, type TestGateway } from './gateway-fixture.js';

const SUBMIT = '/v1/jobs/solution-check';
const PREFIX = 'costly';
const RESULT_BYTES = 2 ** 18;
const MAX_READS = 1;
/** Answers with a job that one token may have in memory: eight times as many as large reads. */
const MAX_ANSWERS = 8 * MAX_READS;

const redis = redisOfFile();
let fleet: FleetClient;
let gateway: TestGateway;
let token: string;
let other: string;
/** A job with a large result. */
let large: string;
let sockets: Socket[] = [];

const bearer = (text: string) => ({ authorization: `Bearer ${text}` });

beforeAll(async () => {
  fleet = await FleetClient.open({ redisUrl: redis.url, prefix: PREFIX, waitForSlow: true });
  const tokens = new TokenStore(fleet.client, PREFIX);
  token = (await tokens.add('token', 'submit')).token;
  other = (await tokens.add('other', 'submit')).token;
  gateway = await startTestGateway(redis, PREFIX, { maxReads: MAX_READS, bodyBytes: 16 * 2 ** 20 });
  const body = { payload: { solution: { content: 'x = 1\n' } } };
  large = (await gateway.send('POST', SUBMIT, body, bearer(token))).json.id;
  const text = 'x'.repeat(RESULT_BYTES);
  const worker = new Worker('solution-check', async () => ({ text }), {
    connection: workerConnection(redis.url),
    prefix: PREFIX,
  });
  await vi.waitFor(async () => {
    const { json } = await gateway.send('GET', `/v1/jobs/${large}`, undefined, bearer(token));
    expect(json.state).toBe('completed');
  });
  await worker.close();
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  await vi.waitFor(() => expect(gateway.openRequests).toBe(0));
});
afterAll(async () => {
  await gateway.close();
  await fleet.close();
});

/** Sends requests on one connection, and reads no answer. */
async function sendAhead(request: string, times: number): Promise<Socket> {
  const socket = connect(gateway.port, '127.0.0.1').on('error', () => undefined);
  socket.pause();
  sockets.push(socket);
  await once(socket, 'connect');
  socket.write(request.repeat(times));
  return socket;
}

const get = (path: string, as = token) =>
  `GET ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${as}\r\n\r\n`;

/** Members of an object, whose names are all different. */
const members = (count: number, prefix = '') =>
  Array.from({ length: count }, (_, index) => `"${prefix}${index.toString(36)}":0`).join(',');

/** Bytes of buffers before the test: those of earlier files of the process may still be in use. */
let bytesBefore = 0;

/** Most bytes that buffers took, beyond those before the test, while another token asked for something ten times. */
async function maxBufferBytes(path: string): Promise<number> {
  const memory: number[] = [];
  for (let again = 0; again < 10; again += 1) {
    expect((await gateway.send('GET', path, undefined, bearer(other))).status).toBe(200);
    memory.push(process.memoryUsage().arrayBuffers);
  }
  return Math.max(...memory) - bytesBefore;
}

describe('answers that nobody reads', () => {
  // Buffers of files that ran in this process before may wait for their collection.
  beforeEach(() => {
    collectGarbage();
    bytesBefore = process.memoryUsage().arrayBuffers;
  });

  it.each(['/assets/swagger-ui.js', '/v1/openapi.json'])('of %s share one text', async (path) => {
    // Each with a text of its own, 440 answers would have more than 44 MB.
    for (let connection = 0; connection < 4; connection += 1) await sendAhead(get(path), 110);
    await vi.waitFor(() => expect(gateway.openRequests).toBeGreaterThan(200));
    expect(await maxBufferBytes('/healthz')).toBeLessThan(30 * 2 ** 20);
  });

  it.each([
    ['jobs', () => `/v1/jobs/${large}`],
    ['waits', () => `/v1/jobs/${large}?wait=5s`],
    ['event streams', () => `/v1/jobs/${large}/events`],
  ])('of %s with large results: few are in memory, and another token is served', async (_name, path) => {
    // All of them in memory would be 75 MB, a copy of each included more.
    for (let connection = 0; connection < 3; connection += 1) await sendAhead(get(path()), 100);
    await vi.waitFor(() => expect(gateway.openRequests).toBeGreaterThan(240));
    expect(await maxBufferBytes(`/v1/jobs/${large}`)).toBeLessThan(25 * MAX_ANSWERS * RESULT_BYTES);
  });

  it('of claims: few evaluations are handed out, and the others wait for somebody who reads', async () => {
    const content = `x = '${'x'.repeat(900_000)}'\n`;
    const count = 30;
    const body = {
      candidates: new Array(count).fill({ solution: { content } }),
      evaluation: { queue: 'unread', name: 'score' },
    };
    await addCandidateBatch(fleet, body);
    const agent = { runner: 'offline' };
    const result = {
      status: 'clean',
      solution: { content },
      solutionDigest: digestOf(content),
      findings: [],
    };
    const worker = new Worker('solution-check', async () => ({ ...result, usage: NO_USAGE, agent }), {
      connection: workerConnection(redis.url),
      prefix: PREFIX,
      concurrency: 10,
    });
    const queue = fleet.queue('unread');
    await vi.waitFor(async () => expect(await queue.getPrioritizedCount()).toBe(count));
    await worker.close();
    const claim = JSON.stringify({ queue: 'unread' });
    const head = `POST /v1/evaluations/claim?wait=20s HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n`;
    const length = `content-type: application/json\r\ncontent-length: ${claim.length}\r\n\r\n`;
    await sendAhead(`${head}${length}${claim}`, count);
    await vi.waitFor(() => expect(gateway.openRequests).toBeGreaterThan(count / 2));
    expect((await gateway.send('POST', '/v1/evaluations/claim', claim, bearer(other))).status).toBe(200);
    expect(await queue.getActiveCount()).toBeLessThan(count / 2);
  });

  it('end a connection on which too many requests were sent ahead', async () => {
    const socket = await sendAhead(get('/healthz'), 1_000);
    socket.resume();
    await vi.waitFor(() => expect(socket.closed).toBe(true));
    expect((await gateway.send('GET', '/healthz')).status).toBe(200);
  });
});

describe('a body with members without end', () => {
  it.each([
    [
      'in the payload',
      `{"payload":{${members(MAX_OBJECT_MEMBERS + 1)}}}`,
      'members in one object',
      MAX_OBJECT_MEMBERS,
    ],
    [
      'in data of a pipeline',
      `{"evaluation":{"data":{"a":[{"b":{${members(MAX_OBJECT_MEMBERS + 1)}}}]}}}`,
      'members in one object',
      MAX_OBJECT_MEMBERS,
    ],
    [
      'in many objects',
      `[${Array.from({ length: 101 }, () => `{${members(MAX_MEMBERS / 100)}}`).join(',')}]`,
      'members of objects',
      MAX_MEMBERS,
    ],
  ])('%s is refused before it is parsed', async (_name, body, what, max) => {
    const { status, json } = await gateway.send('POST', SUBMIT, body, bearer(token));
    expect([status, json.detail]).toEqual([400, `the body has more than ${max} ${what}`]);
  });

  it('is taken up to the limit, and again in each object', async () => {
    const object = `{${members(MAX_OBJECT_MEMBERS)}}`;
    const { status, json } = await gateway.send('POST', SUBMIT, `[${object},${object}]`, bearer(token));
    expect([status, json.code]).toEqual([422, 'invalid-payload']);
  });
});

describe('a refusal', () => {
  const solution = '"solution":{"content":"x"}';

  it.each([
    ['many unknown fields', `{${solution},${members(15_000)}}`],
    ['an unknown field with a long name', `{${solution},"${'n'.repeat(2 ** 20)}":1}`],
    ['many tags that are none', `{${solution},"tags":{${members(15_000)}}}`],
    ['a tag with a long name', `{${solution},"tags":{"${'n'.repeat(2 ** 20)}":1}}`],
  ])('of %s is short', async (_name, payload) => {
    const alone = await gateway.send('POST', SUBMIT, `{"payload":${payload}}`, bearer(token));
    expect(alone.status).toBe(422);
    expect(alone.text.length).toBeLessThan(20_000);
    const jobs = `{"jobs":[{"kind":"solution-check","payload":${payload}}]}`;
    const inBatch = await gateway.send('POST', '/v1/jobs:batch', jobs, bearer(token));
    expect(inBatch.json.jobs[0].error.code).toBe('invalid-payload');
    expect(inBatch.text.length).toBeLessThan(20_000);
  });
});

/**
 * The largest fraction that one round of the event loop has of the processor time until the answer: requests are read and
 * answered between two rounds.
 */
async function largestFraction(answer: Promise<Answer>): Promise<[Answer, number]> {
  const start = process.cpuUsage().user;
  let last = start;
  let largest = 0;
  let isAnswered = false;
  const answered = answer.finally(() => {
    isAnswered = true;
  });
  while (!isAnswered) {
    await new Promise((resolve) => setTimeout(resolve));
    const now = process.cpuUsage().user;
    largest = Math.max(largest, now - last);
    last = now;
  }
  return [await answered, largest / (last - start)];
}

/** In one piece, the work of these requests is at least three quarters of all; in parts, the largest is a quarter. */
const MAX_FRACTION = 0.5;

describe('a batch of thousands of candidates', () => {
  it('with a job after them: others are served meanwhile', async () => {
    const batch = {
      candidates: Array.from({ length: 600 }, (_, at) => ({ solution: { content: `x = ${at}\n` } })),
      evaluation: { queue: 'evaluate', name: 'score' },
      afterAll: { queue: 'select', name: 'best' },
    };
    const answer = gateway.send('POST', '/v1/flows/candidate-batch', JSON.stringify(batch), bearer(token));
    const [{ status, json }, fraction] = await largestFraction(answer);
    expect([status, json.evaluations.length]).toEqual([202, 600]);
    expect(fraction).toBeLessThan(MAX_FRACTION);
  });
});

describe('a batch of wrong jobs', () => {
  it('is refused job by job, and others are served meanwhile', async () => {
    const wrong = {
      kind: 'solution-check',
      payload: { solution: { content: '' }, tags: { a: 1, b: 2, c: 3 }, x: 1, y: 2 },
      ...{ priority: -1, delayMs: -5, tenant: '', z: 1 },
    };
    const body = { jobs: new Array(2_000).fill(wrong) };
    const [{ json }, fraction] = await largestFraction(
      gateway.send('POST', '/v1/jobs:batch', body, bearer(token)),
    );
    expect(json.jobs).toHaveLength(2_000);
    expect(fraction).toBeLessThan(MAX_FRACTION);
  });
});
