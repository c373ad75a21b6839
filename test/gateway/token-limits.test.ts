import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { ResourceLimits, resourceTable } from '../../src/gateway/admission/resource-limits.js';
import { TokenStore } from '../../src/gateway/auth/token-store.js';
import { attempts, timeFor } from '../support/attempts.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { redisOfFile } from '../support/redis.js';
import { startTestGateway, type TestGateway } from './gateway-fixture.js';

/** Several times the limits. */
const ATTEMPTS = attempts(200);
/** Requests that one connection sends ahead. */
const PER_CONNECTION = 100;
const JOB = 'solution-check-00000000-0000-4000-8000-000000000000';

const redis = redisOfFile();
let test: TestFleet;
let gateway: TestGateway;
let busy: string;
let calm: string;
let sockets: Socket[] = [];

beforeAll(async () => {
  const prefix = 'limits';
  test = await startTestFleet(redis, prefix);
  const tokens = new TokenStore(test.fleet.client, prefix);
  busy = (await tokens.add('busy', 'submit')).token;
  calm = (await tokens.add('calm', 'submit')).token;
  const settings = { maxWaits: 50, maxStreams: 50, maxReads: 2 };
  gateway = await startTestGateway(redis, prefix, settings, { logger: pino({ level: 'silent' }) });
});
afterAll(async () => {
  await gateway.close();
  await test.close();
});
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
});

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

interface Flood extends Socket {
  /** Answers that came, by their status. */
  statuses: Map<string, number>;
}

/** Sends requests on one connection without waiting for their answers. */
async function flood(request: string): Promise<Flood> {
  const statuses = new Map<string, number>();
  const socket = Object.assign(connect(gateway.port, '127.0.0.1'), { statuses }) as Flood;
  sockets.push(socket);
  let rest = '';
  socket
    .on('error', () => undefined)
    .on('data', (chunk) => {
      const text = rest + chunk.toString('latin1');
      for (const [, status = ''] of text.matchAll(/HTTP\/1\.1 (\d{3})(?= )/g)) {
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
      // A status line may come in two pieces; what was counted is not kept.
      rest = /HTTP\/?1?\.?1? ?\d{0,3}$/.exec(text)?.[0] ?? '';
    });
  await once(socket, 'connect');
  socket.write(request.repeat(PER_CONNECTION));
  return socket;
}

function request(method: string, path: string, body = ''): string {
  const length = body === '' ? '' : `content-type: application/json\r\ncontent-length: ${body.length}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${busy}\r\n${length}\r\n${body}`;
}

async function redisState(): Promise<{ connections: number; keys: number }> {
  const info = await test.fleet.client.info('clients');
  const connections = Number(/connected_clients:(\d+)/.exec(info)?.[1]);
  return { connections, keys: (await test.fleet.client.keys(`${test.fleet.prefix}:*`)).length };
}

describe('one token that opens a resource many times', () => {
  it.each([
    ['waits', () => request('GET', `/v1/jobs/ID?wait=30s`)],
    ['waits for jobs that are not there', () => request('GET', `/v1/jobs/${JOB}?wait=30s`)],
    ['event streams', () => request('GET', '/v1/jobs/ID/events')],
    ['live numbers', () => request('GET', '/live')],
    ['claims', () => request('POST', '/v1/evaluations/claim?wait=30s', '{"queue":"nothing"}')],
    ['lists', () => request('GET', '/v1/jobs?limit=1000')],
    ['runs', () => request('GET', '/v1/runs/many?limit=10000')],
    ['dead letters', () => request('GET', '/v1/dead-letters')],
    ['overview pages', () => request('GET', '/')],
    ['board', () => request('GET', '/board/api/queues?activeQueue=solution-check')],
  ])(
    '%s: memory, connections and keys stay bounded, and another token is served',
    { timeout: timeFor(ATTEMPTS) },
    async (_name, text) => {
      const submit = (run: string) =>
        gateway.send(
          'POST',
          '/v1/jobs/solution-check',
          { payload: { solution: { content: 'x = 1\n' }, tags: { run } } },
          bearer(calm),
        );
      const { json } = await submit('many');
      const before = await redisState();
      const memory = process.memoryUsage.rss();
      const sent = text().replace('ID', json.id as string);
      const floods: Flood[] = [];
      for (let at = 0; at < ATTEMPTS / PER_CONNECTION; at += 1) floods.push(await flood(sent));
      const served = await submit('other');
      expect(served.status).toBe(202);
      const after = await redisState();
      expect(after.connections - before.connections).toBeLessThanOrEqual(6);
      expect(after.keys - before.keys).toBeLessThanOrEqual(12);
      expect(process.memoryUsage.rss() - memory).toBeLessThan(400 * 2 ** 20);
      for (const socket of floods) socket.destroy();
      await vi.waitFor(() => expect(gateway.openRequests).toBe(0));
      // The token has all its slots again.
      const again = await gateway.send('GET', `/v1/jobs/${json.id}?wait=10ms`, undefined, bearer(busy));
      expect(again.status).toBe(202);
    },
  );
});

describe('event streams that resume after an event', () => {
  it('look through the events of their queue a few at a time', async () => {
    const { client } = test.fleet;
    const check = { payload: { solution: { content: 'x = 1\n' } } };
    const submit = () => gateway.send('POST', '/v1/jobs/solution-check', check, bearer(calm));
    const { id } = (await submit()).json;
    await gateway.send('DELETE', `/v1/jobs/${id}`, undefined, bearer(calm));
    const events = test.fleet.queue('solution-check').toKey('events');
    const lastId = await client.xadd(events, '*', 'event', 'progress', 'jobId', 'other');
    const filling = client.pipeline();
    for (let at = 0; at < 5_000; at += 1) filling.xadd(events, '*', 'event', 'progress', 'jobId', 'other');
    await filling.exec();
    const pages = async () =>
      Number(/cmdstat_xrange:calls=(\d+)/.exec(await client.info('commandstats'))?.[1] ?? 0);
    const end = '\r\n\r\n';
    await flood(request('GET', `/v1/jobs/${id}/events`).replace(end, `\r\nlast-event-id: ${lastId}${end}`));
    await vi.waitFor(() => expect(gateway.openRequests).toBeGreaterThan(20));
    const before = await pages();
    expect((await submit()).status).toBe(202);
    // Two streams at a time read about ten pages meanwhile, all fifty of the token read nearly two hundred.
    expect((await pages()) - before).toBeLessThan(60);
  });
});

describe('waiting claims', () => {
  it('cost about one look at their queue, however many wait', async () => {
    await test.fleet.queue('idle').add('x', {}, { delay: 3_600_000 });
    const claim = () =>
      gateway.send('POST', '/v1/evaluations/claim?wait=1s', { queue: 'idle' }, bearer(busy));
    const commands = async () =>
      Number(/total_commands_processed:(\d+)/.exec(await test.fleet.client.info('stats'))?.[1]);
    const before = await commands();
    const answers = await Promise.all(Array.from({ length: 40 }, claim));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]));
    // Each asks by itself when it comes, with about ten commands. If each looked four times a second it were 2,000.
    expect((await commands()) - before).toBeLessThan(1_000);
  });
});

describe('limits', () => {
  const table = resourceTable({ maxWaits: 2, maxStreams: 2, maxReads: 1 });
  const never = new AbortController().signal;

  it('say what is exhausted and when to try again, and count each token alone', async () => {
    const limits = new ResourceLimits(table);
    const first = await limits.take('wait', 'a', never);
    await limits.take('wait', 'a', never);
    await expect(limits.take('wait', 'a', never)).rejects.toMatchObject({
      code: 'too-many-open',
      message: 'this token has 2 requests that wait for a job already, which is the limit',
    });
    await limits.take('wait', 'b', never);
    await limits.take('stream', 'a', never);
    first();
    first();
    await limits.take('wait', 'a', never);
    await expect(limits.take('wait', 'a', never)).rejects.toThrow('already');
  });

  it('let large reads wait for a slot, and drop those whose client leaves', async () => {
    const limits = new ResourceLimits(table);
    const release = await limits.take('read', 'a', never);
    const leaving = new AbortController();
    const left = limits.take('read', 'a', leaving.signal);
    const next = limits.take('read', 'a', never);
    leaving.abort();
    await expect(left).rejects.toThrow();
    release();
    (await next)();
    expect(limits.slotsInUse).toBe(0);
  });
});
